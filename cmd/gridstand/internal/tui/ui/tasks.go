package ui

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Tasks runs the commands of a page. The commands end when Ctx is done, and Stop waits for
// them.
type Tasks struct {
	Ctx    context.Context
	cancel context.CancelFunc

	mu      sync.Mutex
	running sync.WaitGroup // call Add only under mu and while Ctx is not done
}

// NewTasks returns the Tasks of a page. The commands end when ctx is done or Stop is
// called.
func NewTasks(ctx context.Context) *Tasks {
	ctx, cancel := context.WithCancel(ctx)
	return &Tasks{Ctx: ctx, cancel: cancel}
}

// TaskMsg is a message from a page's task. Only that page receives it.
type TaskMsg struct {
	Owner *Tasks
	Msg   tea.Msg
}

// Do returns a command that runs work. work may block, but must return promptly after its
// context is done.
func (t *Tasks) Do(work func(ctx context.Context) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		t.mu.Lock()
		if t.Ctx.Err() != nil {
			t.mu.Unlock()
			return nil
		}
		t.running.Add(1)
		t.mu.Unlock()
		defer t.running.Done()
		return TaskMsg{Owner: t, Msg: work(t.Ctx)}
	}
}

// After returns a command that sends a message after d.
func (t *Tasks) After(d time.Duration, msg tea.Msg) tea.Cmd {
	return t.Do(func(ctx context.Context) tea.Msg {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
			return msg
		}
	})
}

// Stop cancels the tasks and waits for them to end.
func (t *Tasks) Stop() {
	t.mu.Lock()
	t.cancel()
	t.mu.Unlock()
	t.running.Wait()
}
