// Package load plays random games on a server, watches them on the requested number of
// streams, and measures both: the latency of moves and of their delivery, and whether
// every watcher gets every version once. It uses nothing but the API, and plays under
// accounts of its own that are not ranked.
package load

import (
	"fmt"
	"time"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Config is the load to make, and the server.
type Config struct {
	// Server to load. The account in it, if any, is not used.
	Server client.Config
	// Variant that is played.
	Variant string
	// Games at a time. A game that ends is followed by another.
	Games int
	// Players who share the games; each makes one move at a time. 0 is one per
	// game.
	Players int
	// Watchers of each game.
	Watchers int
	// Crowd is the number of additional watchers of the first game.
	Crowd int
	// Rate is the number of moves a second of all players together; 0 is as many
	// as they can make.
	Rate float64
	// Duration of the load, without setup and teardown.
	Duration time.Duration
	// Connections of players and watchers, who do not share them with each other; 0
	// is one for each 250.
	Connections int
	// EveryEvent makes watchers request every event, however far behind they are.
	EveryEvent bool
	// Events makes watchers read Server-Sent Events, as browsers do, each on a connection
	// of its own beyond Connections.
	Events bool
	// Public games appear in lists, as players' games do.
	Public bool
	// Metrics is the URL of the server's metrics, empty for none.
	Metrics string
	// Farewell bounds the time to end the games, and then the time until watchers
	// see the ends; 0 is half a minute.
	Farewell time.Duration
	// Progress is called several times a second, by one goroutine at a time; it may
	// be nil.
	Progress func(Progress)
}

// Progress is the progress of a run.
type Progress struct {
	// Phase in a few words, such as "watchers".
	Phase string
	// Done of Of in this phase: accounts, games, watchers, or seconds of load.
	Done, Of int
	// MovesPerSecond and EventsPerSecond since the last call, during the load.
	MovesPerSecond, EventsPerSecond float64
}

// ConfigError is an invalid Config.
type ConfigError struct{ message string }

// Error implements error.
func (e *ConfigError) Error() string { return e.message }

func wrong(format string, args ...any) error { return &ConfigError{fmt.Sprintf(format, args...)} }

// perConnection is how many players or watchers share a connection by default.
const perConnection = 250

const farewell = 30 * time.Second

// complete checks c and sets its defaults.
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

// watchers is the number of all watchers.
func (c *Config) watchers() int { return c.Games*c.Watchers + c.Crowd }

// playerConnections is the number of connections for players. Watchers have the others,
// so that the events for a crowd do not delay the response to a move, which a real
// player gets on a connection of their own.
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

// fits returns an error if the load exceeds the server's limits, before anything is
// created there.
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
