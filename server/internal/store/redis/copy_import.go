package redis

import (
	"context"
	"strconv"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/server/internal/store"
)

// Import writes a piece in one pipeline.
func (s copier) Import(ctx context.Context, p store.Piece) error {
	_, err := s.once.Pipelined(ctx, func(pipe goredis.Pipeliner) error {
		importGames(ctx, pipe, p.Games)
		importAccounts(ctx, pipe, p)
		importChallenges(ctx, pipe, p.Challenges)
		importBoards(ctx, pipe, p)
		for name, secret := range p.Secrets {
			pipe.Set(ctx, secretKey(name), secret, 0)
		}
		for _, credential := range p.Credentials {
			pipe.HSet(ctx, credentialsKey, credential.Name, timedText(credential.Created, credential.Digest))
		}
		for id, server := range p.Servers {
			pipe.HSet(ctx, serversKey, id, serverText(server))
		}
		return nil
	})
	return failed(err)
}

func importGames(ctx context.Context, pipe goredis.Pipeliner, games []store.GamePiece) {
	for _, g := range games {
		for _, r := range g.Entries {
			values := []any{"t", r.Time.UnixMilli(), "e", r.Raw}
			if len(r.Seed) > 0 {
				values = append(values, "s", r.Seed)
			}
			pipe.XAdd(ctx, &goredis.XAddArgs{Stream: logKey(g.GameID), ID: r.ID.String(), Values: values})
		}
		if g.Head == nil {
			continue
		}
		at := ""
		if !g.Head.Time.IsZero() {
			at = strconv.FormatInt(g.Head.Time.UnixMilli(), 10)
		}
		pipe.HSet(ctx, metaKey(g.GameID), "last", g.Head.Last.String(), "time", at, "head", g.Head.Encoded)
		expireAt(ctx, pipe, g.Head.Expires, logKey(g.GameID), metaKey(g.GameID))
	}
}

func importAccounts(ctx context.Context, pipe goredis.Pipeliner, p store.Piece) {
	for _, a := range p.Accounts {
		pipe.HSet(ctx, playerKey(a.ID), "name", a.Name, "secret", a.Secret, "bot", a.Bot, "created", a.Created.UnixMilli())
		expireAt(ctx, pipe, a.Expires, playerKey(a.ID))
	}
	for _, name := range p.Names {
		pipe.Set(ctx, nameKey(name.Name), name.AccountID, 0)
	}
	for _, k := range p.Keys {
		pipe.HSet(ctx, keysKey(k.PlayerID), k.Fingerprint, timedText(k.Added, k.Comment))
		pipe.Set(ctx, keyKey(k.Fingerprint), k.PlayerID, 0)
		expireAt(ctx, pipe, k.Expires, keysKey(k.PlayerID), keyKey(k.Fingerprint))
	}
	for _, open := range p.OpenGames {
		pipe.ZAdd(ctx, openKey(open.PlayerID), goredis.Z{Score: float64(open.Since.UnixMilli()), Member: open.GameID})
		expireAt(ctx, pipe, open.Expires, openKey(open.PlayerID))
	}
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

func importBoards(ctx context.Context, pipe goredis.Pipeliner, p store.Piece) {
	for _, b := range p.Boards {
		key := boardKey(b.Board)
		members, best := make([]goredis.Z, len(b.Entries)), make([]any, 0, 2*len(b.Entries))
		for i, e := range b.Entries {
			members[i] = goredis.Z{Score: float64(e.Score), Member: e.Member}
			best = append(best, e.PlayerID, e.Member)
		}
		if len(members) > 0 {
			pipe.ZAdd(ctx, key, members...)
			pipe.HSet(ctx, bestKey(key), best...)
		}
		expireAt(ctx, pipe, b.Board.Expires, key, bestKey(key))
	}
	if len(p.Hidden) > 0 {
		pipe.SAdd(ctx, hiddenKey, p.Hidden)
	}
}

// expireAt sets keys to expire at the given time, unless that is zero.
func expireAt(ctx context.Context, pipe goredis.Pipeliner, at time.Time, keys ...string) {
	if at.IsZero() {
		return
	}
	for _, key := range keys {
		pipe.PExpireAt(ctx, key, at)
	}
}
