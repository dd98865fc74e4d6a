package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"github.com/gridstand/gridstand/server/internal/web/picture"
)

// touchSide is the side in pixels of the icon for Apple's home screens. iconSides are those of the icons
// in the manifest.
const touchSide = 180

var iconSides = []int{192, 512}

// iconPath returns the path of an icon in the manifest.
func iconPath(side int) string { return fmt.Sprintf("/icon-%d.png", side) }

// icon serves the icon that phones show on the home screen.
func icon(side int) http.HandlerFunc {
	draw := sync.OnceValue(func() []byte { return picture.Icon(side) })
	return func(w http.ResponseWriter, r *http.Request) {
		serveContent(w, r, "image/png", cachedFor(finishedAge), digest(draw()), draw())
	}
}

// manifest serves the description of the pages as an app, with which phones can install them.
func manifest(w http.ResponseWriter, r *http.Request) {
	var icons []map[string]string
	for _, side := range iconSides {
		size := fmt.Sprintf("%dx%d", side, side)
		icons = append(icons, map[string]string{"src": iconPath(side), "sizes": size, "type": "image/png", "purpose": "any maskable"})
	}
	data, _ := json.Marshal(map[string]any{ // cannot fail
		"name": "Gridstand", "short_name": "Gridstand", "description": "Play 2048 and Tribolo, race others, and watch live.",
		"start_url": "/", "scope": "/", "display": "standalone", "icons": icons,
		"background_color": "#16181f", "theme_color": "#16181f",
	})
	serveContent(w, r, "application/manifest+json", cachedFor(finishedAge), digest(data), data)
}
