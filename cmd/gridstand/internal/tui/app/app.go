// Package app is the terminal program. It keeps a stack of pages, draws the top one, and
// handles the window, the theme, the help and the navigation between pages.
package app

import (
	"context"
	"slices"
	"time"
	"unique"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
)

// Config configures the program.
type Config struct {
	// Env is the environment of the pages. Its Server is required. If its Clock is nil, the
	// system clock is used.
	Env ui.Env
	// Start is the first page. Notice is shown on it.
	Start  ui.Route
	Notice string
}

// Model is the Bubble Tea model of the program.
type Model struct {
	config Config
	env    *ui.Env
	ctx    context.Context
	tasks  *ui.Tasks
	pages  []ui.Page // the stack; the last page is visible
	err    error     // the error that ended the program
	ended  bool      // the next frame is the last one
	// drawn is the last frame. Programs that draw the same frame share its text. This saves
	// memory: the renderer's cells point into the frames that they were drawn from.
	drawn unique.Handle[string]
	turn  func(ctx context.Context) (end func()) // Terminal.Turn
}

// New returns the program. Its commands end when ctx is done or Close is called.
func New(ctx context.Context, c Config) *Model {
	env := c.Env
	if env.Clock == nil {
		env.Clock = time.Now
	}
	env.Now, env.Width, env.Height = env.Clock(), 80, 24
	env.Theme.Profile = colorprofile.ASCII
	return &Model{config: c, env: &env, ctx: ctx, tasks: ui.NewTasks(ctx)}
}

// Init implements tea.Model.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(tea.RequestBackgroundColor, m.tick(), m.open(m.config.Start, nil))
}

// tick draws the page every second, because it may show times, and counts how long its notice is shown.
func (m *Model) tick() tea.Cmd {
	if p := m.top(); p != nil {
		p.Own().Tick()
	}
	return m.tasks.Later(time.Second, m.tick)
}

// top returns the visible page, or nil before the first page.
func (m *Model) top() ui.Page {
	if len(m.pages) == 0 {
		return nil
	}
	return m.pages[len(m.pages)-1]
}

// find returns the index of the page that has the given tasks, or -1 if it has been closed.
func (m *Model) find(tasks *ui.Tasks) int {
	return slices.IndexFunc(m.pages, func(p ui.Page) bool { return p.Own() == tasks })
}

// push adds a page on top of the others. It first closes the page that has the tasks old, if it is open, and
// the pages above it.
func (m *Model) push(p ui.Page, old *ui.Tasks) tea.Cmd {
	if i := m.find(old); i >= 0 {
		for _, closed := range m.pages[i:] {
			closed.Own().Stop()
		}
		m.pages = m.pages[:i]
	}
	if below, ok := m.top().(ui.Pausing); ok {
		below.Pause()
	}
	m.pages = append(m.pages, p)
	if m.config.Notice != "" {
		p.Own().Refuse(m.config.Notice)
		m.config.Notice = ""
	}
	return p.Init()
}

// pop closes the visible page. If it is the only page, pop quits the program instead, and
// the page stays visible until then.
func (m *Model) pop() tea.Cmd {
	if len(m.pages) == 1 {
		return m.quit(nil)
	}
	m.top().Own().Stop()
	m.pages = m.pages[:len(m.pages)-1]
	if p, ok := m.top().(ui.Resuming); ok {
		return p.Resumed()
	}
	return nil
}

// quit ends the program with err. It asks for confirmation if this also ends the server while others
// are connected, unless a dialog is open, which may be the one that asks.
func (m *Model) quit(err error) tea.Cmd {
	n := 0
	if m.env.Others != nil && m.top() != nil && m.top().Own().Dialog == nil {
		n = m.env.Others()
	}
	if n == 0 {
		m.err = err
		return tea.Quit
	}
	return m.top().Own().Ask(&ui.Question{
		Title: "Quit anyway?", Text: "The server ends, also for " + describe.Plural(n, "other") + ".", No: "stay",
		Choices: ui.Yes("quit", ui.Run(tea.Quit)),
	})
}

