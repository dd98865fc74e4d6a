package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/server/internal/store"
)

// incompleteKey exists while the store is not restored completely.
const incompleteKey = "games:incomplete-copy"

// Restore calls fill with a store without data. Until that has succeeded, nothing else can open the
// store. If the store has data and replace is not set, it changes nothing and returns
// store.ErrNotEmpty.
func Restore(ctx context.Context, s *store.Store, replace bool, fill func(*store.Store) error) error {
	d := s.Dumper.(dumper)
	switch keys, err := d.client.DBSize(ctx).Result(); {
	case err != nil:
		return failed(err)
	case keys > 0 && !replace:
		return fmt.Errorf("opening %s: %w", s.Name(), store.ErrNotEmpty)
	}
	if err := d.client.Set(ctx, incompleteKey, 1, 0).Err(); err != nil {
		return failed(err)
	}
	err := scanKeys(ctx, d.client, "*", func(keys []string) error {
		_, err := d.client.Pipelined(ctx, func(pipe goredis.Pipeliner) error {
			for _, key := range keys {
				if isOurs(key) && key != incompleteKey {
					pipe.Unlink(ctx, key)
				}
			}
			return nil
		})
		return failed(err)
	})
	if err == nil {
		err = fill(s)
	}
	if err == nil {
		err = checkFormat(ctx, d.client, s.Name(), store.Format)
	}
	if err == nil {
		err = failed(d.client.Del(ctx, incompleteKey).Err())
	}
	return err
}

// isOurs reports whether a key belongs to this program. A Redis database may also have
// keys of other programs.
func isOurs(key string) bool {
	prefix, _, found := strings.Cut(key, ":")
	switch prefix {
	case "game", "games", "scores", "player", "player-name", "rate", "challenge", "challenges":
		return found
	case queueKey, hiddenKey:
		return true
	default:
		return strings.HasSuffix(key, ":{beat}")
	}
}

// checkComplete returns an error if the store is not restored completely.
func checkComplete(ctx context.Context, c Clients) error {
	incomplete, err := c.Calls.Exists(ctx, incompleteKey).Result()
	if incomplete > 0 {
		return fmt.Errorf("%s was not restored completely: run \"gridstand-server restore --replace\" again", c.Name)
	}
	return failed(err)
}

// formatKey holds the version of the store's data, see store.Format. It is missing for
// version 1.
const formatKey = "games:format"

// checkFormat returns an error if the store's data needs a newer version of the program.
// Otherwise it stores that the data may have the given format from now on.
func checkFormat(ctx context.Context, client goredis.UniversalClient, name string, format int) error {
	stored, err := client.Get(ctx, formatKey).Int()
	if errors.Is(err, goredis.Nil) {
		stored, err = 1, nil
	}
	if err != nil {
		return failed(err)
	}
	if err := store.CheckFormat(stored); err != nil {
		return fmt.Errorf("opening %s: %w", name, err)
	}
	if stored < format {
		return failed(client.Set(ctx, formatKey, format, 0).Err())
	}
	return nil
}

// Restore writes the items in one pipeline. If a reply is lost, the client sends all of it again, and Redis
// refuses the entries that it has.
func (d dumper) Restore(ctx context.Context, items []store.Item) error {
	commands, err := d.client.Pipelined(ctx, func(pipe goredis.Pipeliner) error {
		for _, item := range items {
			restore(ctx, pipe, item)
		}
		return nil
	})
	const present = "The ID specified in XADD is equal or smaller"
	if goredis.HasErrorPrefix(err, present) {
		err = nil
		for _, c := range commands {
			if !goredis.HasErrorPrefix(c.Err(), present) {
				err = cmp.Or(err, c.Err())
			}
		}
	}
	return failed(err)
}

func restore(ctx context.Context, pipe goredis.Pipeliner, i store.Item) {
	switch {
	case i.Secret != nil:
		pipe.Set(ctx, secretKey(i.Secret.Name), i.Secret.Secret, 0)
	case i.Credential != nil:
		pipe.HSet(ctx, credentialsKey, i.Credential.Name, timedText(i.Credential.Created, i.Credential.Digest))
	case i.Hidden != nil:
		pipe.SAdd(ctx, hiddenKey, i.Hidden.PlayerID)
	case i.Server != nil:
		pipe.HSet(ctx, serversKey, i.Server.ServerID, serverText(i.Server.ServerHeartbeat))
	case i.Account != nil:
		a := i.Account
		pipe.HSet(ctx, playerKey(a.ID), accountValues(a.Account)...)
		expireAt(ctx, pipe, a.Expires, playerKey(a.ID))
	case i.Profile != nil:
		pipe.HSet(ctx, playerKey(i.Profile.PlayerID), "profile-revision", i.Profile.Revision, "profile", i.Profile.Encoded)
	case i.Name != nil:
		pipe.Set(ctx, nameKey(i.Name.Name), i.Name.AccountID, 0)
	case i.Key != nil:
		k := i.Key
		pipe.HSet(ctx, keysKey(k.PlayerID), k.Fingerprint, timedText(k.Added, k.Comment))
		pipe.Set(ctx, keyKey(k.Fingerprint), k.PlayerID, 0)
		expireAt(ctx, pipe, k.Expires, keysKey(k.PlayerID), keyKey(k.Fingerprint))
	case i.Session != nil:
		// The hash, which may also have sessions that never expire, expires once its account has been renewed.
		pipe.HSet(ctx, sessionsKey(i.Session.PlayerID), i.Session.ID, sessionText(*i.Session))
	case i.Challenge != nil:
		restoreChallenge(ctx, pipe, *i.Challenge)
	default:
		restoreGame(ctx, pipe, i)
	}
}

func restoreChallenge(ctx context.Context, pipe goredis.Pipeliner, c store.Challenge) {
	pipe.HSet(ctx, challengeKey(c.ID), challengeValues(c, c.Revision)...)
	expireAt(ctx, pipe, c.Expires, challengeKey(c.ID))
	if c.Listed {
		queueListed(ctx, pipe, c)
	}
}

// restoreGame writes a game's head, or entries of its log.
func restoreGame(ctx context.Context, pipe goredis.Pipeliner, i store.Item) {
	if h := i.Head; h != nil {
		pipe.HSet(ctx, metaKey(h.GameID), "last", h.Last.String(), "time", milliText(h.Time), "head", h.Encoded)
		expireAt(ctx, pipe, h.Expires, logKey(h.GameID), metaKey(h.GameID))
	}
	if i.Log == nil {
		return
	}
	for _, r := range i.Log.Entries {
		values := []any{"t", r.Time.UnixMilli(), "e", r.Raw}
		if len(r.Seed) > 0 {
			values = append(values, "s", r.Seed)
		}
		pipe.XAdd(ctx, &goredis.XAddArgs{Stream: logKey(i.Log.GameID), ID: r.ID.String(), Values: values})
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
