package style

import (
	"image"
	"image/color"
	"strings"
)

// letters maps each character that a name may contain to its glyph: five rows of three
// pixels. Each row is an octal digit.
var letters = map[rune]int{
	'A': 0o25755, 'B': 0o65656, 'C': 0o34443, 'D': 0o65556, 'E': 0o74647,
	'F': 0o74644, 'G': 0o34553, 'H': 0o55755, 'I': 0o72227, 'J': 0o11152,
	'K': 0o55655, 'L': 0o44447, 'M': 0o57755, 'N': 0o65555, 'O': 0o25552,
	'P': 0o65644, 'Q': 0o25573, 'R': 0o65655, 'S': 0o34216, 'T': 0o72222,
	'U': 0o55557, 'V': 0o55552, 'W': 0o55775, 'X': 0o55255, 'Y': 0o55222,
	'Z': 0o71247, '0': 0o75557, '1': 0o26227, '2': 0o61247, '3': 0o61216,
	'4': 0o55711, '5': 0o74616, '6': 0o34757, '7': 0o71222, '8': 0o75757,
	'9': 0o75716, '-': 0o00700, '_': 0o00007, '.': 0o00002, ',': 0o00024, '!': 0o22202, ' ': 0,
}

// LargeHeight is the height of large text, in rows.
const LargeHeight = 3

// LargeSize returns the width of large text in columns and its height in pixels.
func LargeSize(text string) (width, height int) { return len([]rune(text))*4 - 1, 5 }

// Large draws a name in large letters. It returns false if the name does not fit in width
// columns or has a character without a glyph.
func Large(name string, width int) (string, bool) {
	w, _ := LargeSize(name)
	if name == "" || w > width {
		return "", false
	}
	pic := NewCanvas(w, LargeHeight)
	ok := pic.Large(0, 0, name, Foreground)
	return pic.Render(), ok
}

// Large draws text in large letters, with its upper left corner at column x and pixel y. It
// returns false if the text has a character without a glyph.
func (c *Canvas) Large(x, y int, text string, ink color.Color) bool {
	for i, char := range []rune(strings.ToUpper(text)) {
		rows, ok := letters[char]
		if !ok {
			return false
		}
		for bit := range 15 {
			if rows>>(14-bit)&1 == 1 {
				x, y := x+i*4+bit%3, y+bit/3
				c.Fill(image.Rect(x, y, x+1, y+1), ink)
			}
		}
	}
	return true
}
