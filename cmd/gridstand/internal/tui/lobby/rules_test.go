package lobby

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/proto/translate"
)

// Ensure that the dialog shows the full rules of every variant in lines of at most 72 columns, which
// can be scrolled.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, v := range variants.All() {
		env := tuitest.Env(&tuitest.Server{})
		p := New(t.Context(), env)
		rules := Rules(translate.Variant(v))
		p.Own().Ask(rules)
		content := ansi.Strip(rules.Text(env, 100))
		for _, text := range []string{v.Summary, v.Manual} {
			assert.Contains(t, strings.Join(strings.Fields(content), " "), text)
		}
		for line := range strings.Lines(content) {
			assert.LessOrEqual(t, ansi.StringWidth(strings.TrimRight(line, "\n")), 72, v.ID)
		}
		d := &tuitest.Driver{Env: env, Page: p}
		env.Width, env.Height = 40, 12
		top := d.Screen()
		assert.Contains(t, top, v.Title+" ↓", v.ID)
		for _, keys := range [][2]string{{"down", "up"}, {"pgdown", "pgup"}, {"end", "home"}} {
			p.Own().Answer(tuitest.Key(keys[0]))
			assert.NotEqual(t, top, d.Screen(), keys[0])
			if keys[0] == "end" {
				assert.Contains(t, d.Screen(), v.Title+" ↑", v.ID)
			}
			p.Own().Answer(tuitest.Key(keys[1]))
			assert.Equal(t, top, d.Screen(), keys[1])
		}
		p.Own().Stop()
	}
}
