package app

import (
	"cmp"
	"context"
	"strings"

	"charm.land/bubbles/v2/help"
	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/widget"
)

// namePage asks for the name of a new account, and then opens a route.
type namePage struct {
	env    *ui.Env
	tasks  *ui.Tasks
	config Config
	route  ui.Route // to open afterwards
	input  textinput.Model
	busy   bool
	err    error
}

// loggedInMsg is the reply to the creation of an account.
type loggedInMsg struct {
	id  string
	err error
}

func newNamePage(ctx context.Context, env *ui.Env, c Config, r ui.Route) *namePage {
	input := textinput.New()
	input.Prompt = ""
	input.CharLimit = 24
	input.SetWidth(26)
	input.Placeholder = client.FitName(c.SuggestedName)
	return &namePage{env: env, tasks: ui.NewTasks(ctx), config: c, route: r, input: input}
}

// Init implements ui.Page.
func (p *namePage) Init() tea.Cmd { return p.input.Focus() }

// Typing implements ui.Typing.
func (p *namePage) Typing() bool { return true }

// Update implements ui.Page.
func (p *namePage) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		switch msg.Code {
		case tea.KeyEscape:
			return ui.Back
		case tea.KeyEnter:
			return p.submit()
		}
	case loggedInMsg:
		p.busy, p.err = false, msg.err
		if msg.err != nil {
			return nil
		}
		p.env.Me = msg.id
		return ui.Replace(p.route)
	}
	if p.busy {
		return nil
	}
	var cmd tea.Cmd
	p.input, cmd = p.input.Update(msg)
	return cmd
}

func (p *namePage) submit() tea.Cmd {
	name := cmp.Or(strings.TrimSpace(p.input.Value()), p.input.Placeholder)
	if p.busy || name == "" {
		return nil
	}
	p.busy, p.err = true, nil
	return p.tasks.Do(func(ctx context.Context) tea.Msg {
		id, err := p.config.LogIn(ctx, name)
		return loggedInMsg{id: id, err: err}
	})
}

// View implements ui.Page.
func (p *namePage) View(width, _ int) ui.View {
	t := p.env.Theme
	state := t.Dim().Render("1 to 24 letters, digits, spaces and - _ .")
	switch {
	case p.busy:
		state = t.Dim().Render("Creating your account …")
	case p.err != nil:
		state = t.Bad().Render(widget.Wrap("! "+ui.Explain(p.err, "Press Enter to retry."), max(min(width-6, 44), 10)))
	}
	box := widget.Box(t, "What is your name?", widget.Lines(true,
		t.Accent().Render("▏")+p.input.View(), "", state))
	return ui.View{Title: "Your name", Left: []string{t.Bold().Render("new player")}, Body: box}
}

// Keys implements ui.Page.
func (p *namePage) Keys() help.KeyMap { return nameKeys{} }

type nameKeys struct{}

// ShortHelp implements help.KeyMap.
func (nameKeys) ShortHelp() []key.Binding {
	return []key.Binding{ui.Bind("enter", "use this name"), ui.Bind("esc", "back")}
}

// FullHelp implements help.KeyMap.
func (k nameKeys) FullHelp() [][]key.Binding { return [][]key.Binding{k.ShortHelp()} }

// Farewell implements ui.Page.
func (p *namePage) Farewell() string { return "" }

// Tasks implements ui.Page.
func (p *namePage) Tasks() *ui.Tasks { return p.tasks }
