// Package limits has the table of a server's limits on its clients. The flags, their
// environment variables, validation and GetServerInfo follow from it.
package limits

import (
	"fmt"
	"math"
)

// Limits has one value for each row of Table; 0 means no limit. The row's Usage says
// what is counted, for which client, and over which servers.
type Limits struct {
	MessageBytes         int
	StreamsPerConnection int
	MovesPerSecond       int
	OpenGamesPerPlayer   int
	WatchersPerGame      int

	ConnectionsPerAddress             int
	NewConnectionsPerAddressPerSecond int
	WatchesPerAddress                 int
	WatchesPerAddressPerSecond        int
	SSEPerAddress                     int
	ReadsPerAddress                   int
	ReadsPerAddressPerSecond          int
	ReadsAtOnce                       int
	ReplaysAtOnce                     int
	WrongTokensPerMinute              int
	NewPlayersPerMinute               int
	NewGamesPerMinute                 int
	NewGamesPerAddressPerMinute       int

	StreamsPerAddress              int
	IncompletePerConnection        int
	IncompletePerAddress           int
	HeldBytesPerAddress            int
	HealthWatchesPerAddress        int
	ReflectionsPerAddress          int
	ReflectionsPerAddressPerSecond int

	BotGamesPerPlayer  int
	BotGamesPerAddress int
	BotGamesPerStore   int
}

// Limit describes one field of Limits.
type Limit struct {
	// Flag of the server program that sets it, without dashes.
	Flag string
	// Field of the contract's Limits message that tells it to clients.
	Field string
	// Default is the value without the flag.
	Default int
	// Usage is the help text of the flag, which adds that 0 means no limit.
	Usage string
	// Of returns the field that holds the value.
	Of func(*Limits) *int
}

