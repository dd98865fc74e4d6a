package account

import (
	"context"
	_ "embed" // For the script.
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed reserve_game.lua
var reserveSource string

var reserveScript = redis.NewScript(reserveSource)

// Reserve counts a game among a player's open ones, to be called before the
// game is created. At most limit are allowed, 0 for any number; one too many is
// ErrTooManyGames. Repeating it is harmless. The ids must have been checked.
//
// A game that was reserved but never created, or that ended while its server
// crashed, counts until it is released: on ErrTooManyGames, a caller should check
// OpenGames now and then.
func (s *Store) Reserve(ctx context.Context, playerID, gameID string, limit int) error {
	ok, err := reserveScript.Run(ctx, s.client, []string{openKey(playerID)},
		gameID, limit, s.keep.Milliseconds()).Bool()
	if err != nil {
		return fmt.Errorf("reserving a game: %w", err)
	}
	if !ok {
		return ErrTooManyGames
	}
	return nil
}

// Release takes games off a player's open ones. Releasing one that is not
// among them does nothing.
func (s *Store) Release(ctx context.Context, playerID string, gameIDs ...string) error {
	if len(gameIDs) == 0 {
		return nil
	}
	if err := s.client.ZRem(ctx, openKey(playerID), gameIDs).Err(); err != nil {
		return fmt.Errorf("releasing games: %w", err)
	}
	return nil
}

// OpenGame is a game that counts as open for a player.
type OpenGame struct {
	ID string
	// Age is the time since it was reserved, by Redis's clock.
	Age time.Duration
}

// OpenGames lists the games that count as open for a player, the oldest first.
// Reserve bounds their number.
func (s *Store) OpenGames(ctx context.Context, playerID string) ([]OpenGame, error) {
	pipe := s.client.Pipeline()
	games := pipe.ZRangeWithScores(ctx, openKey(playerID), 0, -1)
	now := pipe.Time(ctx)
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("reading open games: %w", err)
	}
	open := make([]OpenGame, len(games.Val()))
	for i, z := range games.Val() {
		gameID, _ := z.Member.(string)
		open[i] = OpenGame{gameID, now.Val().Sub(time.UnixMilli(int64(z.Score)))}
	}
	return open, nil
}
