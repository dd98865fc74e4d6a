package session

import (
	"context"
	"errors"
	"time"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// WatchOptions say what to watch, and from where on.
type WatchOptions struct {
	// GameID is the whole id of the game.
	GameID string
	// AfterVersion is the last version that the caller has, 0 for a whole
	// transcript; nil to begin with the game as it is now.
	AfterVersion *int32
	// EveryEvent asks for every event however slowly Next is called, instead
	// of a game in the place of those that it covers.
	EveryEvent bool
}

// ConnectionState says how a watcher stands with the server.
type ConnectionState uint8

// The states of a connection.
const (
	// Connecting: the first connection is being made.
	Connecting ConnectionState = iota
	// Live: what happens in the game arrives as it happens.
	Live
	// Reconnecting: the connection was lost, or there never was one, and
	// another try follows.
	Reconnecting
)

// String names the state for people.
func (s ConnectionState) String() string {
	switch s {
	case Live:
		return "live"
	case Reconnecting:
		return "reconnecting"
	default:
		return "connecting"
	}
}

// Connection is how a watcher stands with the server at some moment.
type Connection struct {
	// State of the connection.
	State ConnectionState
	// Attempt counts the tries since it was live, from 1, while Reconnecting.
	Attempt int
	// Delay before that try, while Reconnecting.
	Delay time.Duration
	// Err says what ended the connection before, while Reconnecting.
	Err error
}

// Update is one thing to know about a watched game. At most one of Game, Event
// and Audience is set; where none is, Connection changed.
type Update struct {
	// Game as a whole, at the beginning or in place of Skipped events.
	Game *pb.Game
	// Event that follows directly on the version before.
	Event *pb.Event
	// Audience is how many watch.
	Audience *int32
	// Skipped counts the events that were not sent because Game covers them;
	// 0 with the first Game.
	Skipped int32
	// Connection as it is with this update.
	Connection Connection
}

// Watcher follows a game to its end, over as many connections as it takes.
type Watcher struct{}

// Watch follows a game. Nothing happens until Next is called; the watcher ends
// with ctx or Close.
func (c *Client) Watch(ctx context.Context, opts WatchOptions) *Watcher { return &Watcher{} }

// Next waits for the next update. Versions come without gap or repeat: each
// Event is one above what came before, each later Game further above, with
// Skipped to tell by how much.
//
// A lost connection is not an error: Next returns an update that says
// Reconnecting, and the next call waits, connects and goes on from the last
// version. That goes on until ctx ends; a caller that would rather give up
// looks at Connection.Err.
//
// The error is io.EOF after the last event of a finished game, the context's
// after Close or the end of ctx, ErrGameDamaged where the server has less of the
// game than was seen, ErrBadStream for a server that sends nonsense, else what
// the server refused the stream with. All are final: Next returns the same from
// then on. Next must not be called concurrently with itself.
func (w *Watcher) Next() (Update, error) { return Update{}, errors.ErrUnsupported }

// Version is the last version seen, 0 for none; the caller of Next may ask.
func (w *Watcher) Version() int32 { return 0 }

// Close ends the watcher and waits for a Next under way to return. It may be
// called concurrently with Next, and more than once.
func (w *Watcher) Close() {}
