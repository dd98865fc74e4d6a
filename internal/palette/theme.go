package palette

import "image/color"

// Theme is a look of 2048 that viewers can choose instead of a palette's own. It is the same on dark
// and light backgrounds.
type Theme struct {
	Name         string
	Tiles        [17]Tone
	Board, Empty color.Color
}

// Classic has the colors of the original game's tiles, with numbers that are easier to read.
// VT100 is green on black, like a serial terminal, which shows a star in each empty cell.
var (
	Classic = Theme{Name: "classic", Board: hex("#bbada0"), Empty: hex("#cdc1b4"), Tiles: [17]Tone{
		tone("#eee4da", "#5c544c"), // 2
		tone("#ede0c8", "#5c544c"), // 4
		tone("#f2b179", "#3a2412"), // 8
		tone("#f59563", "#3a2412"), // 16
		tone("#f67c5f", "#321a0c"), // 32
		tone("#f65e3b", "#241006"), // 64
		tone("#edcf72", "#3f3212"), // 128
		tone("#edcc61", "#3f3212"), // 256
		tone("#edc850", "#3f3212"), // 512
		tone("#edc53f", "#3f3212"), // 1024
		tone("#edc22e", "#3f3212"), // 2048
		tone("#3c3a32", "#f9f6f2"), // 4096
		tone("#3c3a32", "#f9f6f2"), // 8192
		tone("#3c3a32", "#f9f6f2"), // 16384
		tone("#3c3a32", "#f9f6f2"), // 32768
		tone("#3c3a32", "#f9f6f2"), // 65536
		tone("#3c3a32", "#f9f6f2"), // 131072
	}}
	VT100 = Theme{Name: "vt100", Board: hex("#1d3a24"), Empty: hex("#06100a")}
)

// Themes lists the themes.
var Themes = []*Theme{&Classic, &VT100}

func init() {
	for i := range VT100.Tiles {
		VT100.Tiles[i] = tone("#06100a", "#4cf07a")
	}
}
