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

// hiddenKey holds the ids of the players who are hidden: what an operator said,
// and so nothing that could be derived again.
const hiddenKey = "hidden"

// Hide takes a player off all boards and keeps the player's results from them,
// until Unhide. Hiding twice does nothing more; after an error it is called
// again.
func (b *Boards) Hide(ctx context.Context, playerID string) error {
	// First, so that whoever records meanwhile sees it afterwards.
	if err := b.client.SAdd(ctx, hiddenKey, playerID).Err(); err != nil {
		return fmt.Errorf("hiding a player: %w", err)
	}
	return b.each(ctx, func(key string) error { return b.drop(ctx, key, playerID, "") })
}

// Unhide ends Hide. What was not recorded meanwhile has to be recorded again.
func (b *Boards) Unhide(ctx context.Context, playerID string) error {
	if err := b.client.SRem(ctx, hiddenKey, playerID).Err(); err != nil {
		return fmt.Errorf("hiding a player no more: %w", err)
	}
	return nil
}

// AnyHidden reports whether anybody is hidden.
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
				continue // What goes with a board.
			}
			if err := visit(key); err != nil {
				return err
			}
		}
		return nil
	})
}

// drop takes a player's member off the board of a key; an empty one stands for
// whichever it is.
func (b *Boards) drop(ctx context.Context, key, playerID, member string) error {
	if err := dropScript.Run(ctx, b.client, []string{key, bestKeyOf(key)}, playerID, member).Err(); err != nil {
		return fmt.Errorf("taking an entry off a board: %w", err)
	}
	return nil
}

// Prune takes off the boards what does not belong there: entries for which
// proved says no, and all of a player's but the one that counts as the best.
// What is missing then has to be recorded again. It returns how many it took
// off, and ends at the first error, also one of proved's.
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
