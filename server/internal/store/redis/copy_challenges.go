package redis

import (
	"context"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/server/internal/store"
)

func (s copier) exportChallenges(ctx context.Context, visit func(store.Piece) error) error {
	return scanKeys(ctx, s.client, challengeKey("*"), func(keys []string) error {
		ids := make([]string, len(keys))
		for i, key := range keys {
			ids[i] = between(key, challengeKey("*"))
		}
		found, _, err := challenges{client: s.client}.Get(ctx, ids...)
		if err != nil {
			return err
		}
		var piece store.Piece
		for _, c := range found {
			piece.Challenges = append(piece.Challenges, c)
		}
		return visit(piece)
	})
}

func importChallenges(ctx context.Context, pipe goredis.Pipeliner, all []store.Challenge) {
	for _, c := range all {
		pipe.HSet(ctx, challengeKey(c.ID), "revision", c.Revision, "kind", int(c.Kind), "listed", c.Listed,
			"created", c.Created.UnixMilli(), "expires", c.Expires.UnixMilli(), "encoded", c.Encoded)
		expireAt(ctx, pipe, c.Expires, challengeKey(c.ID))
		if c.Listed {
			queueListed(ctx, pipe, c)
		}
	}
}
