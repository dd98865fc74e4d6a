package palette

import (
	"fmt"
	"image/color"
	"strings"
)

// CSS returns a style sheet that defines the colors as custom properties of the root element: those
// of Light, or those of Dark if the user prefers dark pages. Tile 2 has --tile-2 and --ink-2; the
// cells of seat 0 have --owner-0, --owner-0-ink and --fresh-0; the letters of fresh cells all use
// --fresh-ink.
func CSS() string {
	return ":root{\n" + Light.properties() + "}\n" +
		"@media (prefers-color-scheme:dark){:root{\n" + Dark.properties() + "}}\n"
}

// properties returns the palette as custom property declarations.
func (p *Palette) properties() string {
	var b strings.Builder
	set := func(name string, c color.RGBA) { fmt.Fprintf(&b, "--%s:%s;", name, Hex(c)) }
	set("ground", p.Ground)
	set("text", p.Text)
	set("board", p.Board)
	set("empty", p.Empty)
	set("card", p.PageCard)
	set("dim", p.Dim)
	set("faint", p.Faint)
	set("accent", p.Accent)
	set("good", p.Good)
	set("warn", p.Warn)
	set("bad", p.Bad)
	for i, t := range p.Tiles {
		b.WriteByte('\n')
		set(fmt.Sprintf("tile-%d", 2<<i), t.Ground)
		set(fmt.Sprintf("ink-%d", 2<<i), t.Ink)
	}
	for i, t := range p.Owners {
		b.WriteByte('\n')
		set(fmt.Sprintf("owner-%d", i), t.Ground)
		set(fmt.Sprintf("owner-%d-ink", i), t.Ink)
		set(fmt.Sprintf("fresh-%d", i), p.Fresh[i].Ground)
	}
	set("fresh-ink", p.Fresh[0].Ink)
	return b.String()
}
