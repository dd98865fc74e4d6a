// Package limits defines a server's limits on its clients in one table. The table
// determines the flags, their environment variables, their validation and the limits that
// GetServerInfo returns.
package limits

import (
	"fmt"
	"math"
)

// Limits has one field for each row of Table. A value of 0 means no limit. The row's Usage
// describes what is counted, for which client, and across which servers.
type Limits struct {
	MessageBytes         int
	StreamsPerConnection int
	MovesPerSecond       int
	OpenGamesPerPlayer   int
	EventsPerGame        int
	WatchersPerGame      int

	ConnectionsPerAddress             int
	NewConnectionsPerAddressPerSecond int
	WatchesPerAddress                 int
	WatchesPerAddressPerSecond        int
	SSEPerAddress                     int
	ReadsPerAddress                   int
	ReadsPerAddressPerSecond          int
	ReadsPerSecond                    int
	ReadsAtOnce                       int
	WrongTokensPerMinute              int
	NewPlayersPerMinute               int
	NewGamesPerMinute                 int
	NewGamesPerAddressPerMinute       int
	NewChallengesPerAddressPerMinute  int

	StreamsPerAddress              int
	IncompletePerConnection        int
	IncompletePerAddress           int
	HeldBytesPerAddress            int
	HealthWatchesPerAddress        int
	ReflectionsPerAddress          int
	ReflectionsPerAddressPerSecond int
}

// Limit is a row of Table. It describes one field of Limits.
type Limit struct {
	// Flag is the server's flag that sets the limit, without dashes.
	Flag string
	// Field is the limit's name in the contract's Limits message.
	Field string
	// Default is the limit's value if the flag is not set.
	Default int
	// Usage is the flag's help text. The program appends a note that 0 means no limit.
	Usage string
	// Of returns a pointer to the limit's field in the given Limits.
	Of func(*Limits) *int
}

