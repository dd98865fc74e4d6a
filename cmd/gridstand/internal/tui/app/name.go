package app

import (
	"context"
	"errors"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
)

// namePage asks a guest for a name.
type namePage struct {
	*ui.Tasks
	env   *ui.Env
	input textinput.Model
	busy  bool
	err   error
}

func newNamePage(ctx context.Context, env *ui.Env) *namePage {
	input := textinput.New()
	input.Prompt = ""
	input.CharLimit = ui.NameLimit
	input.SetWidth(ui.NameLimit + 1)
	input.Focus() // drop the command: it blinks the cursor, and each blink draws a frame
	return &namePage{env: env, Tasks: ui.NewTasks(ctx), input: input}
}

func (p *namePage) Init() tea.Cmd { return nil }

// Input implements ui.Typing.
func (p *namePage) Input(msg tea.Msg) tea.Cmd {
	switch press, _ := msg.(tea.KeyPressMsg); {
	case press.Code == tea.KeyEscape:
		return ui.Back
	case p.busy:
		return nil
	case press.Code == tea.KeyEnter:
		return p.submit()
	}
	p.err = nil
	var cmd tea.Cmd
	p.input, cmd = p.input.Update(msg)
	return cmd
}

// name returns the name that the user typed.
func (p *namePage) name() string { return strings.TrimSpace(p.input.Value()) }

func (p *namePage) submit() tea.Cmd {
	name := p.name()
	if client.FitName(name) != name {
		p.err = errName
		return nil
	}
	p.busy, p.err = true, nil
	return ui.Call(p.Tasks, func(ctx context.Context) (string, error) { return name, p.env.Rename(ctx, name) }, p.renamed)
}

// renamed handles the result of Env.Rename.
func (p *namePage) renamed(name string, err error) tea.Cmd {
	p.busy, p.err = false, err
	if err == nil {
		p.env.NewName = name
		return func() tea.Msg { return ui.BackMsg{Notice: "You are " + name + " now."} }
	}
	return nil
}

// errName is the error for a name that no server accepts.
var errName = errors.New("a name consists of letters, digits, single spaces and - _ . and begins with a letter or digit")

func (p *namePage) View(width, height int) ui.View {
	const boxWidth, around = 48, 4
	t := p.env.Theme
	p.input.SetStyles(textinput.Styles{ // The cursor does not blink, because each blink would draw a frame.
		Focused: textinput.StyleState{Text: t.Bold()}, Cursor: textinput.CursorStyle{Color: t.Colors().Accent},
	})
	inner := min(boxWidth, width) - around
	state := t.Dim().Render(ui.Wrap("Your games, rank and streak stay. You can change it again in 30 days.", inner))
	switch {
	case p.busy:
		state = t.Dim().Render("Saving your name …")
	case errors.Is(p.err, client.ErrNameTaken):
		text := "! This name is not available. " + client.WithNumber(p.name(), 2) + " may be."
		if !p.env.Remote {
			text += " To use your account with this name: " + p.env.Command("account", "import")
		}
		state = t.Bad().Render(ui.Wrap(text, inner))
	case p.err != nil:
		state = t.Bad().Render(ui.Wrap("! "+ui.Explain(p.err, "Press enter to retry."), inner))
	}
	airy := height >= 12
	content := ui.Lines(airy,
		ui.Wrap("What should others call you?", inner), "",
		t.Accent().Render("▸ ")+p.input.View(),
		t.Faint().Render("  "+strings.Repeat("─", max(min(ui.NameLimit, inner-2), 0))), "",
		lipgloss.NewStyle().Height(3).Render(state))
	box := ui.Pane{Titles: []string{"Your name"}, Focused: true}.
		Draw(t, content, inner+around, lipgloss.Height(content)+2)
	return ui.View{Title: "Your name", Left: []string{t.Bold().Render("your name")}, Body: box}
}

func (p *namePage) Keys() ui.KeyTable {
	return ui.KeyTable{{ui.Listed("enter", "use this name").Footer(1), ui.Listed("esc", ui.BackText).Footer(2)}}
}
