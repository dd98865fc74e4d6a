package tui

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// base is what every screen holds: the window, the theme, the time and whether
// the table of keys lies over it.
type base struct {
	tasks         *tasks
	clock         func() time.Time
	now           time.Time
	width, height int
	theme         Theme
	help          bool
	// address of the server, as far as the commands that are shown must name
	// it.
	address string
	// bare says that the screen is one of several: it stands at the top of its
	// room, without a line of keys.
	bare bool
	// interrupted says that the user left with ctrl-c.
	interrupted bool
}

// newBase makes the base of a screen whose commands end with ctx. A nil clock
// is the system's.
func newBase(ctx context.Context, clock func() time.Time) base {
	if clock == nil {
		clock = time.Now
	}
	return base{
		tasks: newTasks(ctx), clock: clock, now: clock(),
		width: 80, height: 24, theme: Theme{Profile: colorprofile.ASCII},
	}
}

// tickMsg comes once a second, for times that are shown.
type tickMsg struct{}

// start are the commands with which every screen begins.
func (b *base) start() tea.Cmd {
	return tea.Batch(tea.RequestBackgroundColor, b.tick())
}

func (b *base) tick() tea.Cmd { return b.tasks.after(time.Second, tickMsg{}) }

// take handles the messages that mean the same to every screen and reports
// whether that is all there is to do.
func (b *base) take(msg tea.Msg) (tea.Cmd, bool) {
	b.now = b.clock()
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		b.width, b.height = msg.Width, msg.Height
	case tea.ColorProfileMsg:
		b.theme.Profile = msg.Profile
	case tea.BackgroundColorMsg:
		b.theme.Light = !msg.IsDark()
	case tickMsg:
		return b.tick(), true
	default:
		return nil, false
	}
	return nil, true
}

// takeKey handles the keys that mean the same on every screen, whatever lies
// over it, and reports whether the key was one of them.
func (b *base) takeKey(msg tea.KeyPressMsg, keys *commonKeys) (tea.Cmd, bool) {
	switch {
	case pressed(msg, keys.Interrupt):
		b.interrupted = true
		return tea.Quit, true
	case pressed(msg, keys.Suspend):
		return tea.Suspend, true
	case pressed(msg, keys.Help), b.help && pressed(msg, keys.Close):
		b.help = !b.help
		return nil, true
	default:
		return nil, false
	}
}

// tasks are the commands of a screen that are under way. They end with their
// context, and wait returns when they have.
type tasks struct {
	ctx    context.Context
	cancel context.CancelFunc

	mu      sync.Mutex
	running sync.WaitGroup // Add only under mu and while ctx is not done
}

func newTasks(ctx context.Context) *tasks {
	ctx, cancel := context.WithCancel(ctx)
	return &tasks{ctx: ctx, cancel: cancel}
}

// do makes a command of what may take time.
func (t *tasks) do(work func(ctx context.Context) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		t.mu.Lock()
		if t.ctx.Err() != nil {
			t.mu.Unlock()
			return nil
		}
		t.running.Add(1)
		t.mu.Unlock()
		defer t.running.Done()
		return work(t.ctx)
	}
}

// after makes a command that brings a message when d has passed.
func (t *tasks) after(d time.Duration, msg tea.Msg) tea.Cmd {
	return t.do(func(ctx context.Context) tea.Msg {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(d):
			return msg
		}
	})
}

// stop ends what is under way and waits for it.
func (t *tasks) stop() {
	t.mu.Lock()
	t.cancel()
	t.mu.Unlock()
	t.running.Wait()
}
