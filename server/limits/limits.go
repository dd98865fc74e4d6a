// Package limits defines a server's limits on its clients in one table. The table
// determines the flags, their environment variables, their validation and the limits that
// GetServerInfo returns.
package limits

import (
	"fmt"
	"math"
)

// Name identifies a limit. The Usage in its row of Table describes what is counted, for which client.
type Name int

// The limits, in the order of their flags.
const (
	MessageBytes Name = iota
	StreamsPerConnection
	MovesPerSecond
	EventsPerGame
	ReactionsPerSecond

	ConnectionsPerAddress
	ReadsPerAddressPerSecond
	WrongTokensPerMinute
	NewPlayersPerMinute
	NewGamesPerMinute
	NewGamesPerAddressPerMinute
	NewChallengesPerAddressPerMinute

	StreamsPerAddress
	HeldBytesPerAddress
	count
)

// String returns the contract's name for the limit.
func (n Name) String() string { return Table[n].Field }

// Limits has the value of each limit. A value of 0 means no limit. Each server counts for itself.
type Limits [count]int

// Limit is a row of Table. It describes one limit.
type Limit struct {
	// Flag is the server's flag that sets the limit, without dashes, or empty if the program
	// always uses the default.
	Flag string
	// Field is the limit's name in the contract's Limits message.
	Field string
	// Default is the limit's value if the flag is not set.
	Default int
	// Usage is the flag's help text. The program appends a note that 0 means no limit.
	Usage string
}

// Table has one row for each limit. The defaults per address allow four thousand watchers
// behind one router to reconnect simultaneously when a server stops.
var Table = [count]Limit{
	MessageBytes: {
		"", "message_bytes", 4 << 10,
		"size of a message to the server, in bytes",
	},
	StreamsPerConnection: {
		"", "streams_per_connection", 2_048,
		"streams and calls at once on one connection",
	},
	MovesPerSecond: {
		"max-moves-per-second", "moves_per_second", 200,
		"calls by one player per second that need a token, mostly moves",
	},
	EventsPerGame: {
		"max-events-per-game", "events_per_game", 200_000,
		"events in a game, which then accepts no moves and undos",
	},
	ReactionsPerSecond: {
		"", "reactions_per_second", 1,
		"reactions of one account per second",
	},
	ConnectionsPerAddress: {
		"max-connections-per-address", "connections_per_address", 4_096,
		"connections from one address to this server, except from --proxies; " +
			"many players may share the address of a router. Those that send no request and no handshake of HTTP/2 " +
			"are closed after ten seconds",
	},
	ReadsPerAddressPerSecond: {
		"max-reads-per-address-per-second", "reads_per_address_per_second", 2_000,
		"calls other than moves from one address to this server per second, with a burst of ten seconds' worth; " +
			"each 25 entries of a list, ten events of a game's history, ten games that a list skips, and 128 bytes that " +
			"a client sends beside calls count as one, a picture as 200",
	},
	WrongTokensPerMinute: {
		"max-wrong-tokens-per-minute", "wrong_tokens_per_minute", 1_000,
		"wrong tokens that one address may send to this server per minute",
	},
	NewPlayersPerMinute: {
		"max-new-players-per-minute", "new_players_per_minute", 600,
		"accounts that one address may create per minute on each server",
	},
	NewGamesPerMinute: {
		"max-new-games-per-minute", "new_games_per_minute", 60,
		"games that one account may create per minute on each server",
	},
	NewGamesPerAddressPerMinute: {
		"max-new-games-per-address-per-minute", "new_games_per_address_per_minute", 6_000,
		"games that one address may create per minute on each server",
	},
	NewChallengesPerAddressPerMinute: {
		"max-new-challenges-per-address-per-minute", "new_challenges_per_address_per_minute", 120,
		"public races, links and rematches that one address may create per minute on each server",
	},
	StreamsPerAddress: {
		"max-streams-per-address", "streams_per_address", 4_096,
		"calls and watches of every kind from one address at once on this server",
	},
	HeldBytesPerAddress: {
		"max-held-bytes-per-address", "held_bytes_per_address", 64 << 20,
		"bytes of responses that the clients of one address have not read. " +
			"Above this, a connection is closed, or a call is refused if it comes from --proxies",
	},
}

// Default returns the default limits.
func Default() Limits {
	var l Limits
	for i, limit := range Table {
		l[i] = limit.Default
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
