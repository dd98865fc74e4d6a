package palette

import (
	"fmt"
	"image/color"
	"strings"
)

// CSS returns a style sheet that defines the colors as custom properties: those of Light, or those
// of Dark if the user prefers dark pages. Tile 2 has --tile-2 and --ink-2. Elements of the class
// owner-0 have the colors of seat 0: --owner, --owner-ink, and --fresh for cells of the last jump.
// For other elements, --owner-ink and --fresh are the colors of letters on such cells.
func CSS() string {
	return Light.rules() + "@media (prefers-color-scheme:dark){\n" + Dark.rules() + "}\n"
}

// rules returns the palette as rules with custom property declarations.
func (p *Palette) rules() string {
	var b strings.Builder
	set := func(name string, c color.RGBA) { fmt.Fprintf(&b, "--%s:%s;", name, Hex(c)) }
	b.WriteString(":root{\n")
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
	b.WriteByte('\n')
	set("owner-ink", p.Owners[0].Ink)
	set("fresh", p.Fresh[0].Ink)
	for i, t := range p.Owners {
		fmt.Fprintf(&b, "}\n.owner-%d{", i)
		set("owner", t.Ground)
		set("owner-ink", t.Ink)
		set("fresh", p.Fresh[i].Ground)
	}
	b.WriteString("}\n")
	return b.String()
}
