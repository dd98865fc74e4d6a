package palette

import (
	"fmt"
	"image/color"
	"strings"
)

// CSS returns a style sheet with the colors as custom properties of the root element:
// those of Light, and those of Dark if the reader prefers dark pages. A tile has
// --tile-2 and --tile-2-ink, the cells of seat 0 have --owner-0, --owner-0-ink,
// --fresh-0 and --fresh-0-ink.
func CSS() string {
	return ":root{color-scheme:light dark;\n" + Light.properties() + "}\n" +
		"@media (prefers-color-scheme:dark){:root{\n" + Dark.properties() + "}}\n"
}

// properties returns the palette as declarations of custom properties.
func (p *Palette) properties() string {
	var b strings.Builder
	set := func(name string, c color.RGBA) { fmt.Fprintf(&b, "--%s:%s;", name, Hex(c)) }
	tone := func(name string, t Tone) {
		set(name, t.Ground)
		set(name+"-ink", t.Ink)
		b.WriteByte('\n')
	}
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
	b.WriteByte('\n')
	for i, t := range p.Tiles {
		tone(fmt.Sprintf("tile-%d", 2<<i), t)
	}
	for i := range p.Owners {
		tone(fmt.Sprintf("owner-%d", i), p.Owners[i])
		tone(fmt.Sprintf("fresh-%d", i), p.Fresh[i])
	}
	return b.String()
}
