package ui

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
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

// Then is a message with a function that the page's Update must call. Tasks send it when
// they finish, and clicks on a board do, too.
type Then func() tea.Cmd

// Call returns a command that runs work, as for Do, and then continues with the result.
func Call[T any](t *Tasks, work func(ctx context.Context) (T, error), then func(T, error) tea.Cmd) tea.Cmd {
	return t.Do(func(ctx context.Context) tea.Msg {
		result, err := work(ctx)
		return Then(func() tea.Cmd { return then(result, err) })
	})
}

// Later returns a command that continues with then after d.
func (t *Tasks) Later(d time.Duration, then Then) tea.Cmd { return t.After(d, then) }

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

// UpdateMsg is sent for each update of a game's stream, and for the end of the stream.
type UpdateMsg struct {
	GameID
	Stream Stream
	Update client.Update
	Err    error // io.EOF after the end of the game
}

// Next returns the command that waits for the next update of a stream.
func (t *Tasks) Next(gameID string, s Stream) tea.Cmd {
	return t.Do(func(context.Context) tea.Msg {
		u, err := s.Next()
		return UpdateMsg{GameID: GameID(gameID), Stream: s, Update: u, Err: err}
	})
}

// FetchedMsg is the result of Fetch.
type FetchedMsg struct {
	GameID
	Game *pb.Game
	Err  error
}

// Fetch returns the command that requests the current state of a game.
func (t *Tasks) Fetch(s Server, gameID string) tea.Cmd {
	return t.Do(func(ctx context.Context) tea.Msg {
		g, err := s.Game(ctx, gameID)
		return FetchedMsg{GameID: GameID(gameID), Game: g, Err: err}
	})
}

// GameID is the id of the game that a message is about. Messages embed it. Pages drop
// messages about a game that they no longer show.
type GameID string

func (id GameID) about() GameID { return id }

// Late reports whether a message is about a game other than the given one.
func Late(msg tea.Msg, gameID string) bool {
	m, ok := msg.(interface{ about() GameID })
	return ok && string(m.about()) != gameID
}

// SameKey is the advice to show after a key's action failed.
const SameKey = "Press the same key to retry."

// Explain describes an error to the user. If the server is unreachable, it adds todo, which
// is advice for the user.
func Explain(err error, todo string) string {
	switch {
	case errors.Is(err, client.ErrUnreachable), client.CauseOf(err) != client.CauseUnknown:
		return fmt.Sprintf("The server %s. %s", client.CauseOf(err), todo)
	case errors.Is(err, client.ErrBadToken):
		return "The server no longer has your account and games. Quit and start again."
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
