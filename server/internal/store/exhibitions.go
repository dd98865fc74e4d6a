package store

import (
	"context"
	"time"
)

// Exhibitions tracks the running games with only bots, across all servers. A game pauses
// at the end of its run unless the run is extended, so a dead server's games soon stop
// counting toward the limits. A bot's attempt at a race counts until the end of its run, but
// never pauses.
type Exhibitions interface {
	// Left returns the time that a game has left to run, or 0 if it is paused.
	Left(ctx context.Context, gameID string) (time.Duration, error)
	// Run lets the games run for the duration d from now, unless some of them are paused
	// and would exceed one of the limits: then it changes nothing.
	Run(ctx context.Context, e Exhibition, d time.Duration, limits ExhibitionLimits) (ExhibitionRun, error)
	// End removes the game from the running games.
	End(ctx context.Context, gameID string) error
}

// Exhibition describes a game in which bots hold all seats, or several that begin together.
type Exhibition struct {
	GameIDs []string
	// PlayerID identifies the player who created the game, or the race that the games are
	// part of. Address identifies the address that the games count toward; see
	// challenge.SourceOf.
	PlayerID, Address string
}

// ExhibitionLimits limits how many games with only bots may run; 0 means no limit.
type ExhibitionLimits struct{ PerPlayer, PerAddress, PerStore int }

// ExhibitionRun is the result of Exhibitions.Run.
type ExhibitionRun struct {
	// Resumed reports whether this call started new games or resumed paused ones.
	Resumed bool
	// Full is the limit that the games would exceed, or NoLimit if they are running.
	Full ExhibitionLimit
	// Retry is how long to wait before trying again, if Full is set.
	Retry time.Duration
}

// ExhibitionLimit identifies a field of ExhibitionLimits.
type ExhibitionLimit int

// The limits, in the order in which they are checked.
const (
	NoLimit ExhibitionLimit = iota
	PlayerLimit
	AddressLimit
	StoreLimit
)
