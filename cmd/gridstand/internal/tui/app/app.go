// Package app is the terminal program: a stack of pages in one frame, with the window,
// the theme, the help and the way from page to page.
package app

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/frame"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
)

// Config says what the program shows and for whom.
type Config struct {
	// Env is what the pages get. Server is required; a nil Clock is the system's.
	Env ui.Env
	// Start is the first page.
	Start ui.Route
	// LogIn makes Env.Server act for a new account of that name, and returns the account's
	// id. It is called when the user wants to play while Env.Me is empty.
	LogIn func(ctx context.Context, name string) (id string, err error)
	// SuggestedName is offered as the name of a new account.
	SuggestedName string
}

// Model is the root model.
type Model struct {
	config      Config
	env         *ui.Env
	ctx         context.Context
	tasks       *ui.Tasks
	common      ui.Common
	pages       []ui.Page // the stack; the last one is shown
	help        bool
	notice      string // from a page that could not open
	err         error  // for which the program ended
	interrupted bool
}

// tickMsg comes once a second, for the times that pages show.
type tickMsg struct{}

// New makes the program. Its commands end with ctx; Close ends them earlier.
func New(ctx context.Context, c Config) *Model {
	env := c.Env
	if env.Clock == nil {
		env.Clock = time.Now
	}
	env.Now, env.Width, env.Height = env.Clock(), 80, 24
	env.Theme.Profile = colorprofile.ASCII
	return &Model{config: c, env: &env, ctx: ctx, tasks: ui.NewTasks(ctx), common: ui.NewCommon()}
}

// Init implements tea.Model.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(tea.RequestBackgroundColor, m.tick(), m.open(m.config.Start))
}

func (m *Model) tick() tea.Cmd { return m.tasks.After(time.Second, tickMsg{}) }

// top is the page that is shown, nil before the first.
func (m *Model) top() ui.Page {
	if len(m.pages) == 0 {
		return nil
	}
	return m.pages[len(m.pages)-1]
}

// push shows a page on top of the others.
func (m *Model) push(p ui.Page) tea.Cmd {
	m.help, m.notice = false, ""
	m.pages = append(m.pages, p)
	return p.Init()
}

// pop closes the page that is shown. The program ends with the last one, which stays on
// the screen until then.
func (m *Model) pop() tea.Cmd {
	m.help = false
	if len(m.pages) == 1 {
		return tea.Quit
	}
	m.top().Tasks().Stop()
	m.pages = m.pages[:len(m.pages)-1]
	return m.top().Update(ui.ResumedMsg{})
}

// Update implements tea.Model.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.env.Now = m.env.Clock()
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.env.Width, m.env.Height = msg.Width, msg.Height
		return m, nil
	case tea.ColorProfileMsg:
		m.env.Theme.Profile = msg.Profile
		return m, nil
	case tea.BackgroundColorMsg:
		m.env.Theme.Light = !msg.IsDark()
		return m, nil
	case ui.TaskMsg:
		if msg.Owner != m.tasks {
			return m, m.deliver(msg)
		}
		return m, m.done(msg.Msg)
	case ui.OpenMsg:
		return m, m.open(msg.Route)
	case ui.ReplaceMsg:
		return m, m.replace(msg.Route)
	case ui.BackMsg:
		return m, m.pop()
	case tea.KeyPressMsg:
		if cmd, done := m.key(msg); done {
			return m, cmd
		}
	}
	if m.top() == nil {
		return m, nil
	}
	return m, m.top().Update(msg)
}

// done handles the message of a task of the program itself.
func (m *Model) done(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tickMsg:
		return m.tick()
	case openedMsg:
		return m.opened(msg)
	default:
		return nil
	}
}

// deliver gives the message of a task to its page, unless that is closed.
func (m *Model) deliver(msg ui.TaskMsg) tea.Cmd {
	for _, p := range m.pages {
		if p.Tasks() == msg.Owner && msg.Msg != nil {
			return p.Update(msg.Msg)
		}
	}
	return nil
}

// key handles the keys that mean the same on every page, and reports whether the key was
// one of them.
func (m *Model) key(msg tea.KeyPressMsg) (tea.Cmd, bool) {
	if ui.Pressed(msg, m.common.Interrupt) {
		m.interrupted = true
		return tea.Quit, true
	}
	if m.top() == nil {
		return nil, true
	}
	m.notice = ""
	if t, ok := m.top().(ui.Typing); ok && t.Typing() {
		return nil, false
	}
	switch {
	case ui.Pressed(msg, m.common.Suspend):
		return tea.Suspend, true
	case m.help:
		m.help = false
		return nil, true
	case ui.Pressed(msg, m.common.Help):
		m.help = true
		return nil, true
	}
	return nil, false
}

// Close ends all commands and waits for them.
func (m *Model) Close() {
	for _, p := range m.pages {
		p.Tasks().Stop()
	}
	m.tasks.Stop()
}

// farewell is the line that stays in the terminal, empty for none.
func (m *Model) farewell() string {
	if p := m.top(); p != nil {
		return p.Farewell()
	}
	return ""
}

// View implements tea.Model.
func (m *Model) View() tea.View {
	if p := m.top(); p != nil {
		return frame.Draw(m.env, p, len(m.pages) == 1, m.help, m.notice)
	}
	return frame.Opening(m.env)
}