// Table has one row for each limit. The defaults per address allow ten thousand watchers
// behind one router to reconnect simultaneously when a server stops.
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
		"moves and other changes by one player per second",
		func(l *Limits) *int { return &l.MovesPerSecond },
	},
	{
		"max-open-games", "open_games_per_player", 500,
		"unfinished games of one account",
		func(l *Limits) *int { return &l.OpenGamesPerPlayer },
	},
	{
		"max-events-per-game", "events_per_game", 200_000,
		"events in a game, which then accepts no moves and undos",
		func(l *Limits) *int { return &l.EventsPerGame },
	},
	{
		"max-watchers-per-game", "watchers_per_game", 100_000,
		"watchers of one game",
		func(l *Limits) *int { return &l.WatchersPerGame },
	},
	{
		"max-connections-per-address", "connections_per_address", 16_384,
		"connections from one address to this server, except from --proxies; " +
			"many players may share the address of a router",
		func(l *Limits) *int { return &l.ConnectionsPerAddress },
	},
	{
		"max-new-connections-per-address-per-second", "new_connections_per_address_per_second", 2_000,
		"connections that one address may open to this server per second, " +
			"with a burst of ten seconds' worth, except from --proxies",
		func(l *Limits) *int { return &l.NewConnectionsPerAddressPerSecond },
	},
	{
		"max-watches-per-address", "watches_per_address", 20_480,
		"watch streams from one address on this server",
		func(l *Limits) *int { return &l.WatchesPerAddress },
	},
	{
		"max-watches-per-address-per-second", "watches_per_address_per_second", 2_000,
		"watch streams that one address may open on this server per second, with a burst of ten seconds' worth",
		func(l *Limits) *int { return &l.WatchesPerAddressPerSecond },
	},
	{
		"max-sse-per-address", "sse_per_address", 1_000,
		"connections from one address on which this server sends Server-Sent Events to browsers",
		func(l *Limits) *int { return &l.SSEPerAddress },
	},
	{
		"max-reads-per-address", "reads_per_address", 2_048,
		"calls other than moves from one address that this server handles or keeps waiting",
		func(l *Limits) *int { return &l.ReadsPerAddress },
	},
	{
		"max-reads-per-address-per-second", "reads_per_address_per_second", 2_000,
		"calls other than moves from one address to this server per second, with a burst of ten seconds' worth; " +
			"a page of a list counts as one for each 50 entries requested, and one for each ten games skipped, " +
			"so do each 50 events of a game's history, " +
			"and an HTTP request for a page, file or picture counts as one",
		func(l *Limits) *int { return &l.ReadsPerAddressPerSecond },
	},
	{
		"max-reads-per-second", "reads_per_second", 20_000,
		"calls from all addresses to this server per second, other than moves and streams, that read the store, " +
			"with a burst of ten seconds' worth",
		func(l *Limits) *int { return &l.ReadsPerSecond },
	},
	{
		"max-reads-at-once", "reads_at_once", 32,
		"calls other than moves that this server handles at the same time, at most a quarter of them for one address; " +
			"others wait up to a second",
		func(l *Limits) *int { return &l.ReadsAtOnce },
	},
	{
		"max-wrong-tokens-per-minute", "wrong_tokens_per_minute", 1_000,
		"wrong tokens that one address may send to this server per minute",
		func(l *Limits) *int { return &l.WrongTokensPerMinute },
	},
	{
		"max-new-players-per-minute", "new_players_per_minute", 600,
		"accounts that one address may create per minute, across all servers",
		func(l *Limits) *int { return &l.NewPlayersPerMinute },
	},
	{
		"max-new-games-per-minute", "new_games_per_minute", 60,
		"games that one account may create per minute, across all servers",
		func(l *Limits) *int { return &l.NewGamesPerMinute },
	},
	{
		"max-new-games-per-address-per-minute", "new_games_per_address_per_minute", 6_000,
		"games that one address may create per minute, across all servers",
		func(l *Limits) *int { return &l.NewGamesPerAddressPerMinute },
	},
	{
		"max-new-challenges-per-address-per-minute", "new_challenges_per_address_per_minute", 120,
		"public races, links and rematches that one address may create per minute, across all servers",
		func(l *Limits) *int { return &l.NewChallengesPerAddressPerMinute },
	},
	{
		"max-streams-per-address", "streams_per_address", 65_536,
		"streams and calls of every kind from one address at once on this server",
		func(l *Limits) *int { return &l.StreamsPerAddress },
	},
	{
		"max-incomplete-per-connection", "incomplete_per_connection", 64,
		"streams on one connection whose request takes longer than half a second to arrive, except from --proxies; " +
			"the server ends each after five seconds",
		func(l *Limits) *int { return &l.IncompletePerConnection },
	},
	{
		"max-incomplete-per-address", "incomplete_per_address", 256,
		"streams from one address whose request takes longer than half a second to arrive",
		func(l *Limits) *int { return &l.IncompletePerAddress },
	},
	{
		"max-held-bytes-per-address", "held_bytes_per_address", 64 << 20,
		"bytes that this server holds for one address: headers of its open streams, and unread responses. " +
			"A connection with an eighth of this unread is closed, except from --proxies",
		func(l *Limits) *int { return &l.HeldBytesPerAddress },
	},
	{
		"max-health-watches-per-address", "health_watches_per_address", 64,
		"streams from one address that watch this server's health",
		func(l *Limits) *int { return &l.HealthWatchesPerAddress },
	},
	{
		"max-reflections-per-address", "reflections_per_address", 16,
		"reflection streams from one address on this server",
		func(l *Limits) *int { return &l.ReflectionsPerAddress },
	},
	{
		"max-reflections-per-address-per-second", "reflections_per_address_per_second", 50,
		"reflection requests from one address to this server per second, with a burst of ten seconds' worth",
		func(l *Limits) *int { return &l.ReflectionsPerAddressPerSecond },
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

// Check returns an error unless value is between 0 and the largest int32, because limits
// are of type int32 in the contract.
func Check(value int) error {
	if value < 0 || value > math.MaxInt32 {
		return fmt.Errorf("must be from 0, for no limit, to %d", math.MaxInt32)
	}
	return nil
}
