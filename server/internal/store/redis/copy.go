package redis

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/server/internal/store"
)

// copier implements store.Copier.
type copier struct {
	client goredis.UniversalClient
	once   goredis.UniversalClient // for commands that must not be retried, such as XADD
}

const (
	// exportGames is the number of games to read at a time, and exportEntries the number
	// of entries to read from each at first. The rest of a longer log is read exportLong
	// entries at a time.
	exportGames   = 50
	exportEntries = 100
	exportLong    = 2000
)

func (s copier) Empty(ctx context.Context) (bool, error) {
	var keys atomic.Int64
	err := eachMaster(ctx, s.client, func(ctx context.Context, node *goredis.Client) error {
		n, err := node.DBSize(ctx).Result()
		keys.Add(n)
		return err
	})
	return keys.Load() == 0, failed(err)
}

// incompleteKey exists while the store is an incomplete copy.
const incompleteKey = "games:incomplete-copy"

func (s copier) Begin(ctx context.Context) error {
	return failed(s.client.Set(ctx, incompleteKey, 1, 0).Err())
}

func (s copier) Finish(ctx context.Context) error {
	return failed(s.client.Del(ctx, incompleteKey).Err())
}

func (s copier) Export(ctx context.Context, visit func(store.Piece) error) error {
	for _, export := range []func(context.Context, func(store.Piece) error) error{
		s.exportSecrets, s.exportCredentials, s.exportHidden, s.exportHeartbeats,
		s.exportAccounts, s.exportKeys, s.exportNames, s.exportOpenGames, s.exportGames, s.exportLostLogs,
		s.exportChallenges, s.exportBoards,
	} {
		if err := export(ctx, visit); err != nil {
			return err
		}
	}
	return nil
}

func (s copier) exportSecrets(ctx context.Context, visit func(store.Piece) error) error {
	return scanKeys(ctx, s.client, secretKey("*"), func(keys []string) error {
		secrets := map[string][]byte{}
		for _, key := range keys {
			secret, err := s.client.Get(ctx, key).Bytes()
			if err != nil {
				return failed(err)
			}
			secrets[between(key, secretKey("*"))] = secret
		}
		return visit(store.Piece{Secrets: secrets})
	})
}

// between returns the part of a key that matches the "*" in pattern.
func between(key, pattern string) string {
	before, after, _ := strings.Cut(pattern, "*")
	return strings.TrimSuffix(strings.TrimPrefix(key, before), after)
}

func (s copier) exportCredentials(ctx context.Context, visit func(store.Piece) error) error {
	all, err := credentials{s.client}.All(ctx)
	if err != nil {
		return err
	}
	return visit(store.Piece{Credentials: all})
}

func (s copier) exportHidden(ctx context.Context, visit func(store.Piece) error) error {
	hidden, err := s.client.SMembers(ctx, hiddenKey).Result()
	if err != nil || len(hidden) == 0 {
		return failed(err)
	}
	return visit(store.Piece{Hidden: hidden})
}

func (s copier) exportHeartbeats(ctx context.Context, visit func(store.Piece) error) error {
	h := heartbeats{s.client}
	now, err := h.Servers(ctx)
	if err != nil {
		return err
	}
	return visit(store.Piece{Servers: now.Servers})
}

func (s copier) exportAccounts(ctx context.Context, visit func(store.Piece) error) error {
	return scanKeys(ctx, s.client, playerKey("*"), func(keys []string) error {
		pipe, fields, expires := s.client.Pipeline(), make([]*goredis.SliceCmd, len(keys)), make([]*goredis.DurationCmd, len(keys))
		for i, key := range keys {
			fields[i], expires[i] = pipe.HMGet(ctx, key, accountFields...), pipe.PExpireTime(ctx, key)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return failed(err)
		}
		var piece store.Piece
		for i, key := range keys {
			account, ok, err := parseAccount(between(key, playerKey("*")), fields[i].Val())
			if err != nil {
				return err
			}
			if ok {
				piece.Accounts = append(piece.Accounts, store.ExportedAccount{Account: account, Expires: expiryOf(expires[i])})
			}
		}
		return visit(piece)
	})
}

