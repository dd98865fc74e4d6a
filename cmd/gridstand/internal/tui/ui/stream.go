package ui

import (
	"context"
	"errors"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// UpdateMsg brings an update of a game's stream, or its end.
type UpdateMsg struct {
	GameID string
	Stream Stream
	Update client.Update
	Err    error // io.EOF after the end of the game
}

// Next waits for the next update of a stream.
func (t *Tasks) Next(gameID string, s Stream) tea.Cmd {
	return t.Do(func(context.Context) tea.Msg {
		u, err := s.Next()
		return UpdateMsg{GameID: gameID, Stream: s, Update: u, Err: err}
	})
}

// FetchedMsg brings a game as it is now.
type FetchedMsg struct {
	GameID string
	Game   *pb.Game
	Err    error
}

// Fetch asks for a game as it is now.
func (t *Tasks) Fetch(s Server, gameID string) tea.Cmd {
	return t.Do(func(ctx context.Context) tea.Msg {
		g, err := s.Game(ctx, gameID)
		return FetchedMsg{GameID: gameID, Game: g, Err: err}
	})
}

// AboutGame is a message about a game. A page drops it after it left that game.
type AboutGame interface{ About() (gameID string) }

// About implements AboutGame.
func (m UpdateMsg) About() string { return m.GameID }

// About implements AboutGame.
func (m FetchedMsg) About() string { return m.GameID }

// Late reports whether a message is about another game than the given one.
func Late(msg tea.Msg, gameID string) bool {
	m, ok := msg.(AboutGame)
	return ok && m.About() != gameID
}

// SameKey is what to do after a key failed.
const SameKey = "Press the same key to retry."

// Explain says what went wrong; if no server is reachable, also what to do.
func Explain(err error, todo string) string {
	switch {
	case errors.Is(err, client.ErrUnreachable):
		return fmt.Sprintf("The server %s. %s", client.CauseOf(err), todo)
	case errors.Is(err, client.ErrBadToken):
		return "The server no longer has your account and games. Quit and start again."
	case errors.Is(err, client.ErrGameNotFound):
		return "The server no longer has this game."
	default:
		return err.Error()
	}
}
