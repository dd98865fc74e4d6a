// Package load plays random games on a server, watches them on as many streams
// as asked for, and measures both: how long moves take, how soon they are seen,
// and whether every watcher sees every version once. It needs nothing but the
// contract, and plays under accounts of its own that are not ranked.
package load

import (
	"fmt"
	"time"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Config says what load to make, and on which server.
type Config struct {
	// Server to load. The account in it, if any, is not used.
	Server client.Config
	// Variant that is played.
	Variant string
	// Games at a time. One that ends is followed by another.
	Games int
	// Players who share the games; each makes one move at a time. 0 is one for
	// each game.
	Players int
	// Watchers of each game.
	Watchers int
	// Crowd is how many more watch the first game.
	Crowd int
	// Rate is how many moves are made in a second, by all players together; 0
	// is as many as they can.
	Rate float64
	// Duration of the load, without what is done before and after it.
	Duration time.Duration
	// Connections that players and watchers share, each of them among themselves;
	// 0 is one for each 250.
	Connections int
	// EveryEvent makes watchers ask for every event, however far behind.
	EveryEvent bool
	// Public games appear in lists, as people's do.
	Public bool
	// Metrics is the URL of the server's metrics, empty for none.
	Metrics string
	// Farewell bounds how long it may take to end the games, and then to see
	// them end; 0 is half a minute.
	Farewell time.Duration
	// Progress is told several times a second how it goes, by one goroutine at
	// a time; it may be nil.
	Progress func(Progress)
}

// Progress is how far a run has come.
type Progress struct {
	// Phase in a few words, such as "watchers".
	Phase string
	// Done of Of in this phase: accounts, games, watchers, or seconds of load.
	Done, Of int
	// MovesPerSecond and EventsPerSecond since the last time, during the load.
	MovesPerSecond, EventsPerSecond float64
}

// ConfigError is a Config that makes no sense by itself.
type ConfigError struct{ message string }

// Error implements error.
func (e *ConfigError) Error() string { return e.message }

func wrong(format string, args ...any) error { return &ConfigError{fmt.Sprintf(format, args...)} }

// perConnection is how many players and watchers share a connection where
// nobody says otherwise.
const perConnection = 250

const farewell = 30 * time.Second

// complete checks c and sets what was left to it.
func (c *Config) complete() error {
	if c.Players == 0 {
		c.Players = c.Games
	}
	if c.Farewell <= 0 {
		c.Farewell = farewell
	}
	switch {
	case c.Games < 1:
		return wrong("the number of games is 1 or more")
	case c.Players < 1 || c.Players > c.Games:
		return wrong("the number of players is from 1 to that of games: each has games of its own")
	case c.Watchers < 0 || c.Crowd < 0:
		return wrong("the number of watchers is 0 or more")
	case c.Rate < 0:
		return wrong("the rate is 0 or more")
	case c.Duration <= 0:
		return wrong("the duration is more than 0")
	case c.Connections < 0:
		return wrong("the number of connections is 0 or more")
	case c.Connections == 1 && c.watchers() > 0:
		return wrong("players and watchers have connections of their own: take 2 or more")
	}
	if c.Connections == 0 {
		c.Connections = share(c.Players) + share(c.watchers())
	}
	c.Connections = min(c.Connections, c.Players+c.watchers())
	return nil
}

func share(n int) int { return (n + perConnection - 1) / perConnection }

// watchers are all that there are.
func (c *Config) watchers() int { return c.Games*c.Watchers + c.Crowd }

// playerConnections is how many of the connections are the players'. Watchers
// have the others, since what a crowd is sent must not stand before the answer to
// a move that a real player would get on a connection of their own.
func (c *Config) playerConnections() int {
	if c.watchers() == 0 {
		return c.Connections
	}
	return min(max(c.Connections*c.Players/(c.Players+c.watchers()), 1), c.Connections-1)
}

// watchersPerConnection is how many watchers share a connection at most.
func (c *Config) watchersPerConnection() int {
	rest := c.Connections - c.playerConnections()
	if rest == 0 {
		return 0
	}
	return (c.watchers() + rest - 1) / rest
}

// fits returns an error for what the server will not allow, before anything is
// made there.
func (c *Config) fits(limits *pb.Limits) error {
	exceeds := func(value int, limit int32) bool { return limit > 0 && value > int(limit) }
	players := c.playerConnections()
	streams := max((c.Players+players-1)/players, c.watchersPerConnection())
	games := (c.Games + c.Players - 1) / c.Players
	switch {
	case exceeds(games, limits.GetOpenGamesPerPlayer()):
		return fmt.Errorf("a player would have %d games, and the server allows %d: take more players, or start it with --max-open-games %d",
			games, limits.GetOpenGamesPerPlayer(), games)
	case exceeds(c.Watchers+c.Crowd, limits.GetWatchersPerGame()):
		return fmt.Errorf("a game would have %d watchers, and the server allows %d: start it with --max-watchers-per-game %d",
			c.Watchers+c.Crowd, limits.GetWatchersPerGame(), c.Watchers+c.Crowd)
	case exceeds(c.watchers(), limits.GetWatchesPerAddress()):
		return fmt.Errorf("the server allows %d watchers of one address: start it with --max-watches-per-address 0",
			limits.GetWatchesPerAddress())
	case exceeds(c.watchers()+c.Players, limits.GetStreamsPerAddress()):
		return fmt.Errorf("the server allows %d streams of one address: start it with --max-streams-per-address 0",
			limits.GetStreamsPerAddress())
	case exceeds(streams, limits.GetStreamsPerConnection()):
		return fmt.Errorf("a connection would carry %d calls at a time, and the server allows %d: take more connections, or start it with --max-streams-per-connection %d",
			streams, limits.GetStreamsPerConnection(), streams)
	case exceeds(c.Connections, limits.GetConnectionsPerAddress()):
		return fmt.Errorf("the server allows %d connections of one address: start it with --max-connections-per-address 0",
			limits.GetConnectionsPerAddress())
	case limits.GetMovesPerSecond() > 0 && c.Rate > float64(c.Players)*float64(limits.GetMovesPerSecond()):
		return fmt.Errorf("the server allows each player %d moves a second: take more players, or start it with --max-moves-per-second 0",
			limits.GetMovesPerSecond())
	}
	return nil
}