// expiryOf returns the time at which a key expires, or zero if it never does.
func expiryOf(reply *goredis.DurationCmd) time.Time {
	if reply.Val() <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(reply.Val().Milliseconds()).UTC()
}

// exportKeys exports the SSH keys. It skips keys whose account has expired, and keys that
// are only partly linked.
func (s copier) exportKeys(ctx context.Context, visit func(store.Piece) error) error {
	return scanKeys(ctx, s.client, keysKey("*"), func(names []string) error {
		var piece store.Piece
		for _, name := range names {
			playerID := between(name, keysKey("*"))
			all, err := keys{accounts{s.client}}.Keys(ctx, playerID)
			if err != nil {
				return err
			}
			expires := s.client.PExpireTime(ctx, playerKey(playerID))
			if err := expires.Err(); err != nil {
				return failed(err)
			}
			for _, key := range all {
				owner, ok, err := keys{accounts{s.client}}.Owner(ctx, key.Fingerprint)
				if err != nil {
					return err
				}
				if ok && owner.ID == playerID {
					piece.Keys = append(piece.Keys, store.ExportedKey{Key: key, Expires: expiryOf(expires)})
				}
			}
		}
		return visit(piece)
	})
}

// exportNames exports the held names. It skips names that are only claimed temporarily.
func (s copier) exportNames(ctx context.Context, visit func(store.Piece) error) error {
	return scanKeys(ctx, s.client, nameKey("*"), func(keys []string) error {
		pipe, holders, expires := s.client.Pipeline(), make([]*goredis.StringCmd, len(keys)), make([]*goredis.DurationCmd, len(keys))
		for i, key := range keys {
			holders[i], expires[i] = pipe.Get(ctx, key), pipe.PExpireTime(ctx, key)
		}
		_, _ = pipe.Exec(ctx) // The loop below checks each command's error: a claim may have expired.
		var piece store.Piece
		for i, key := range keys {
			if err := expires[i].Err(); err != nil {
				return failed(err)
			}
			if expires[i].Val() == -1 {
				piece.Names = append(piece.Names, store.HeldName{Name: between(key, nameKey("*")), AccountID: holders[i].Val()})
			}
		}
		return visit(piece)
	})
}

func (s copier) exportOpenGames(ctx context.Context, visit func(store.Piece) error) error {
	return scanKeys(ctx, s.client, openKey("*"), func(keys []string) error {
		pipe, games, expires := s.client.Pipeline(), make([]*goredis.ZSliceCmd, len(keys)), make([]*goredis.DurationCmd, len(keys))
		for i, key := range keys {
			games[i], expires[i] = pipe.ZRangeWithScores(ctx, key, 0, -1), pipe.PExpireTime(ctx, key)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return failed(err)
		}
		var piece store.Piece
		for i, key := range keys {
			for _, z := range games[i].Val() {
				gameID, _ := z.Member.(string)
				piece.OpenGames = append(piece.OpenGames, store.ExportedOpenGame{
					PlayerID: between(key, openKey("*")), GameID: gameID,
					Since: time.UnixMilli(int64(z.Score)).UTC(), Expires: expiryOf(expires[i]),
				})
			}
		}
		return visit(piece)
	})
}

func (s copier) exportGames(ctx context.Context, visit func(store.Piece) error) error {
	visited := map[string]bool{} // a scan may return a key twice
	return scanKeys(ctx, s.client, logKey("*"), func(keys []string) error {
		keys = slices.DeleteFunc(keys, func(key string) bool {
			twice := visited[key]
			visited[key] = true
			return twice
		})
		for batch := range slices.Chunk(keys, exportGames) {
			if err := s.exportLogs(ctx, batch, visit); err != nil {
				return err
			}
		}
		return nil
	})
}

