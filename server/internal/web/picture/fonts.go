package picture

import (
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/opentype"
)

// The fonts used in pictures. Several canvases can use them concurrently.
var (
	bold, _   = opentype.Parse(gobold.TTF) // Parsing an embedded font cannot fail.
	medium, _ = opentype.Parse(gomedium.TTF)
)

// capHeight is the height of capital letters and digits in the Go fonts, relative to the
// font size.
const capHeight = 0.72
