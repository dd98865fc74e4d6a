// Package account keeps the players: who they are, the tokens that prove it,
// and how many games each has open.
//
// All errors but its own are those of the store, or the context's, wrapped.
package account

import (
	"context"
	"errors"
	"fmt"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/store"
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
	// Created is when the account was created, by the store's clock, to
	// the millisecond.
	Created time.Time
}

// cacheSize bounds each of a store's caches: some 15 MB when full.
const cacheSize = 1 << 16

// Store is the accounts in a store. Any number of them, in any number of processes,
// may work on the same one. All methods may be called concurrently.
type Store struct {
	accounts store.Accounts
	keep     time.Duration
	// players that were read before. They never expire, since none changes.
	players *lru.Cache[string, Player]
	// verified tokens, by their digest so that no secret is kept in memory.
	verified *lru.Cache[digest, verification]
	// renewed is when each player's account was last renewed.
	renewed *lru.Cache[string, time.Time]
}

// New returns the accounts in a store. An account expires if its token was not
// verified and Renew was not called for the duration of keep: then it is deleted, but
// its name stays taken. If keep is 0, accounts never expire.
func New(accounts store.Accounts, keep time.Duration) *Store {
	return &Store{
		accounts: accounts, keep: keep,
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

// Players returns those of the players that exist, by id, in at most one call of the
// store. Malformed ids are not looked up.
func (s *Store) Players(ctx context.Context, ids []string) (map[string]Player, error) {
	players, unknown := make(map[string]Player, len(ids)), make([]string, 0, len(ids))
	for _, playerID := range ids {
		if !id.Valid(playerID) {
			continue
		}
		if player, ok := s.players.Get(playerID); ok {
			players[playerID] = player
			continue
		}
		unknown = append(unknown, playerID)
	}
	if len(unknown) == 0 {
		return players, nil
	}
	accounts, err := s.accounts.Get(ctx, unknown)
	if err != nil {
		return nil, fmt.Errorf("reading players: %w", err)
	}
	for playerID, a := range accounts {
		players[playerID] = playerOf(a)
		s.players.Add(playerID, players[playerID])
	}
	return players, nil
}

// playerOf returns the public part of an account.
func playerOf(a store.Account) Player {
	return Player{ID: a.ID, Name: a.Name, Bot: a.Bot, Created: a.Created}
}
