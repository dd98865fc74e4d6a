// Package load plays random games on a server and watches them on the requested number of
// streams. It measures the latency of moves and of their delivery, and checks that every
// watcher receives every version exactly once. It uses only the API, and plays with its
// own accounts, which are not ranked.
package load

import (
	"fmt"
	"time"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Config describes a load and the server to apply it to.
type Config struct {
	// Server is the server to put under load. Its account, if any, is not used.
	Server client.Config
	// Variant is the id of the variant to play.
	Variant string
	// Games is the number of concurrent games. A game that ends is replaced by another.
	Games int
	// Players is the number of players. Each plays an equal share of the games, and makes
	// one move at a time. 0 means one per game.
	Players int
	// Watchers is the number of watchers of each game.
	Watchers int
	// Crowd is the number of additional watchers of the first game.
	Crowd int
	// Rate is the total number of moves per second by all players; 0 means as many as
	// possible.
	Rate float64
	// Duration is how long the load lasts, not counting setup and teardown.
	Duration time.Duration
	// Connections is the number of connections; players and watchers do not share any. 0
	// means one for every 250 players and one for every 250 watchers.
	Connections int
	// EveryEvent makes watchers request every event, however far they fall behind.
	EveryEvent bool
	// Events makes watchers read Server-Sent Events, as browsers do, each on its own
	// connection in addition to Connections.
	Events bool
	// Public makes the games appear in lists, like those of real players.
	Public bool
	// Metrics is the URL of the server's metrics, or "" to skip them.
	Metrics string
	// EndTimeout is the time limit for ending the games, and also for watchers to see them
	// end. 0 means 30 seconds.
	EndTimeout time.Duration
	// Progress, if not nil, is called several times per second by one goroutine at a
	// time.
	Progress func(Progress)
}

// Progress is the progress of a run.
type Progress struct {
	// Phase describes the phase in a few words, such as "watchers".
	Phase string
	// Done is the number of completed steps, and Of the total. A step is an account, a
	// game, a watcher or a second of load.
	Done, Of int
	// MovesPerSecond and EventsPerSecond are rates since the last call; 0 except during
	// the load.
	MovesPerSecond, EventsPerSecond float64
}

// ConfigError describes why a Config is invalid.
type ConfigError struct{ message string }

// Error implements error.
func (e *ConfigError) Error() string { return e.message }

func wrong(format string, args ...any) error { return &ConfigError{fmt.Sprintf(format, args...)} }

// perConnection is the default number of players or watchers that share a connection.
const perConnection = 250

const defaultEndTimeout = 30 * time.Second

// complete validates c and fills in its defaults.
func (c *Config) complete() error {
	if c.Players == 0 {
		c.Players = c.Games
	}
	if c.EndTimeout <= 0 {
		c.EndTimeout = defaultEndTimeout
	}
	switch {
	case c.Games < 1:
		return wrong("the number of games must be 1 or more")
	case c.Players < 1 || c.Players > c.Games:
		return wrong("the number of players must be from 1 to the number of games, because each player has their own games")
	case c.Watchers < 0 || c.Crowd < 0:
		return wrong("the number of watchers must not be negative")
	case c.Rate < 0:
		return wrong("the rate must not be negative")
	case c.Duration <= 0:
		return wrong("the duration must be more than 0")
	case c.Connections < 0:
		return wrong("the number of connections must not be negative")
	case c.Connections == 1 && c.watchers() > 0:
		return wrong("players and watchers do not share connections: use 2 or more")
	}
	if c.Connections == 0 {
		c.Connections = share(c.Players) + share(c.watchers())
	}
	c.Connections = min(c.Connections, c.Players+c.watchers())
	return nil
}

func share(n int) int { return (n + perConnection - 1) / perConnection }

// watchers returns the total number of watchers.
func (c *Config) watchers() int { return c.Games*c.Watchers + c.Crowd }

// playerConnections returns the number of connections for players. Watchers use the
// remaining connections, so that events for a crowd do not delay responses to moves. This
// is realistic, since real players do not share connections with a crowd.
func (c *Config) playerConnections() int {
	if c.watchers() == 0 {
		return c.Connections
	}
	return min(max(c.Connections*c.Players/(c.Players+c.watchers()), 1), c.Connections-1)
}

// watchersPerConnection returns the maximum number of watchers that share a connection.
func (c *Config) watchersPerConnection() int {
	rest := c.Connections - c.playerConnections()
	if rest == 0 {
		return 0
	}
	return (c.watchers() + rest - 1) / rest
}

// fits returns an error if the load would exceed the server's limits. It is called before
// anything is created on the server.
func (c *Config) fits(limits *pb.Limits) error {
	exceeds := func(value int, limit int32) bool { return limit > 0 && value > int(limit) }
	players := c.playerConnections()
	streams := max((c.Players+players-1)/players, c.watchersPerConnection())
	games := (c.Games + c.Players - 1) / c.Players
	switch {
	case exceeds(games, limits.GetOpenGamesPerPlayer()):
		return fmt.Errorf("each player would have %d games, but the server allows %d: use more players, or start the server with --max-open-games %d",
			games, limits.GetOpenGamesPerPlayer(), games)
	case exceeds(c.Watchers+c.Crowd, limits.GetWatchersPerGame()):
		return fmt.Errorf("a game would have %d watchers, but the server allows %d: start the server with --max-watchers-per-game %d",
			c.Watchers+c.Crowd, limits.GetWatchersPerGame(), c.Watchers+c.Crowd)
	case exceeds(c.watchers(), limits.GetWatchesPerAddress()):
		return fmt.Errorf("the server allows %d watchers per address: start it with --max-watches-per-address 0",
			limits.GetWatchesPerAddress())
	case c.Events && exceeds(c.watchers(), limits.GetSsePerAddress()):
		return fmt.Errorf("the server allows %d streams of Server-Sent Events per address: start it with --max-sse-per-address 0",
			limits.GetSsePerAddress())
	case exceeds(c.watchers()+c.Players, limits.GetStreamsPerAddress()):
		return fmt.Errorf("the server allows %d streams per address: start it with --max-streams-per-address 0",
			limits.GetStreamsPerAddress())
	case exceeds(streams, limits.GetStreamsPerConnection()):
		return fmt.Errorf("a connection would carry %d calls at a time, but the server allows %d: use more connections, or start the server with --max-streams-per-connection %d",
			streams, limits.GetStreamsPerConnection(), streams)
	case exceeds(c.Connections, limits.GetConnectionsPerAddress()):
		return fmt.Errorf("the server allows %d connections per address: start it with --max-connections-per-address 0",
			limits.GetConnectionsPerAddress())
	case limits.GetMovesPerSecond() > 0 && c.Rate > float64(c.Players)*float64(limits.GetMovesPerSecond()):
		return fmt.Errorf("the server allows each player %d moves per second: use more players, or start the server with --max-moves-per-second 0",
			limits.GetMovesPerSecond())
	}
	return nil
}
