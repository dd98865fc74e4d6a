// Package account keeps the players: who they are, the tokens that prove it,
// and how many games each has open. It lives in Redis, in these keys (the
// braces are literal, so that one player's keys share a cluster slot):
//
//	player:{<id>}                   hash: name, secret (digest), bot, created
//	player:{<id>}:open              sorted set of game ids by the time since which they count
//	player-name:{<lower-case name>} id of the player who holds the name
//
// All other errors are Redis's or the context's, wrapped.
package account

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/internal/id"
)

var (
	// ErrNotFound is returned for a player that does not exist.
	ErrNotFound = errors.New("no such player")
	// ErrNameTaken is returned for a name that belongs to another account.
	ErrNameTaken = errors.New("the name is taken")
	// ErrNameReserved is returned for a name that no new account can take.
	ErrNameReserved = errors.New("the name is reserved")
	// ErrBadToken is returned for a token that is malformed, unknown or wrong.
	ErrBadToken = errors.New("bad token")
	// ErrTooManyGames is returned if a player has as many open games as
	// allowed.
	ErrTooManyGames = errors.New("too many open games")
)

// Player is the public part of an account. It never changes.
type Player struct {
	// ID of the account, see package id.
	ID string
	// Name as its owner wrote it: 1 to 24 harmless ASCII characters.
	Name string
	// Bot reports whether a program plays under this account.
	Bot bool
	// Created is when the account was created, by Redis's clock, to the
	// millisecond.
	Created time.Time
}

// cacheSize bounds each of a store's caches: some 15 MB when full.
const cacheSize = 1 << 16

// Store is the accounts in one Redis. Any number of stores, in any number of
// processes, may work on the same Redis. All methods may be called
// concurrently.
type Store struct {
	client redis.UniversalClient
	keep   time.Duration
	// players that were read before. They never expire, since none changes.
	players *lru.Cache[string, Player]
	// verified tokens, by their digest so that no secret is kept in memory.
	verified *lru.Cache[digest, verification]
	// renewed is when each player's account was last renewed.
	renewed *lru.Cache[string, time.Time]
}

// New returns the accounts in client's Redis. The caller closes the client. An
// account expires if its token was not verified and Renew was not called for the
// duration of keep: then it is deleted, but its name stays taken. If keep is 0,
// accounts never expire.
func New(client redis.UniversalClient, keep time.Duration) *Store {
	return &Store{
		client: client, keep: keep,
		players: newCache[string, Player](), verified: newCache[digest, verification](), renewed: newCache[string, time.Time](),
	}
}

func newCache[K comparable, V any]() *lru.Cache[K, V] {
	cache, err := lru.New[K, V](cacheSize)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return cache
}

// Get returns a player, or ErrNotFound. A malformed id is not looked up.
func (s *Store) Get(ctx context.Context, playerID string) (Player, error) {
	players, err := s.Players(ctx, []string{playerID})
	if err != nil {
		return Player{}, err
	}
	player, ok := players[playerID]
	if !ok {
		return Player{}, ErrNotFound
	}
	return player, nil
}

// Players returns those of the players that exist, by id, in at most one round
// trip.
func (s *Store) Players(ctx context.Context, ids []string) (map[string]Player, error) {
	lookup, pipe := s.Lookup(ids...), s.client.Pipeline()
	if lookup.Ask(ctx, pipe); pipe.Len() > 0 {
		_, _ = pipe.Exec(ctx) // Each command has its own error.
	}
	return lookup.Players()
}

// Lookup looks up players in a round trip that the caller makes anyway. It is not
// safe for concurrent use.
type Lookup struct {
	store   *Store
	ids     []string
	found   map[string]Player
	pending map[string]*redis.SliceCmd
}

// Lookup returns a Lookup of the given players.
func (s *Store) Lookup(ids ...string) *Lookup { return &Lookup{store: s, ids: ids} }

// Ask adds to pipe the commands that read the players who are not cached.
func (l *Lookup) Ask(ctx context.Context, pipe redis.Pipeliner) {
	l.found, l.pending = make(map[string]Player, len(l.ids)), map[string]*redis.SliceCmd{}
	for _, playerID := range l.ids {
		if !id.Valid(playerID) || l.pending[playerID] != nil {
			continue
		}
		if player, ok := l.store.players.Get(playerID); ok {
			l.found[playerID] = player
			continue
		}
		l.pending[playerID] = pipe.HMGet(ctx, playerKey(playerID), fields...)
	}
}

// Players returns those of the players that exist, by id. It is called after pipe
// was executed.
func (l *Lookup) Players() (map[string]Player, error) {
	for playerID, cmd := range l.pending {
		values, err := cmd.Result()
		if err != nil {
			return nil, fmt.Errorf("reading players: %w", err)
		}
		r, err := parseRecord(playerID, values)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		l.store.players.Add(playerID, r.Player)
		l.found[playerID] = r.Player
	}
	return l.found, nil
}

// fields of a player's hash, in the order in which parseRecord takes them.
var fields = []string{"name", "secret", "bot", "created"}

// record is a player's hash.
type record struct {
	Player
	secret string // digestOf(secret).String()
}

// parseRecord reads the values of fields. It returns ErrNotFound if there is no
// hash.
func parseRecord(playerID string, values []any) (record, error) {
	r := record{Player: Player{ID: playerID}}
	if len(values) >= len(fields) && values[0] == nil {
		return r, ErrNotFound
	}
	texts := make([]string, len(fields))
	for i := range fields {
		var ok bool
		if i < len(values) {
			texts[i], ok = values[i].(string)
		}
		if !ok {
			return r, fmt.Errorf("player %s is stored without %s", playerID, fields[i])
		}
	}
	created, err := strconv.ParseInt(texts[3], 10, 64)
	if err != nil {
		return r, fmt.Errorf("player %s was created at no time: %w", playerID, err)
	}
	r.Name, r.secret, r.Bot, r.Created = texts[0], texts[1], texts[2] == "1", time.UnixMilli(created).UTC()
	return r, nil
}

func playerKey(playerID string) string { return "player:{" + playerID + "}" }
func openKey(playerID string) string   { return playerKey(playerID) + ":open" }
func nameKey(lowerName string) string  { return "player-name:{" + lowerName + "}" }
