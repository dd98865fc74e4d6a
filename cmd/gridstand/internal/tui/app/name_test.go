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
		env.SuggestedName = "Ada"
		return newNamePage(t.Context(), env)
	})
}

// Ensure that the page explains what is wrong with a name, sends only valid names to the server, and
// suggests names that may be free, so that pressing Enter is enough.
func TestName(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		suggested string
		taken     []string
		keys      []string
		screen    []string // what each Enter brings, unless the account gets the name
		want      string   // the name of the account
	}{
		"nothing suggested":  {screen: []string{""}, want: "player-2"},
		"reserved":           {suggested: "Admin", screen: []string{""}, want: "Admin-2"},
		"reserved and taken": {suggested: "root", taken: []string{"root-2"}, screen: []string{"root-3", ""}, want: "root-3"},
		"taken twice": {
			suggested: "Ada", taken: []string{"Ada", "Ada-2"}, screen: []string{"! That name is taken. Press enter to try", "Ada-3", ""}, want: "Ada-3",
		},
		"invalid, then corrected": {
			suggested: "Ada", keys: []string{"b", "!", "enter", "backspace"}, screen: []string{""}, want: "b",
		},
		"typed and taken, then cleared": {
			suggested: "Ada", taken: []string{"x"}, keys: []string{"x"},
			screen: []string{"! This name is taken. x-2 may be free. If it", ""}, want: "Ada",
		},
		"typed and reserved": {
			suggested: "Ada", taken: []string{"root"}, keys: []string{"r", "o", "o", "t"},
			screen: []string{"! This name is reserved. root-2 may be free.", ""}, want: "Ada",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := make(chan string, 10)
			env := tuitest.Env(nil)
			env.SuggestedName = tt.suggested
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
					d.Press("backspace", "backspace", "backspace", "backspace")
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
