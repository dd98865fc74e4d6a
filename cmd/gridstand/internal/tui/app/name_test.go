package app

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
)

func TestName_Screen(t *testing.T) {
	t.Parallel()
	tuitest.Golden(t, "name", func(env *ui.Env) ui.Page {
		return newNamePage(t.Context(), env)
	})
}

// Ensure that the page explains what is wrong with a name, and sends only valid names to the server.
func TestName(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		taken  []string
		keys   []string
		screen []string // what each Enter brings, unless the account gets the name
		want   string   // the name of the account
	}{
		"nothing typed":           {keys: []string{"enter", "A"}, screen: []string{""}, want: "A"},
		"invalid, then corrected": {keys: []string{"b", "!", "enter", "backspace"}, screen: []string{""}, want: "b"},
		"taken, then another":     {taken: []string{"x"}, keys: []string{"x"}, screen: []string{"! This name is not available. x-2 may be.", ""}, want: "y"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := make(chan string, 10)
			env := tuitest.Env(nil)
			env.Rename = func(_ context.Context, name string) error {
				asked <- name
				if slices.Contains(tt.taken, name) {
					return fmt.Errorf("rename: %w", client.ErrNameTaken)
				}
				return nil
			}
			p := newNamePage(t.Context(), env)
			d := tuitest.Drive(t, env, p)
			for _, key := range tt.keys {
				d.Press(key)
				if key == "enter" {
					assert.Contains(t, d.Screen(), "! a name consists of letters,")
					assert.Empty(t, asked)
				}
			}
			for _, text := range tt.screen {
				d.Press("enter")
				d.Until("the reply", func() bool { return !p.busy })
				if text != "" {
					assert.Contains(t, d.Screen(), text)
					d.Press("backspace", "y")
				}
			}
			d.Until("the previous page", func() bool { return len(d.Left) > 0 })
			assert.Equal(t, ui.BackMsg{}, d.Left[0])
			assert.Equal(t, tt.want, env.NewName)
			last := ""
			for len(asked) > 0 {
				last = <-asked
			}
			assert.Equal(t, tt.want, last)
		})
	}
}
