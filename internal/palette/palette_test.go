package palette_test

import (
	"flag"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/palette"
)

var update = flag.Bool("update", false, "update the golden style sheet")

var themes = map[string]*palette.Palette{"dark": &palette.Dark, "light": &palette.Light}

// Ensure that people with low vision can read the page and the terminal: WCAG 2 requires a contrast
// of 4.5 for text. Numbers on tiles need it too, because they are small in previews and terminals.
func TestPalette_Contrast(t *testing.T) {
	t.Parallel()
	for name, p := range themes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for ground, c := range map[string]color.RGBA{"ground": p.Ground, "page card": p.PageCard} {
				for text, ink := range map[string]color.RGBA{
					"text": p.Text, "dim": p.Dim, "accent": p.Accent,
					"good": p.Good, "warn": p.Warn, "bad": p.Bad,
				} {
					assert.GreaterOrEqual(t, contrast(c, ink), 4.5, "%s on %s", text, ground)
				}
			}
			for i, tone := range p.Tiles {
				assert.GreaterOrEqual(t, contrast(tone.Ground, tone.Ink), 4.5, "tile %d", 2<<i)
			}
			for i := range p.Owners {
				assert.GreaterOrEqual(t, contrast(p.Owners[i].Ground, p.Owners[i].Ink), 4.5, "owner %d", i)
				assert.GreaterOrEqual(t, contrast(p.Fresh[i].Ground, p.Fresh[i].Ink), 4.5, "fresh %d", i)
			}
		})
	}
}

// Ensure that each tile up to 131072 has its own tone, and that every value has a tone.
func TestPalette_Tile(t *testing.T) {
	t.Parallel()
	for name, p := range themes {
		seen := map[palette.Tone]int32{}
		for face := int32(2); face <= 131072; face *= 2 {
			tone := p.Tile(face)
			assert.Zero(t, seen[tone], "%s: tile %d looks like another", name, face)
			seen[tone] = face
		}
		for face, like := range map[int32]int32{-2: 131072, 0: 2, 1: 2, 3: 2, 262144: 131072, math.MaxInt32: 131072} {
			assert.Equal(t, p.Tile(like), p.Tile(face), "%s: tile %d", name, face)
		}
	}
}

// Ensure that the page gets all colors of both palettes under their documented names.
func TestCSS(t *testing.T) {
	t.Parallel()
	css := palette.CSS()
	golden := filepath.Join("testdata", "palette.css")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(css), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), css)

	for i := range palette.Dark.Tiles {
		tone := palette.Dark.Tiles[i]
		assert.Contains(t, css, fmt.Sprintf("--tile-%d:%s;--ink-%[1]d:%[3]s;",
			2<<i, palette.Hex(tone.Ground), palette.Hex(tone.Ink)))
	}
	assert.Less(t, len(css), 4096, "the style sheet blocks rendering")
}

// contrast returns the contrast ratio of two colors as WCAG 2 defines it, from 1 to 21.
func contrast(a, b color.RGBA) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// luminance returns the relative luminance of a color as WCAG 2 defines it, from 0 to 1.
func luminance(c color.RGBA) float64 {
	linear := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.03928 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}
