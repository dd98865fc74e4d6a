package redis

import (
	"context"
	"errors"
	"strconv"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/server/internal/store"
)

// boards implements store.Boards. A board consists of two keys in one cluster slot (the
// braces are literal):
//
//	scores:{<variant>:<window>}       sorted set: score → member
//	scores:{<variant>:<window>}:best  hash: player ID → that player's member
//
// Redis orders equal scores by member, so a board is its sorted set in reverse order. The
// set "hidden" contains the IDs of the hidden players.
type boards struct{ client goredis.UniversalClient }

var (
	recordScore = newScript("record_score.lua")
	placeScore  = newScript("place_score.lua")
	dropScore   = newScript("drop_score.lua")
)

// hiddenKey is the set of hidden players. Unlike boards, it cannot be rebuilt from the
// logs.
const hiddenKey = "hidden"

func boardKey(b store.Board) string { return "scores:{" + b.Variant + ":" + b.Window + "}" }

// bestKey is the key of the hash that holds each player's best member on the board.
func bestKey(board string) string { return board + ":best" }

func boardEntry(member string, score int32) store.BoardEntry {
	_, rest, _ := strings.Cut(member, ":")
	playerID, _, _ := strings.Cut(rest, ":")
	return store.BoardEntry{PlayerID: playerID, Score: score, Member: member}
}

func boardEntries(members []goredis.Z) []store.BoardEntry {
	entries := make([]store.BoardEntry, len(members))
	for i, z := range members {
		member, _ := z.Member.(string)
		entries[i] = boardEntry(member, int32(z.Score))
	}
	return entries
}

func (b boards) Record(ctx context.Context, entry store.BoardEntry, boards ...store.Board) error {
	hidden, err := b.Hidden(ctx, entry.PlayerID)
	if err != nil || hidden[entry.PlayerID] {
		return err
	}
	for _, board := range boards {
		expires := int64(0)
		if !board.Expires.IsZero() {
			expires = board.Expires.Unix()
		}
		key := boardKey(board)
		err := recordScore.Run(ctx, b.client, []string{key, bestKey(key)}, entry.PlayerID, entry.Score, entry.Member, expires).Err()
		if err != nil {
			return failed(err)
		}
	}
	// A concurrent Hide may have cleared the boards before this entry was added to them.
	if hidden, err = b.Hidden(ctx, entry.PlayerID); err != nil || !hidden[entry.PlayerID] {
		return err
	}
	for _, board := range boards {
		if err := b.drop(ctx, boardKey(board), entry.PlayerID); err != nil {
			return err
		}
	}
	return nil
}

// Page reads everything in one round trip.
func (b boards) Page(ctx context.Context, board store.Board, first int64, n int) (store.BoardPage, error) {
	pipe, key := b.client.Pipeline(), boardKey(board)
	members := pipe.ZRevRangeWithScores(ctx, key, first, first+int64(n)-1)
	total := pipe.ZCard(ctx, key)
	if _, err := pipe.Exec(ctx); err != nil {
		return store.BoardPage{}, failed(err)
	}
	return store.BoardPage{Entries: boardEntries(members.Val()), Total: total.Val()}, nil
}

func (b boards) Place(ctx context.Context, board store.Board, playerID string) (place int64, found bool, err error) {
	key := boardKey(board)
	place, err = placeScore.RunRO(ctx, b.client, []string{key, bestKey(key)}, playerID).Int64()
	if errors.Is(err, goredis.Nil) {
		return 0, false, nil
	}
	return place, err == nil, failed(err)
}

func (b boards) AtLeast(ctx context.Context, board store.Board, scores ...int32) ([]int64, error) {
	pipe, replies := b.client.Pipeline(), make([]*goredis.IntCmd, len(scores))
	for i, score := range scores {
		replies[i] = pipe.ZCount(ctx, boardKey(board), strconv.Itoa(int(score)), "+inf")
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, failed(err)
	}
	return convert.All(replies, (*goredis.IntCmd).Val), nil
}

func (b boards) Hide(ctx context.Context, playerID string) error {
	// Mark the player as hidden first, so that a concurrent Record notices in its second
	// check.
	if err := b.client.SAdd(ctx, hiddenKey, playerID).Err(); err != nil {
		return failed(err)
	}
	return b.each(ctx, func(key string) error { return b.drop(ctx, key, playerID) })
}

func (b boards) Unhide(ctx context.Context, playerID string) error {
	return failed(b.client.SRem(ctx, hiddenKey, playerID).Err())
}

func (b boards) Hidden(ctx context.Context, playerIDs ...string) (map[string]bool, error) {
	if len(playerIDs) == 0 {
		return nil, nil
	}
	are, err := b.client.SMIsMember(ctx, hiddenKey, playerIDs).Result()
	hidden := map[string]bool{}
	for i, is := range are {
		if is {
			hidden[playerIDs[i]] = true
		}
	}
	return hidden, failed(err)
}

// each calls visit with the key of every board. It stops at the first error, including one
// from visit.
func (b boards) each(ctx context.Context, visit func(key string) error) error {
	return scanKeys(ctx, b.client, boardKey(store.Board{Variant: "*", Window: "*"}), func(keys []string) error {
		for _, key := range keys {
			if err := visit(key); err != nil {
				return err
			}
		}
		return nil
	})
}

// drop removes a player from the board at key.
func (b boards) drop(ctx context.Context, key, playerID string) error {
	return failed(dropScore.Run(ctx, b.client, []string{key, bestKey(key)}, playerID).Err())
}

// Clear removes the keys of a board in one command, so that they always agree.
func (b boards) Clear(ctx context.Context) error {
	return b.each(ctx, func(key string) error {
		return failed(b.client.Unlink(ctx, key, bestKey(key)).Err())
	})
}
