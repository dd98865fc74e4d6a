package app

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
)

// openName shows the page that asks for a name, with a suggestion.
func openName(ctx context.Context, env *ui.Env, logIn func(ctx context.Context, name string) (string, error)) ui.Page {
	env.Me = ""
	return newNamePage(ctx, env, Config{SuggestedName: "Ada", LogIn: logIn}, ui.Route{TV: true})
}

// Ensure that the page looks as it did in every theme at every size.
func TestName_Screen(t *testing.T) {
	t.Parallel()
	tuitest.Golden(t, "name", func(env *ui.Env) ui.Page { return openName(t.Context(), env, nil) })
}

// Ensure that the page says in place what is wrong with a name, asks the server only for
// names that one may accept, and takes the suggestion if no name was typed.
func TestName_Errors(t *testing.T) {
	t.Parallel()
	var asked []string
	logIn := func(_ context.Context, name string) (string, error) {
		asked = append(asked, name)
		if name == "bob" {
			return "", fmt.Errorf("log in: %w", client.ErrNameTaken)
		}
		return tuitest.Me, nil
	}
	env := tuitest.Env(nil)
	d := tuitest.New(t, env, func(ctx context.Context, env *ui.Env) ui.Page { return openName(ctx, env, logIn) })
	p := d.Page.(*namePage)
	d.Press("b", "o", "b", "!", "enter")
	assert.Contains(t, d.Screen(), "! a name has letters, digits")
	assert.Empty(t, asked)
	d.Press("backspace")
	assert.NotContains(t, d.Screen(), "! a name")
	d.Press("enter")
	d.Until("the reply", func() bool { return !p.busy })
	assert.Contains(t, d.Screen(), "! This name is taken. bob-2 may be free.")
	d.Press("backspace", "backspace", "backspace", "enter")
	d.Until("the next page", func() bool { return len(d.Left) > 0 })
	assert.Equal(t, []string{"bob", "Ada"}, asked)
	assert.Equal(t, ui.ReplaceMsg{Route: ui.Route{TV: true}}, d.Left[0])
	assert.Equal(t, tuitest.Me, env.Me)
}
