package lobby

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/game/variants"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
)

// Ensure that the page shows the full rules of every variant in lines of at most 72
// columns.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, v := range variants.All() {
		t.Run(v.ID, func(t *testing.T) {
			t.Parallel()
			d := tuitest.New(t, tuitest.Env(&tuitest.Server{
				OnVariants: func() ([]*pb.Variant, error) { return []*pb.Variant{translate.Variant(v)}, nil },
			}), func(ctx context.Context, env *ui.Env) ui.Page { return NewRules(ctx, env, v.ID) })
			p := d.Page.(*rules)
			d.Until("the rules", func() bool { return p.variant != nil })
			content := ansi.Strip(p.content(rulesWidth))
			for _, text := range []string{v.Summary, v.Manual} {
				assert.Contains(t, strings.Join(strings.Fields(content), " "), text)
			}
			for line := range strings.Lines(content) {
				assert.LessOrEqual(t, ansi.StringWidth(strings.TrimRight(line, "\n")), 72)
			}
			d.Env.Width, d.Env.Height = 40, 12
			assert.Contains(t, d.Screen(), "↓ more")
			d.Press("end")
			assert.Contains(t, d.Screen(), "↑ more")
			d.Press("esc")
			d.Until("leaving", func() bool { return len(d.Left) > 0 })
		})
	}
}

// Ensure that the page shows why the rules cannot be loaded, and that r retries.
func TestRules_Fails(t *testing.T) {
	t.Parallel()
	err := errors.New("no such luck")
	d := tuitest.New(t, tuitest.Env(&tuitest.Server{
		OnVariants: func() ([]*pb.Variant, error) { return tuitest.Variants(), err },
	}), func(ctx context.Context, env *ui.Env) ui.Page { return NewRules(ctx, env, "5x5") })
	p := d.Page.(*rules)
	d.Until("the error", func() bool { return p.err != nil })
	assert.Contains(t, d.Screen(), "! no such luck")
	err = nil
	d.Press("r")
	d.Until("the next error", func() bool { return p.err != nil })
	assert.Contains(t, d.Screen(), "! The server has no such variant.")
}
