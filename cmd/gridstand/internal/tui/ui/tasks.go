package ui

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Tasks are the commands of a page that are in flight. They end with their context, and
// Stop returns when they have.
type Tasks struct {
	Ctx    context.Context
	cancel context.CancelFunc

	mu      sync.Mutex
	running sync.WaitGroup // Add only under mu and while Ctx is not done
}

// NewTasks makes the tasks of a page, which end with ctx at the latest.
func NewTasks(ctx context.Context) *Tasks {
	ctx, cancel := context.WithCancel(ctx)
	return &Tasks{Ctx: ctx, cancel: cancel}
}

// TaskMsg is a message of a page's task, for that page only.
type TaskMsg struct {
	Owner *Tasks
	Msg   tea.Msg
}

// Do makes a command of work that may take time. work must return soon after its
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

// After makes a command that sends a message after d.
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

// Stop ends the tasks and waits for them.
func (t *Tasks) Stop() {
	t.mu.Lock()
	t.cancel()
	t.mu.Unlock()
	t.running.Wait()
}
