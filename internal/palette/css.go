package palette

import (
	"fmt"
	"image/color"
	"strings"
)

// CSS returns a style sheet that defines the colors as custom properties: those of Light, or those
// of Dark if the user prefers dark pages. The tile that is 2 to the power of 11 has --tile-11 and
// --ink-11; short names keep the page small. Elements of the class owner-0 have the colors of seat
// 0: --owner, --owner-ink, and --fresh for cells of the last jump. For other elements, --owner-ink
// and --fresh are the colors of letters on such cells. An element with the attribute data-theme has
// the colors of the theme with that name.
func CSS() string {
	css := Light.rules() + "@media (prefers-color-scheme:dark){\n" + Dark.rules() + "}\n"
	for _, t := range Themes {
		css += fmt.Sprintf("[data-theme=%s]{\n--board:%s;--empty:%s;", t.Name, Hex(t.Board), Hex(t.Empty)) + tiles(&t.Tiles) + "}\n"
	}
	return css
}

// tiles returns the declarations of the tiles' colors.
func tiles(tones *[17]Tone) string {
	var b strings.Builder
	for i, t := range tones {
		fmt.Fprintf(&b, "\n--tile-%d:%s;--ink-%d:%s;", i+1, Hex(t.Ground), i+1, Hex(t.Ink))
	}
	return b.String()
}

// rules returns the palette as rules with custom property declarations.
func (p *Palette) rules() string {
	var b strings.Builder
	set := func(name string, c color.Color) { fmt.Fprintf(&b, "--%s:%s;", name, Hex(c)) }
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
	b.WriteString(tiles(&p.Tiles) + "\n")
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
