package picture

import (
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/opentype"
)

// The fonts used in pictures. Several canvases can use them concurrently.
var (
	bold   = mustParse(gobold.TTF)
	medium = mustParse(gomedium.TTF)
)

// capHeight is the height of capital letters and digits in the Go fonts, relative to the
// font size.
const capHeight = 0.72

// mustParse parses an embedded font.
func mustParse(ttf []byte) *opentype.Font {
	f, err := opentype.Parse(ttf)
	if err != nil {
		panic("picture: cannot parse a Go font: " + err.Error())
	}
	return f
}
