package redis

import (
	"context"
	"errors"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/server/internal/store"
)

// dumper implements store.Dumper. The dump is consistent only if no server is running.
type dumper struct{ client goredis.UniversalClient }

// dumpEntries is the number of entries to read at a time.
const dumpEntries = 1000

func (d dumper) Dump(ctx context.Context, put func(store.Item) error) error {
	for _, dump := range []func(context.Context, func(store.Item) error) error{
		d.dumpSecrets, d.dumpServers, d.dumpAccounts, d.dumpNames, d.dumpKeys, d.dumpSessions, d.dumpChallenges, d.dumpGames,
	} {
		if err := dump(ctx, put); err != nil {
			return err
		}
	}
	return nil
}

// scan reads all keys that match a pattern. For each key, read queues commands in a
// pipeline, and returns a function that is called with their replies. id is the part of
// the key that matches the "*" in the pattern.
func (d dumper) scan(ctx context.Context, pattern string, read func(pipe goredis.Pipeliner, id string) (then func() error)) error {
	return scanKeys(ctx, d.client, pattern, func(keys []string) error {
		pipe, then := d.client.Pipeline(), make([]func() error, len(keys))
		for i, key := range keys {
			then[i] = read(pipe, between(key, pattern))
		}
		if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, goredis.Nil) {
			return failed(err)
		}
		for _, then := range then {
			if err := then(); err != nil {
				return err
			}
		}
		return nil
	})
}

// between returns the part of a key that matches the "*" in pattern.
func between(key, pattern string) string {
	before, after, _ := strings.Cut(pattern, "*")
	return strings.TrimSuffix(strings.TrimPrefix(key, before), after)
}

// expiryOf returns the time at which a key expires, or zero if it never does.
func expiryOf(reply *goredis.DurationCmd) time.Time {
	if reply.Val() <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(reply.Val().Milliseconds()).UTC()
}

// dumpSecrets dumps secrets, credentials and hidden players.
func (d dumper) dumpSecrets(ctx context.Context, put func(store.Item) error) error {
	err := d.scan(ctx, secretKey("*"), func(pipe goredis.Pipeliner, name string) func() error {
		secret := pipe.Get(ctx, secretKey(name))
		return func() error {
			return put(store.Item{Secret: &store.DumpedSecret{Name: name, Secret: []byte(secret.Val())}})
		}
	})
	if err != nil {
		return err
	}
	all, err := credentials(d).All(ctx)
	for _, c := range all {
		if err == nil {
			err = put(store.Item{Credential: &c})
		}
	}
	if err != nil {
		return err
	}
	hidden, err := d.client.SMembers(ctx, hiddenKey).Result()
	err = failed(err)
	for _, id := range hidden {
		if err == nil {
			err = put(store.Item{Hidden: &store.DumpedPlayer{PlayerID: id}})
		}
	}
	return err
}

func (d dumper) dumpServers(ctx context.Context, put func(store.Item) error) error {
	now, err := heartbeats{client: d.client}.Servers(ctx)
	for id, server := range now.Servers {
		if err == nil {
			err = put(store.Item{Server: &store.DumpedServer{ServerID: id, ServerHeartbeat: server}})
		}
	}
	return err
}

func (d dumper) dumpAccounts(ctx context.Context, put func(store.Item) error) error {
	return d.scan(ctx, playerKey("*"), func(pipe goredis.Pipeliner, id string) func() error {
		key := playerKey(id)
		fields, expires := pipe.HMGet(ctx, key, accountFields...), pipe.PExpireTime(ctx, key)
		profileOf := pipe.HMGet(ctx, key, profileFields...)
		return func() error {
			account, ok, err := parseAccount(id, fields.Val())
			if err != nil || !ok {
				return err
			}
			err = put(store.Item{Account: &store.DumpedAccount{Account: account, Expires: expiryOf(expires)}})
			if p := parseProfile(profileOf.Val()); err == nil && p.Revision > 0 {
				err = put(store.Item{Profile: &store.DumpedProfile{PlayerID: id, Profile: p}})
			}
			return err
		}
	})
}