// Table has one row for each limit. The defaults for an address are high enough for ten
// thousand watchers behind one router, who reconnect at the same time when a server
// stops.
var Table = []Limit{
	{
		"max-message-bytes", "message_bytes", 4 << 10,
		"size of a message to the server, in bytes",
		func(l *Limits) *int { return &l.MessageBytes },
	},
	{
		"max-streams-per-connection", "streams_per_connection", 2_048,
		"streams and calls at once on one connection",
		func(l *Limits) *int { return &l.StreamsPerConnection },
	},
	{
		"max-moves-per-second", "moves_per_second", 200,
		"moves of one player per second, and other calls that change something",
		func(l *Limits) *int { return &l.MovesPerSecond },
	},
	{
		"max-open-games", "open_games_per_player", 500,
		"unfinished games of one account",
		func(l *Limits) *int { return &l.OpenGamesPerPlayer },
	},
	{
		"max-watchers-per-game", "watchers_per_game", 100_000,
		"watchers of one game",
		func(l *Limits) *int { return &l.WatchersPerGame },
	},
	{
		"max-connections-per-address", "connections_per_address", 16_384,
		"connections of one address to this server, except from --proxies; " +
			"many players may share the address of a router",
		func(l *Limits) *int { return &l.ConnectionsPerAddress },
	},
	{
		"max-new-connections-per-address-per-second", "new_connections_per_address_per_second", 2_000,
		"connections that one address may open to this server in a second, " +
			"with ten seconds' worth at once, except from --proxies",
		func(l *Limits) *int { return &l.NewConnectionsPerAddressPerSecond },
	},
	{
		"max-watches-per-address", "watches_per_address", 65_536,
		"watch streams of one address on this server",
		func(l *Limits) *int { return &l.WatchesPerAddress },
	},
	{
		"max-watches-per-address-per-second", "watches_per_address_per_second", 2_000,
		"watch streams that one address may open in a second on this server, with ten seconds' worth at once",
		func(l *Limits) *int { return &l.WatchesPerAddressPerSecond },
	},
	{
		"max-sse-per-address", "sse_per_address", 1_000,
		"connections of one address on which this server sends Server-Sent Events to browsers",
		func(l *Limits) *int { return &l.SSEPerAddress },
	},
	{
		"max-reads-per-address", "reads_per_address", 2_048,
		"calls other than moves of one address that this server works on or keeps waiting",
		func(l *Limits) *int { return &l.ReadsPerAddress },
	},
	{
		"max-reads-per-address-per-second", "reads_per_address_per_second", 2_000,
		"calls other than moves of one address to this server in a second, with ten seconds' worth at once; " +
			"a page counts as one for each 50 entries asked for",
		func(l *Limits) *int { return &l.ReadsPerAddressPerSecond },
	},
	{
		"max-reads-at-once", "reads_at_once", 32,
		"calls other than moves that this server works on at the same time, a quarter of them for one address; " +
			"others wait up to a second",
		func(l *Limits) *int { return &l.ReadsAtOnce },
	},
	{
		"max-replays-at-once", "replays_at_once", 4,
		"watch streams for which this server works on a game's past at the same time; others take turns",
		func(l *Limits) *int { return &l.ReplaysAtOnce },
	},
	{
		"max-wrong-tokens-per-minute", "wrong_tokens_per_minute", 1_000,
		"wrong tokens that one address may send to this server in a minute",
		func(l *Limits) *int { return &l.WrongTokensPerMinute },
	},
	{
		"max-new-players-per-minute", "new_players_per_minute", 600,
		"accounts that one address may create in a minute, over all servers",
		func(l *Limits) *int { return &l.NewPlayersPerMinute },
	},
	{
		"max-new-games-per-minute", "new_games_per_minute", 60,
		"games that one account may create in a minute, over all servers",
		func(l *Limits) *int { return &l.NewGamesPerMinute },
	},
	{
		"max-new-games-per-address-per-minute", "new_games_per_address_per_minute", 6_000,
		"games that may be created from one address in a minute, over all servers",
		func(l *Limits) *int { return &l.NewGamesPerAddressPerMinute },
	},
	{
		"max-streams-per-address", "streams_per_address", 65_536,
		"streams and calls of one address at once on this server, of every kind",
		func(l *Limits) *int { return &l.StreamsPerAddress },
	},
	{
		"max-incomplete-per-connection", "incomplete_per_connection", 64,
		"streams of one connection whose request takes longer than half a second to arrive, except from --proxies; " +
			"each is ended after five seconds",
		func(l *Limits) *int { return &l.IncompletePerConnection },
	},
	{
		"max-incomplete-per-address", "incomplete_per_address", 256,
		"streams of one address whose request takes longer than half a second to arrive",
		func(l *Limits) *int { return &l.IncompletePerAddress },
	},
	{
		"max-held-bytes-per-address", "held_bytes_per_address", 64 << 20,
		"bytes that this server holds for one address: headers of its open streams, and answers that it does not read. " +
			"A connection that leaves an eighth of it unread is closed, except from --proxies",
		func(l *Limits) *int { return &l.HeldBytesPerAddress },
	},
	{
		"max-health-watches-per-address", "health_watches_per_address", 64,
		"streams of one address that watch this server's health",
		func(l *Limits) *int { return &l.HealthWatchesPerAddress },
	},
	{
		"max-reflections-per-address", "reflections_per_address", 16,
		"reflection streams of one address on this server",
		func(l *Limits) *int { return &l.ReflectionsPerAddress },
	},
	{
		"max-reflections-per-address-per-second", "reflections_per_address_per_second", 50,
		"reflection requests of one address in a second on this server, with ten seconds' worth at once",
		func(l *Limits) *int { return &l.ReflectionsPerAddressPerSecond },
	},
	{
		"max-bot-games-per-player", "bot_games_per_player", 4,
		"games that only bots play that run at once for the account that created them, over all servers; " +
			"one is paused, and no longer counts, a minute after a client last read it",
		func(l *Limits) *int { return &l.BotGamesPerPlayer },
	},
	{
		"max-bot-games-per-address", "bot_games_per_address", 16,
		"games that only bots play that run at once for clients of one address, over all servers",
		func(l *Limits) *int { return &l.BotGamesPerAddress },
	},
	{
		"max-bot-games-per-store", "bot_games_per_store", 64,
		"games that only bots play that run at once on all servers together",
		func(l *Limits) *int { return &l.BotGamesPerStore },
	},
}

// Default returns the default limits.
func Default() Limits {
	var l Limits
	for _, limit := range Table {
		*limit.Of(&l) = limit.Default
	}
	return l
}

// Check returns an error unless value is from 0 to the largest int32, which is the type
// of limits in the contract.
func Check(value int) error {
	if value < 0 || value > math.MaxInt32 {
		return fmt.Errorf("must be from 0, for no limit, to %d", math.MaxInt32)
	}
	return nil
}
