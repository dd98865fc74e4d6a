package lobby

import (
	"context"
	"math"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/frame"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// colors matches the escape sequences that a page may write.
var colors = regexp.MustCompile(`\x1b\[[0-9;:]*m`)

// Ensure that no page shows escape sequences or other control characters from a hostile
// server's strings, and that pages tolerate absurd numbers and missing messages.
func TestHostile(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	const evil = "\x1b]0;owned\a\x1b[2J\r\n\u202eevil 漢字"
	v := &pb.Variant{
		Id: evil, Title: evil, Summary: evil, Rules: strings.Repeat(evil, 500), Kind: pb.Kind_KIND_TRIBOLO,
		Seats: 5, Rows: -1, Columns: math.MaxInt32, Bots: []string{evil, evil},
	}
	g := other(evil, evil, -math.MaxInt64, math.MinInt32)
	g.Seats[0].GetPlayer().Name, g.Watchers = evil, math.MinInt32
	g.UpdateTime, g.CreateTime = nil, nil
	bad := ui.Lists{
		Variants: []*pb.Variant{v}, Live: []*pb.Game{g}, Mine: []*pb.Game{g}, Variant: evil,
		Scores: []*pb.Entry{nil, {Rank: -1, Score: math.MinInt32, Player: &pb.Player{Name: evil}, GameId: evil}},
		Moving: math.MinInt32,
	}
	for _, size := range tuitest.Sizes {
		env := tuitest.Env(&tuitest.Server{OnLists: func(string, string, pb.Window) (ui.Lists, error) { return bad, nil }})
		env.Width, env.Height = size[0], size[1]
		d := tuitest.New(t, env, func(ctx context.Context, env *ui.Env) ui.Page {
			p := New(ctx, env).(*page)
			p.Continue(got(p, bad, nil))
			return p
		})
		clean := func() {
			screen := colors.ReplaceAllString(frame.Draw(d.Env, d.Page, frame.State{}).Content, "")
			for _, char := range screen {
				if char != '\n' && !unicode.IsPrint(char) {
					assert.Fail(t, "control character on the screen", "%q", char)
				}
			}
			for line := range strings.Lines(screen) {
				assert.LessOrEqual(t, ansi.StringWidth(strings.TrimSuffix(line, "\n")), size[0])
			}
		}
		for _, key := range []string{"tab", "tab", "down", "y", "v", "/", "e", "enter", "n", "down", "right", "esc"} {
			clean()
			d.Press(key)
		}
		p := NewRules(t.Context(), env, evil).(*rules)
		p.loaded(bad.Variants, nil)
		d.Page = p
		clean()
		p.Own().Stop()
	}
}