// exportLogs exports the games with the given logs, leaving long logs for last.
func (s copier) exportLogs(ctx context.Context, keys []string, visit func(store.Piece) error) error {
	pipe := s.client.Pipeline()
	games, messages := make([]*exportedGame, len(keys)), make([]*goredis.XMessageSliceCmd, len(keys))
	for i, key := range keys {
		id := between(key, logKey("*"))
		games[i] = &exportedGame{id: id, meta: pipe.HMGet(ctx, metaKey(id), "last", "time", "head"), expires: pipe.PExpireTime(ctx, key)}
		messages[i] = pipe.XRangeN(ctx, key, "-", "+", exportEntries)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return failed(err)
	}
	var (
		piece store.Piece
		long  []*exportedGame
	)
	for i, g := range games {
		part := g.part(messages[i].Val(), exportEntries)
		if part.Head == nil {
			long = append(long, g)
		}
		piece.Games = append(piece.Games, part)
	}
	if err := visit(piece); err != nil {
		return err
	}
	for _, g := range long {
		for more := true; more; {
			found, err := s.client.XRangeN(ctx, logKey(g.id), strconv.Itoa(int(g.last)+1), "+", exportLong).Result()
			if err != nil {
				return failed(err)
			}
			part := g.part(found, exportLong)
			if err := visit(store.Piece{Games: []store.GamePiece{part}}); err != nil {
				return err
			}
			more = part.Head == nil
		}
	}
	return nil
}

// exportLostLogs exports the heads of games that have no log: the log is lost, or the
// game was quarantined before its first entry.
func (s copier) exportLostLogs(ctx context.Context, visit func(store.Piece) error) error {
	return scanKeys(ctx, s.client, metaKey("*"), func(keys []string) error {
		pipe, logs, games := s.client.Pipeline(), make([]*goredis.IntCmd, len(keys)), make([]*exportedGame, len(keys))
		for i, key := range keys {
			id := between(key, metaKey("*"))
			logs[i] = pipe.Exists(ctx, logKey(id))
			games[i] = &exportedGame{id: id, meta: pipe.HMGet(ctx, key, "last", "time", "head"), expires: pipe.PExpireTime(ctx, key)}
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return failed(err)
		}
		var piece store.Piece
		for i, g := range games {
			// A meta that contains only watchers is left over from an expired game.
			if logs[i].Val() == 0 && stringAt(g.meta.Val(), 0) != "" {
				piece.Games = append(piece.Games, g.part(nil, 1))
			}
		}
		return visit(piece)
	})
}

// exportedGame is a game whose log is exported in parts.
type exportedGame struct {
	id      string
	meta    *goredis.SliceCmd
	expires *goredis.DurationCmd
	first   store.Record
	last    int32 // version of the last exported entry
}

// part returns the next part of the game, with up to n entries. The last part includes
// the head.
func (g *exportedGame) part(messages []goredis.XMessage, n int) store.GamePiece {
	part := store.GamePiece{GameID: g.id}
	damaged := false
	for _, m := range messages {
		r, err := parseRecord(m)
		if damaged = err != nil || r.ID.Version <= g.last; damaged {
			break
		}
		if g.last == 0 {
			g.first = r
		}
		g.last, part.Entries = r.ID.Version, append(part.Entries, r)
	}
	if len(messages) < n || damaged {
		part.Head = g.head()
		if damaged {
			part.Head.Last = store.Quarantined
		}
	}
	return part
}

func (g *exportedGame) head() *store.ExportedHead {
	field := func(n int) string { return stringAt(g.meta.Val(), n) }
	h := &store.ExportedHead{Last: idOrNone(field(0)), Encoded: []byte(field(2)), Expires: expiryOf(g.expires)}
	h.Time, _ = parseTime(field(1))
	switch {
	case field(0) == "":
		// A missing head is exported like an outdated one, which readers mend later.
		h.Last, h.Time = g.first.ID, g.first.Time
	case h.Last.Version < 0:
		h.Last = store.Quarantined
	}
	return h
}

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

func (s copier) exportBoards(ctx context.Context, visit func(store.Piece) error) error {
	b := boards{s.client}
	return b.Boards(ctx, func(board store.Board) error {
		expires := s.client.PExpireTime(ctx, boardKey(board))
		if err := expires.Err(); err != nil {
			return failed(err)
		}
		board.Expires = expiryOf(expires)
		return b.Entries(ctx, board, func(entries []store.BoardEntry) error {
			return visit(store.Piece{Boards: []store.BoardPiece{{Board: board, Entries: entries}}})
		})
	})
}
