package lobby

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/game/variants"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
)

// Ensure that the page shows the full rules of every variant in lines of at most 72 columns, which
// can be scrolled.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, v := range variants.All() {
		env := tuitest.Env(&tuitest.Server{})
		p := NewRules(t.Context(), env, v.ID).(*rules)
		p.loaded([]*pb.Variant{translate.Variant(v)}, nil)
		content := ansi.Strip(p.content(rulesWidth))
		for _, text := range []string{v.Summary, v.Manual} {
			assert.Contains(t, strings.Join(strings.Fields(content), " "), text)
		}
		for line := range strings.Lines(content) {
			assert.LessOrEqual(t, ansi.StringWidth(strings.TrimRight(line, "\n")), 72, v.ID)
		}
		d := &tuitest.Driver{Env: env, Page: p}
		env.Width, env.Height = 40, 12
		assert.Contains(t, d.Screen(), "↓ more", v.ID)
		p.Key(tuitest.Key("end"))
		assert.Contains(t, d.Screen(), "↑ more", v.ID)
		p.Own().Stop()
	}
}
