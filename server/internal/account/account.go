// Package account manages player accounts: their names, tokens, sessions and SSH keys. It also
// manages the service credentials of SSH hosts.
//
// Unless documented otherwise, errors come from the store or the context.
package account

import (
	"context"
	"errors"
	"fmt"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/store"
)

var (
	// ErrNotFound is returned for a player that does not exist.
	ErrNotFound = store.ErrNoAccount
	// ErrNameTaken is returned for a name that belongs to another account.
	ErrNameTaken = store.ErrNameHeld
	// ErrNameReserved is returned for a name that new accounts cannot take.
	ErrNameReserved = errors.New("the name is reserved")
	// ErrBadToken is returned for a token that is malformed, unknown or wrong.
	ErrBadToken = errors.New("bad token")
)

// Player is the public part of an account. Only Name and Renamed ever change.
type Player struct {
	// Player is the part that games and challenges record. ID is the id of the account; see package id. Name is
	// the name as its owner wrote it: 1 to 24 harmless ASCII characters.
	replay.Player
	// Created is when the account was created, by the store's clock, to the millisecond.
	Created time.Time
	// Renamed is when the account got its present name, or the zero time if that is its first.
	Renamed time.Time
}

// cacheSize is the maximum number of entries of each cache. A full cache takes about 15 MB.
const cacheSize = 1 << 16

// Store manages the accounts in a store. Any number of Stores, in any number of processes,
// may use the same underlying store. Store is safe for concurrent use.
type Store struct {
	accounts store.Accounts
	keep     time.Duration
	// players caches players that have been read, by id, for verifiedFor: a new name reaches
	// every server by then.
	players *lru.Cache[string, verification]
	// renewed records when each account, and each session, was last renewed, by its id.
	renewed *lru.Cache[string, time.Time]
}

// New returns a Store that manages the accounts in a store. An account expires if, for the
// duration keep, its token is not verified and Renew is not called. The account is then
// deleted, but its name stays taken. If keep is 0, accounts never expire.
func New(accounts store.Accounts, keep time.Duration) *Store {
	return &Store{
		accounts: accounts, keep: keep,
		players: newCache[string, verification](), renewed: newCache[string, time.Time](),
	}
}

func newCache[K comparable, V any]() *lru.Cache[K, V] {
	cache, _ := lru.New[K, V](cacheSize) // fails only for a size below 1
	return cache
}

// Get returns the player with the given id, or ErrNotFound. It does not look up malformed
// ids.
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

// Players returns the players with the given ids, by id, with at most one store call. It
// omits players that do not exist, and does not look up malformed ids.
func (s *Store) Players(ctx context.Context, ids []string) (map[string]Player, error) {
	players, unknown := make(map[string]Player, len(ids)), make([]string, 0, len(ids))
	for _, playerID := range ids {
		if !id.Valid(playerID) {
			continue
		}
		if player, ok := s.known(playerID); ok {
			players[playerID] = player
			continue
		}
		unknown = append(unknown, playerID)
	}
	if len(unknown) == 0 {
		return players, nil
	}
	now := time.Now()
	accounts, err := s.accounts.Get(ctx, unknown)
	if err != nil {
		return nil, fmt.Errorf("reading players: %w", err)
	}
	for playerID, a := range accounts {
		players[playerID] = playerOf(a)
		s.remember(players[playerID], now)
	}
	return players, nil
}

// known returns a player that was read recently.
func (s *Store) known(playerID string) (Player, bool) {
	v, ok := s.players.Get(playerID)
	return v.player, ok && time.Now().Before(v.until)
}

// latest returns a cached player as last read, since the player may have been renamed.
func (s *Store) latest(p Player) Player {
	if player, ok := s.known(p.ID); ok {
		return player
	}
	return p
}

// remember caches a player that was read at the given time.
func (s *Store) remember(p Player, at time.Time) {
	s.players.Add(p.ID, verification{player: p, until: at.Add(verifiedFor)})
}

// playerOf returns the public part of an account.
func playerOf(a store.Account) Player {
	return Player{replay.Player{ID: a.ID, Name: a.Name, Bot: a.Bot}, a.Created, a.Renamed}
}
