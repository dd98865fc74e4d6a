package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
)

func TestName_Screen(t *testing.T) {
	t.Parallel()
	tuitest.Golden(t, "name", func(env *ui.Env) ui.Page {
		p := newFakePage(t.Context())
		p.AskName(env)
		return p
	})
}

// Ensure that the page explains what is wrong with a name, and sends only valid names to the server.
func TestName(t *testing.T) {
	t.Parallel()
	var asked []string
	env := tuitest.Env(nil)
	env.Rename = func(_ context.Context, name string) error {
		if asked = append(asked, name); name == "x" {
			return fmt.Errorf("rename: %w", client.ErrNameTaken)
		}
		return nil
	}
	p := newFakePage(t.Context())
	p.AskName(env)
	d := tuitest.Drive(t, env, p)
	for _, key := range []string{"", "!", "x"} { // "", "!" and "!x" are no names
		if key != "" {
			d.Press(key)
		}
		d.Press("enter").Shows("! a name consists of the letters a–z,")
	}
	d.Press("backspace", "backspace", "x", "enter")
	const taken = "! This name is not available. x-2 may be."
	d.Until("the refusal", func() bool { return strings.Contains(d.Screen(), taken) })
	d.Press("backspace", "Y", "enter")
	d.Until("the name", func() bool { return p.Notice == "You are Y now." })
	assert.Nil(t, p.Dialog)
	assert.Equal(t, "Y", env.NewName)
	assert.Equal(t, []string{"x", "Y"}, asked)
}

// Ensure that the page says how a change of the name ended that the user did not wait for, and keeps the dialog
// that is open by then.
func TestName_Left(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{"You are x now.": nil, "no answer": errors.New("no answer")} {
		env, answer := tuitest.Env(nil), make(chan struct{})
		env.Rename = func(context.Context, string) error { <-answer; return err }
		p := newFakePage(t.Context())
		p.AskName(env)
		d := tuitest.Drive(t, env, p)
		d.Press("x", "enter").Shows("Saving your name")
		d.Press("esc")
		assert.Nil(t, p.Dialog)
		other := &ui.Question{Title: "Give up?"}
		p.Ask(other)
		close(answer)
		d.Until("the end", func() bool { return p.Notice == want })
		assert.Equal(t, other, p.Dialog)
	}
}
