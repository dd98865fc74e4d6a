package ui

import (
	"context"
	"errors"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/gridstand/gridstand/client"
)

// naming is the dialog that asks a guest for a name.
type naming struct {
	env   *Env
	tasks *Tasks // of the page below
	input textinput.Model
	busy  bool
	err   error
}

// AskName opens the dialog that asks a guest for a name.
func (t *Tasks) AskName(env *Env) tea.Cmd {
	input := textinput.New()
	input.Prompt = ""
	input.CharLimit = NameLimit
	input.SetWidth(NameLimit + 1)
	input.Focus() // drop the command: it blinks the cursor, and each blink draws a frame
	return t.Ask(&naming{env: env, tasks: t, input: input})
}

// Keys implements Dialog.
func (d *naming) Keys() KeyTable {
	return KeyTable{{Listed("enter", "use this name").Footer(1), Listed("esc", "close").Footer(2)}}
}

// Input implements Typing.
func (d *naming) Input(msg tea.Msg) tea.Cmd {
	switch press, _ := msg.(tea.KeyPressMsg); {
	case press.Code == tea.KeyEscape:
		d.tasks.Withdraw()
		return nil
	case d.busy:
		return nil
	case press.Code == tea.KeyEnter:
		return d.submit()
	}
	d.err = nil
	var cmd tea.Cmd
	d.input, cmd = d.input.Update(msg)
	return cmd
}

// name returns the name that the user typed.
func (d *naming) name() string { return strings.TrimSpace(d.input.Value()) }

func (d *naming) submit() tea.Cmd {
	name := d.name()
	if client.FitName(name) != name {
		d.err = errName
		return nil
	}
	d.busy = true
	return Call(d.tasks, func(ctx context.Context) (string, error) { return name, d.env.Rename(ctx, name) }, d.renamed)
}

// renamed handles the result of Env.Rename. If the user has closed the dialog before, another one may be open.
func (d *naming) renamed(name string, err error) tea.Cmd {
	d.busy, d.err = false, err
	open := d.tasks.Dialog == Dialog(d)
	switch {
	case err != nil && !open:
		return d.tasks.Fail(err)
	case err != nil:
		return nil
	case open:
		d.tasks.Withdraw()
	}
	d.env.NewName = name
	return d.tasks.Say("You are " + name + " now.")
}

// errName is the error for a name that no server accepts.
var errName = errors.New("a name consists of the letters a–z, digits, single spaces and - _ . and begins with a letter or digit")

// Content implements Dialog.
func (d *naming) Content(env *Env) (title, text string) {
	const most, airyHeight = 44, 14
	t, width := env.Theme, max(min(most, env.Width-FrameWidth), 0)
	d.input.SetStyles(textinput.Styles{ // The cursor does not blink, because each blink would draw a frame.
		Focused: textinput.StyleState{Text: t.Bold()}, Cursor: textinput.CursorStyle{Color: t.Colors().Accent},
	})
	state := t.Dim().Render(Wrap("Your games, rank and streak stay. You can change it again in 30 days.", width))
	switch {
	case d.busy:
		state = t.Dim().Render("Saving your name …")
	case errors.Is(d.err, client.ErrNameTaken):
		text := "! This name is not available. " + client.WithNumber(d.name(), 2) + " may be."
		if !env.Remote {
			text += " To use your account with this name: " + env.Command("account", "import")
		}
		state = t.Bad().Render(Wrap(text, width))
	case d.err != nil:
		state = t.Bad().Render(Wrap("! "+Explain(d.err, "Press enter to retry."), width))
	}
	return "Your name", Lines(env.Height >= airyHeight,
		Wrap("What should others call you?", width), "",
		t.Accent().Render("▸ ")+d.input.View(),
		t.Faint().Render("  "+strings.Repeat("─", max(min(NameLimit, width-2), 0))), "",
		lipgloss.NewStyle().Width(width).Height(3).Render(state))
}