// Update implements tea.Model.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.env.Now = m.env.Clock()
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		if msg.Width > 0 && msg.Height > 0 { // A terminal that does not know its size reports 0.
			m.env.Width, m.env.Height = msg.Width, msg.Height
		}
		return m, nil
	case tea.ColorProfileMsg:
		m.env.Theme.Profile = msg.Profile
		return m, nil
	case tea.BackgroundColorMsg:
		m.env.Theme.Light = !msg.IsDark()
		return m, nil
	case ui.TaskMsg:
		return m, m.carryOn(msg)
	case ui.OpenMsg:
		return m, m.open(msg.Route, nil)
	case ui.ReplaceMsg:
		if m.find(msg.Owner) < 0 {
			return m, nil
		}
		return m, m.open(msg.Route, msg.Owner)
	case ui.BackMsg:
		return m, m.pop()
	case tea.KeyPressMsg:
		if ui.Modifier(msg) {
			return m, nil
		}
		if m.typing() == nil || msg.Mod.Contains(tea.ModCtrl) {
			msg = ui.ByPlace(msg)
		}
		if cmd, done := m.key(msg); done {
			return m, cmd
		}
		return m, ui.Press(m.top(), msg)
	}
	if d := m.typing(); d != nil {
		return m, d.Input(msg)
	}
	return m, nil
}

// typing returns the dialog into which the user types, or nil.
func (m *Model) typing() ui.Typing {
	if m.top() == nil {
		return nil
	}
	d, _ := m.top().Own().Dialog.(ui.Typing)
	return d
}

// carryOn continues a task of the program or of a page that is still open and not paused.
func (m *Model) carryOn(msg ui.TaskMsg) tea.Cmd {
	switch i := m.find(msg.Owner); {
	case msg.Owner.Ctx.Err() != nil:
	case msg.Owner == m.tasks:
		return msg.Then()
	case i >= 0:
		return m.pages[i].Continue(msg.Then)
	}
	return nil
}

// key handles the keys that work on every page, and reports whether msg was one of them.
func (m *Model) key(msg tea.KeyPressMsg) (tea.Cmd, bool) {
	if key.Matches(msg, ui.InterruptKey) {
		return m.quit(ErrInterrupted), true
	}
	if m.top() == nil {
		return nil, true
	}
	page, own := m.top(), m.top().Own()
	own.Say("")
	switch {
	case key.Matches(msg, ui.SuspendKey):
		return tea.Suspend, true
	case own.Dialog != nil:
		return own.Answer(msg), true
	case own.Opening && !slices.Contains([]string{"q", "esc"}, msg.String()):
		return own.Say("Opening …"), true
	case key.Matches(msg, ui.HelpKey):
		return own.Ask(ui.NewHelp(page.Keys, len(m.pages) == 1)), true
	}
	return nil, false
}

// Close cancels all commands and waits for them to end.
func (m *Model) Close() {
	for _, p := range m.pages {
		p.Own().Stop()
	}
	m.tasks.Stop()
}

// closingMessage returns the lines to leave in the terminal, or "".
func (m *Model) closingMessage() string {
	p, ok := m.top().(ui.Closing)
	switch {
	case !ok:
		return ""
	case m.env.Theme.ASCII:
		return ui.ASCII(p.ClosingMessage())
	default:
		return p.ClosingMessage()
	}
}

// View implements tea.Model.
func (m *Model) View() tea.View {
	if m.turn != nil {
		defer m.turn(m.ctx)()
	}
	var v tea.View
	if p := m.top(); p == nil {
		v = ui.Opening(m.env)
	} else {
		v = ui.Draw(m.env, p, len(m.pages) == 1)
	}
	if m.ended {
		v.Content = ""
	}
	m.drawn = unique.Make(v.Content)
	v.Content = m.drawn.Value()
	return v
}
