package client

import (
	"time"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// WatchOptions say what to watch, and from which version on.
type WatchOptions struct {
	// GameID is the whole id of the game.
	GameID string
	// AfterVersion is the last version that the caller has: the events after it
	// follow. 0 asks for all of them; nil starts with the game as it is now.
	AfterVersion *int32
	// EveryEvent asks for every event even if Next is called too rarely. Without it,
	// one game may replace the events that a slow caller missed.
	EveryEvent bool
	// Preview leaves the stream out of the number of watchers: for a small picture of
	// the game beside others.
	Preview bool
}

// ConnectionState says whether a Watch is connected.
type ConnectionState uint8

// The states of a connection.
const (
	// Connecting is the state before the first connection.
	Connecting ConnectionState = iota
	// Live is the state while events arrive as they happen.
	Live
	// Reconnecting is the state after the connection was lost or could not be made,
	// until another try succeeds.
	Reconnecting
)

// String returns the state in a word for people.
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

// Connection is the connection of a Watch at the time of an Update.
type Connection struct {
	// State of the connection.
	State ConnectionState
	// Attempt counts the tries since a message last arrived, from 1, while
	// Reconnecting.
	Attempt int
	// Delay is the wait before that try, while Reconnecting.
	Delay time.Duration
	// Err is the error that ended the last connection, while Reconnecting.
	Err error
}

// Update is one step of a Watch. At most one of Game, Event and Audience is set; if
// none is, Connection changed. Game.Update applies it.
type Update struct {
	// Game is a snapshot, at the beginning or in place of Skipped events.
	Game *pb.Game
	// Event is the next event, one version above the last.
	Event *pb.Event
	// Audience is the number of watchers.
	Audience *int32
	// Skipped is the number of events that Game replaces; 0 with the first Game.
	Skipped int32
	// Connection is the connection as of this update.
	Connection Connection
}
