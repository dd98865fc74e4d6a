package ui

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
)

// Tasks runs the commands of a page. The commands end when Ctx is done, and Stop waits for
// them.
type Tasks struct {
	Ctx    context.Context
	cancel context.CancelFunc
	// Dialog is the page's open dialog, or nil. The program shows it over the page and passes keys to it.
	Dialog Dialog
	unseen bool // whether the window is too small for Dialog, so that only esc closes it
	// Opening is set while the program asks the server for the page that the user opens from this one. The page's
	// keys other than q and esc are then dropped, so that the same key does not open it twice.
	Opening bool
	// Notice says what the user's last key did, or why it failed. The program shows it in place of the page's
	// status until the next key, at most for noticeTicks.
	Notice string
	failed bool // whether Notice says why a key failed
	ticks  int  // for which Notice has been shown
	// News says what has just happened in the page's game: a milestone, or reactions of watchers.
	News    string
	newsEnd Timer

	mu      sync.Mutex
	running sync.WaitGroup // call Add only under mu and while Ctx is not done
}

// NewTasks returns the Tasks of a page. The commands end when ctx is done or Stop is
// called.
func NewTasks(ctx context.Context) *Tasks {
	ctx, cancel := context.WithCancel(ctx)
	return &Tasks{Ctx: ctx, cancel: cancel}
}

// Then continues a task in the program's goroutine.
type Then func() tea.Cmd

// TaskMsg is the end of a page's task. The program continues with Then unless the page has
// been closed or paused.
type TaskMsg struct {
	Owner *Tasks
	Then  Then
}

// Own implements Page.
func (t *Tasks) Own() *Tasks { return t }

// Continue implements Page.
func (t *Tasks) Continue(then Then) tea.Cmd { return then() }

// Do returns a command that runs work. work may block, but must return promptly after its
// context is done. It may then return nil.
func (t *Tasks) Do(work func(ctx context.Context) Then) tea.Cmd {
	return func() tea.Msg {
		t.mu.Lock()
		if t.Ctx.Err() != nil {
			t.mu.Unlock()
			return nil
		}
		t.running.Add(1)
		t.mu.Unlock()
		defer t.running.Done()
		if then := work(t.Ctx); then != nil {
			return TaskMsg{Owner: t, Then: then}
		}
		return nil
	}
}

// Call returns a command that runs work, as for Do, and then continues with the result.
func Call[T any](t *Tasks, work func(ctx context.Context) (T, error), then func(T, error) tea.Cmd) tea.Cmd {
	return t.Do(func(ctx context.Context) Then {
		result, err := work(ctx)
		return func() tea.Cmd { return then(result, err) }
	})
}

// CallSignedIn is like Call, for work that needs the user's account, whose id it gets. A user without
// one first gets the account of a guest.
func CallSignedIn[T any](t *Tasks, env *Env, work func(ctx context.Context, me string) (T, error), then func(T, error) tea.Cmd) tea.Cmd {
	me := env.Me
	return Call(t, func(ctx context.Context) (result T, err error) {
		if me == "" {
			me, err = env.SignIn(ctx)
		}
		if err == nil {
			result, err = work(ctx, me)
		}
		return result, err
	}, func(result T, err error) tea.Cmd {
		env.Me = cmp.Or(me, env.Me)
		return then(result, err)
	})
}

// maxWaiting is the maximum number of updates of a stream that wait until the program has drawn.
const maxWaiting = 256

// Follow returns a command that continues with each update of a stream, until the stream ends
// with an error, which is io.EOF after the last update. The program draws once for all updates that
// have arrived since it drew last.
func Follow[T any](t *Tasks, s Stream[T], then func(T, error) tea.Cmd) tea.Cmd {
	waiting := make(chan Then, maxWaiting)
	read := t.Do(func(ctx context.Context) Then {
		defer close(waiting)
		for err := error(nil); err == nil; {
			var update T
			update, err = s.Next()
			select {
			case waiting <- func() tea.Cmd { return then(update, err) }:
			case <-ctx.Done():
				return nil
			}
		}
		return nil
	})
	return tea.Batch(read, handle(t, waiting))
}

// handle returns a command that continues with all that wait, and then with those that follow, until
// the channel is closed.
func handle(t *Tasks, waiting <-chan Then) tea.Cmd {
	return t.Do(func(ctx context.Context) Then {
		select {
		case <-ctx.Done():
			return nil
		case first, open := <-waiting:
			if !open {
				return nil
			}
			return func() tea.Cmd {
				cmds := []tea.Cmd{first()}
				for range len(waiting) { // nothing else receives
					next := <-waiting
					cmds = append(cmds, next())
				}
				return tea.Batch(append(cmds, handle(t, waiting))...)
			}
		}
	})
}

