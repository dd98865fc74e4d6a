package leaderboard

import (
	"context"
	_ "embed" // For the script.
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/server/internal/scan"
)

//go:embed drop.lua
var dropSource string

var dropScript = redis.NewScript(dropSource)

// hiddenKey holds the ids of the players whom an operator hid. It cannot be rebuilt
// from the log.
const hiddenKey = "hidden"

// Hide removes a player from all boards and keeps the player's results off them until
// Unhide. It is idempotent; after an error it is retried.
func (b *Boards) Hide(ctx context.Context, playerID string) error {
	// First, so that a concurrent Record sees it in its second check.
	if err := b.client.SAdd(ctx, hiddenKey, playerID).Err(); err != nil {
		return fmt.Errorf("hiding a player: %w", err)
	}
	return b.each(ctx, func(key string) error { return b.drop(ctx, key, playerID, "") })
}

// Unhide ends Hide. Results that were not recorded in between must be recorded again.
func (b *Boards) Unhide(ctx context.Context, playerID string) error {
	if err := b.client.SRem(ctx, hiddenKey, playerID).Err(); err != nil {
		return fmt.Errorf("hiding a player no more: %w", err)
	}
	return nil
}

// AnyHidden reports whether any player is hidden.
func (b *Boards) AnyHidden(ctx context.Context) (bool, error) {
	n, err := b.client.SCard(ctx, hiddenKey).Result()
	if err != nil {
		return false, fmt.Errorf("reading who is hidden: %w", err)
	}
	return n > 0, nil
}

// Hidden returns those of the players who are hidden.
func (b *Boards) Hidden(ctx context.Context, playerIDs ...string) (map[string]bool, error) {
	if len(playerIDs) == 0 {
		return nil, nil
	}
	are, err := b.client.SMIsMember(ctx, hiddenKey, playerIDs).Result()
	if err != nil {
		return nil, fmt.Errorf("reading who is hidden: %w", err)
	}
	hidden := map[string]bool{}
	for i, is := range are {
		if is {
			hidden[playerIDs[i]] = true
		}
	}
	return hidden, nil
}

// each calls visit with the key of every board that there is.
func (b *Boards) each(ctx context.Context, visit func(key string) error) error {
	return scan.Keys(ctx, b.client, "scores:{*}", func(keys []string) error {
		for _, key := range keys {
			if !strings.HasSuffix(key, "}") {
				continue // a board's :best
			}
			if err := visit(key); err != nil {
				return err
			}
		}
		return nil
	})
}

// drop removes a player's member from the board of a key; an empty member stands for
// any.
func (b *Boards) drop(ctx context.Context, key, playerID, member string) error {
	if err := dropScript.Run(ctx, b.client, []string{key, bestKeyOf(key)}, playerID, member).Err(); err != nil {
		return fmt.Errorf("taking an entry off a board: %w", err)
	}
	return nil
}

// Prune removes from the boards entries for which proved returns false, and all of a
// player's entries but the best. The caller records again what is missing then. It
// returns how many it removed, and ends at the first error, also one of proved's.
func (b *Boards) Prune(ctx context.Context, proved func(Result) (bool, error)) (int, error) {
	pruned := 0
	err := b.each(ctx, func(key string) error {
		variant, _, _ := strings.Cut(strings.TrimPrefix(key, "scores:{"), ":")
		return scan.Members(ctx, b.client, key, func(members []redis.Z) error {
			for _, z := range members {
				member, _ := z.Member.(string)
				entry, err := parseMember(member)
				if err != nil {
					return err
				}
				best, err := b.client.HGet(ctx, bestKeyOf(key), entry.PlayerID).Result()
				if err != nil && !errors.Is(err, redis.Nil) {
					return fmt.Errorf("reading a board: %w", err)
				}
				ok := best == member
				if ok {
					ok, err = proved(Result{
						Variant: variant, PlayerID: entry.PlayerID, GameID: entry.GameID, Score: int32(z.Score), Time: entry.Time,
					})
					if err != nil {
						return err
					}
				}
				if ok {
					continue
				}
				if err := b.drop(ctx, key, entry.PlayerID, member); err != nil {
					return err
				}
				pruned++
			}
			return nil
		})
	})
	return pruned, err
}
