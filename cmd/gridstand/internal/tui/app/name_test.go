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

// openName returns the page that asks for a name, with a suggested name.
func openName(ctx context.Context, env *ui.Env, logIn func(ctx context.Context, name string) (string, error)) ui.Page {
	env.Me = ""
	return newNamePage(ctx, env, Config{SuggestedName: "Ada", LogIn: logIn}, ui.Route{TV: true})
}

// Ensure that the page matches its golden files in every theme and at every size.
func TestName_Screen(t *testing.T) {
	t.Parallel()
	tuitest.Golden(t, "name", func(env *ui.Env) ui.Page { return openName(t.Context(), env, nil) })
}

// Ensure that the page can be drawn in any window, however narrow.
func TestName_Narrow(t *testing.T) {
	t.Parallel()
	p := newNamePage(t.Context(), tuitest.Env(nil), Config{}, ui.Route{})
	for width := range 12 {
		assert.NotPanics(t, func() { p.View(width, 4) }, "%d columns", width)
	}
}

// Ensure that the page explains what is wrong with a name, sends only valid names to the
// server, and uses the suggested name if the field is empty.
func TestName_Errors(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
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
	assert.Contains(t, d.Screen(), "! a name consists of letters,")
	assert.Empty(t, asked)
	d.Press("backspace")
	assert.NotContains(t, d.Screen(), "! a name")
	d.Press("enter")
	d.Until("the reply", func() bool { return !p.busy })
	assert.Contains(t, d.Screen(), "! This name is taken. bob-2 may be free.")
	d.Press("backspace", "backspace", "backspace", "enter")
	d.Until("the next page", func() bool { return len(d.Left) > 0 })
	assert.Equal(t, []string{"bob", "Ada"}, asked)
	assert.Equal(t, ui.Route{TV: true}, d.Left[0].(ui.ReplaceMsg).Route)
	assert.Equal(t, tuitest.Me, env.Me)
}

// Ensure that the page calls a reserved name reserved, since no other player has it.
func TestName_Reserved(t *testing.T) {
	t.Parallel()
	p := newNamePage(t.Context(), tuitest.Env(nil), Config{SuggestedName: "ada"}, ui.Route{})
	p.input.SetValue("root")
	p.loggedIn("", client.ErrNameTaken)
	assert.Contains(t, p.View(78, 20).Body, "! This name is reserved. root-2 may be free.")
}

// Ensure that the page does not suggest a name that servers refuse to every account, so that
// pressing Enter once is enough to create an account.
func TestName_SuggestionReserved(t *testing.T) {
	t.Parallel()
	for login, want := range map[string]string{"root": "root-2", "Admin": "Admin-2", "ada": "ada", "": "player"} {
		p := newNamePage(t.Context(), tuitest.Env(nil), Config{SuggestedName: login}, ui.Route{})
		assert.Equal(t, want, p.name())
	}
	p := newNamePage(t.Context(), tuitest.Env(nil), Config{SuggestedName: "root"}, ui.Route{})
	p.loggedIn("", client.ErrNameTaken)
	assert.Equal(t, "root-3", p.name())
}

// Ensure that the page suggests another name if the suggested one is taken, so that
// pressing Enter is enough to create an account.
func TestName_SuggestionTaken(t *testing.T) {
	t.Parallel()
	var asked []string
	logIn := func(_ context.Context, name string) (string, error) {
		asked = append(asked, name)
		if len(asked) < 3 {
			return "", client.ErrNameTaken
		}
		return tuitest.Me, nil
	}
	env := tuitest.Env(nil)
	d := tuitest.New(t, env, func(ctx context.Context, env *ui.Env) ui.Page { return openName(ctx, env, logIn) })
	p := d.Page.(*namePage)
	for _, next := range []string{"Ada-2", "Ada-3"} {
		d.Press("enter")
		d.Until("the reply", func() bool { return !p.busy })
		assert.Contains(t, d.Screen(), "! That name is taken. Press enter to try")
		assert.Contains(t, d.Screen(), next)
	}
	d.Press("enter")
	d.Until("the next page", func() bool { return len(d.Left) > 0 })
	assert.Equal(t, []string{"Ada", "Ada-2", "Ada-3"}, asked)
}
