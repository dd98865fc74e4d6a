package client

import (
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
	// Attempt counts the tries since something last arrived, from 1, while
	// Reconnecting.
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
