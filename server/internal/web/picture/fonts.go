package picture

import (
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/sfnt"
)

// The fonts of the pictures. Many canvases can use them at the same time.
var (
	bold   = mustParse(gobold.TTF)
	medium = mustParse(gomedium.TTF)
)

// capHeight is the height of capital letters and digits of the Go fonts, in sizes.
const capHeight = 0.72

// mustParse parses a font that is part of the program.
func mustParse(ttf []byte) *sfnt.Font {
	f, err := sfnt.Parse(ttf)
	if err != nil {
		panic("picture: cannot parse a Go font: " + err.Error())
	}
	return f
}