// Later returns a command that continues with then after d.
func (t *Tasks) Later(d time.Duration, then Then) tea.Cmd { return new(Timer).Start(t, d, then) }

// Timer runs one task at a time after a delay.
type Timer struct{ stop context.CancelFunc }

// Start returns a command that continues with then after d, unless the timer is started or stopped before.
func (r *Timer) Start(t *Tasks, d time.Duration, then Then) tea.Cmd {
	r.Stop()
	waits, stop := context.WithCancel(t.Ctx)
	r.stop = stop
	return t.Do(func(context.Context) Then {
		select {
		case <-waits.Done():
			return nil
		case <-time.After(d):
		}
		return func() tea.Cmd {
			if waits.Err() != nil {
				return nil
			}
			stop()
			return then()
		}
	})
}

// Stop drops the task that waits, if any.
func (r *Timer) Stop() {
	if r.stop != nil {
		r.stop()
	}
}

// Again returns a command that repeats a request which failed, or whose result was not recorded yet: after the
// first request in 1 s, then in 2 and 4 s, and then every 8 s.
func (t *Tasks) Again(tries int, then Then) tea.Cmd {
	return t.Later(time.Second<<min(tries-1, 3), then)
}

// Stop cancels the tasks and waits for them to end.
func (t *Tasks) Stop() {
	t.mu.Lock()
	t.cancel()
	t.mu.Unlock()
	t.running.Wait()
}

// Ask opens a dialog.
func (t *Tasks) Ask(d Dialog) tea.Cmd {
	t.Dialog = d
	return nil
}

// Withdraw closes the open dialog, unless it is a text, which the user is reading.
func (t *Tasks) Withdraw() {
	if _, reading := t.Dialog.(*Text); !reading {
		t.Dialog = nil
	}
}

// Answer passes a key to the open dialog.
func (t *Tasks) Answer(msg tea.KeyPressMsg) tea.Cmd {
	d := t.Dialog
	if typing, ok := d.(Typing); ok {
		return typing.Input(msg)
	}
	if t.unseen && msg.String() != "esc" {
		return nil
	}
	cmd, closes := d.Keys().Press(msg)
	if closes && t.Dialog == d { // else its action has opened another one
		t.Dialog = nil
	}
	return cmd
}

// Say shows a notice.
func (t *Tasks) Say(text string) tea.Cmd {
	t.Notice, t.failed, t.ticks = text, false, 0
	return nil
}

// Refuse shows why a key has no effect.
func (t *Tasks) Refuse(why string) tea.Cmd {
	t.Notice, t.failed, t.ticks = why, true, 0
	return nil
}

// noticeTicks is the number of seconds after which a notice may no longer be true, and would hide the page's status.
const noticeTicks = 15

// Tick withdraws a notice that was shown for noticeTicks. The program calls it every second.
func (t *Tasks) Tick() {
	if t.ticks++; t.ticks == noticeTicks {
		t.Say("")
	}
}

// Fail shows why a key's action failed.
func (t *Tasks) Fail(err error) tea.Cmd { return t.Refuse(Explain(err, SameKey)) }

// SameKey is the advice to show after a key's action failed.
const SameKey = "Press the same key to retry."

// Gone is the advice to show while the program tries again to reach a server that answered before.
const Gone = "It may have ended; q leaves. Retrying …"

// Explain describes an error to the user. If the server is unreachable, it adds todo, which
// is advice for the user.
func Explain(err error, todo string) string {
	switch {
	case errors.Is(err, client.ErrUnreachable):
		return "The server does not answer. " + todo
	case errors.Is(err, client.ErrBadToken):
		return "The server no longer accepts your token. Quit and start again."
	case errors.Is(err, client.ErrKeyNotLinked):
		return "Your SSH key was removed from its account. Connect again to play with a new account."
	case errors.Is(err, client.ErrBadCredential): // The user cannot renew it.
		return "This host can no longer act for players until its operator gives it a new credential. Your games are kept."
	case errors.Is(err, client.ErrGameNotFound):
		return "The server no longer has this game."
	case errors.Is(err, client.ErrVariantNotFound):
		return "The server has no such variant."
	case errors.Is(err, client.ErrChallengeNotFound):
		return "The server does not have this challenge."
	default:
		return err.Error()
	}
}
