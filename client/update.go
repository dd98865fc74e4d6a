package client

import (
	"time"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// WatchOptions specify which game to watch, and from which version.
type WatchOptions struct {
	// GameID is the full id of the game.
	GameID string
	// AfterVersion is the last version that the caller has. Watch starts with the next
	// event, or with the current state of the game if AfterVersion is nil. 0 requests all
	// events.
	AfterVersion *int32
	// EveryEvent asks for every event even if the caller is slow. Without it, a snapshot
	// of the game may replace events that a slow caller missed.
	EveryEvent bool
	// Preview excludes the stream from the number of watchers. It is meant for thumbnails
	// of a game.
	Preview bool
}

// ConnectionState is the state of a Watch's connection.
type ConnectionState string

// The possible states of a connection.
const (
	// Connecting is the state before the first connection is made.
	Connecting ConnectionState = ""
	// Live is the state while events arrive as they happen.
	Live ConnectionState = "live"
	// Reconnecting is the state after the connection was lost or could not be made, until
	// a retry succeeds.
	Reconnecting ConnectionState = "reconnecting"
)

// Connection describes a Watch's connection at the time of an Update.
type Connection struct {
	// State is the state of the connection.
	State ConnectionState
	// Attempt is the number of tries since the last message arrived, starting at 1, while
	// Reconnecting.
	Attempt int
	// Delay is the wait before that try, while Reconnecting.
	Delay time.Duration
	// Err is the error that ended the last connection, while Reconnecting.
	Err error
}

// Update is one step of a Watch. At most one of Game, Event and Audience is set; if none
// is set, Connection changed. Game.Update applies it.
type Update struct {
	// Game is a snapshot: the first update, or a replacement for Skipped events.
	Game *pb.Game
	// Event is the next event, whose version is one higher than the last.
	Event *pb.Event
	// Audience is the number of watchers.
	Audience *int32
	// Reactions is set only with Audience: the number of each reaction since the last one,
	// starting with pb.Reaction_REACTION_CLAP. It is nil if there were none.
	Reactions []int32
	// Skipped is the number of events that Game replaces. It is 0 for the first Game.
	Skipped int32
	// Connection is the state of the connection as of this update.
	Connection Connection
}