// dumpNames dumps the held names. It skips names that are only claimed temporarily.
func (d dumper) dumpNames(ctx context.Context, put func(store.Item) error) error {
	return d.scan(ctx, nameKey("*"), func(pipe goredis.Pipeliner, name string) func() error {
		holder, expires := pipe.Get(ctx, nameKey(name)), pipe.PExpireTime(ctx, nameKey(name))
		return func() error {
			switch err := holder.Err(); {
			case errors.Is(err, goredis.Nil) || err == nil && expires.Val() != -1:
				return nil
			case err != nil:
				return failed(err)
			}
			return put(store.Item{Name: &store.HeldName{Name: name, AccountID: holder.Val()}})
		}
	})
}

// dumpKeys dumps the SSH keys. It skips keys whose account has expired, and keys that are
// only partly linked.
func (d dumper) dumpKeys(ctx context.Context, put func(store.Item) error) error {
	return d.scan(ctx, keysKey("*"), func(pipe goredis.Pipeliner, playerID string) func() error {
		expires := pipe.PExpireTime(ctx, playerKey(playerID))
		return func() error {
			all, err := keys{accounts(d)}.Keys(ctx, playerID)
			for _, key := range all {
				if err == nil {
					err = put(store.Item{Key: &store.DumpedKey{Key: key, Expires: expiryOf(expires)}})
				}
			}
			return err
		}
	})
}

// dumpSessions dumps the sessions of the accounts that exist.
func (d dumper) dumpSessions(ctx context.Context, put func(store.Item) error) error {
	return d.scan(ctx, sessionsKey("*"), func(_ goredis.Pipeliner, playerID string) func() error {
		return func() error {
			all, err := sessions{accounts(d)}.all(ctx, playerID)
			for _, session := range all {
				if err == nil {
					err = put(store.Item{Session: &session})
				}
			}
			return err
		}
	})
}

func (d dumper) dumpChallenges(ctx context.Context, put func(store.Item) error) error {
	return d.scan(ctx, challengeKey("*"), func(pipe goredis.Pipeliner, id string) func() error {
		fields := pipe.HMGet(ctx, challengeKey(id), challengeFields...)
		return func() error {
			c, ok, err := parseChallenge(id, fields.Val())
			if err != nil || !ok {
				return err
			}
			return put(store.Item{Challenge: &c})
		}
	})
}

// dumpGames dumps the games that have a log, and then the heads of those that have none:
// their log is lost, or they were quarantined before their first entry.
func (d dumper) dumpGames(ctx context.Context, put func(store.Item) error) error {
	dumped := map[string]bool{} // a scan may return a key twice
	for _, key := range []func(gameID string) string{logKey, metaKey} {
		err := d.scan(ctx, key("*"), func(pipe goredis.Pipeliner, id string) func() error {
			if dumped[id] {
				return func() error { return nil }
			}
			dumped[id] = true
			meta, expires := pipe.HMGet(ctx, metaKey(id), "last", "time", "head"), pipe.PExpireTime(ctx, key(id))
			return func() error {
				head := &store.DumpedHead{
					GameID: id, Last: idOrNone(stringAt(meta.Val(), 0)),
					Encoded: []byte(stringAt(meta.Val(), 2)), Expires: expiryOf(expires),
				}
				head.Time, _ = parseTime(stringAt(meta.Val(), 1))
				if head.Last.Version < 0 {
					head.Last = store.Quarantined
				}
				return d.dumpGame(ctx, put, head)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// dumpGame dumps a game, given its head.
func (d dumper) dumpGame(ctx context.Context, put func(store.Item) error, head *store.DumpedHead) error {
	for last, n := int32(0), dumpEntries; n == dumpEntries; {
		entries, err := (&games{reads: d.client}).Entries(ctx, head.GameID, last+1, dumpEntries)
		if _, damaged := errors.AsType[*store.CorruptError](err); damaged {
			head.Last = store.Quarantined
		} else if err != nil {
			return err
		}
		if n = len(entries); n == 0 {
			break
		}
		if head.Last == (store.ID{}) { // A missing head is dumped like an outdated one, which readers mend later.
			head.Last, head.Time = entries[0].ID, entries[0].Time
		}
		if err := put(store.Item{Log: &store.DumpedLog{GameID: head.GameID, Entries: entries}}); err != nil {
			return err
		}
		last = entries[n-1].ID.Version
	}
	if head.Last == (store.ID{}) {
		return nil // The game has expired; a meta that contains only watchers may be left over.
	}
	return put(store.Item{Head: head})
}
