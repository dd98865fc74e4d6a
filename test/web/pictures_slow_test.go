//go:build slow

package web

import (
	"flag"
	"image"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/image/draw"

	"github.com/gridstand/gridstand/test/web/browsertest"
)

var pictures = flag.String("pictures", "", "draw the README's pictures of the page into this `folder`")

// TestPages draws the README's pictures of the page: TV on a desktop, and TV, a game in progress and a
// verified game on phones. make picture runs it.
func TestPages(t *testing.T) {
	t.Parallel()
	if *pictures == "" {
		t.Skip("draws pictures: run it with make picture")
	}
	f := newFixture(t)
	f.Font = nil // the machine's own
	tab := start(t).open()
	before(tab, f.script(t))
	pages := fixedPages(f)
	show := func(name string, device browsertest.Device) image.Image {
		device.Still = true
		tab.Use(device)
		pages[slices.IndexFunc(pages, func(p fixedPage) bool { return p.name == name })].show(tab)
		return decode(t, tab.Screen())
	}
	desktop := show("tv", browsertest.Device{Width: 1440, Height: 900, Dark: true})
	save(t, desktop, filepath.Join(*pictures, "tv-desktop-dark.png"))

	light := browsertest.Device{Width: 360, Height: 740, Touch: true}
	dark := browsertest.Device{Width: 360, Height: 740, Touch: true, Dark: true}
	const column = 384
	phones := image.NewRGBA(image.Rect(0, 0, 2*column+360, 740))
	for i, phone := range []image.Image{show("tv", dark), show("rematch", light), show("over", dark)} {
		draw.Copy(phones, image.Pt(i*column, 0), phone, phone.Bounds(), draw.Src, nil)
	}
	save(t, phones, filepath.Join(*pictures, "phone.png"))
}
