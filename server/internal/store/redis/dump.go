package redis

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/server/internal/store"
)

// dumper implements store.Dumper. The dump is consistent only if no server is running.
type dumper struct{ client goredis.UniversalClient }

// dumpEntries is the number of entries to read at a time.
const dumpEntries = 1000

func (d dumper) Dump(ctx context.Context, put func(store.Item) error) error {
	w := &walk{dumper: d, put: put, games: map[string]bool{}}
	w.shared(ctx)
	w.fail(scanKeys(ctx, d.client, "*", func(keys []string) error { return w.visit(ctx, keys) }))
	return w.err
}

// walk is a dump that has begun.
type walk struct {
	dumper
	put   func(store.Item) error
	err   error           // the first error, after which nothing is put
	games map[string]bool // the games that were dumped; each has two keys, and a scan may return a key twice
}

func (w *walk) fail(err error) { w.err = cmp.Or(w.err, err) }

// add puts an item.
func (w *walk) add(i store.Item) {
	if w.err == nil {
		w.err = w.put(i)
	}
}

// walked holds the patterns of the keys that are dumped. For each such key, read queues commands in a
// pipeline, and returns a function that is called with their replies. id is the part of the key that
// matches the "*" in the pattern.
var walked = []struct {
	pattern string
	read    func(w *walk, ctx context.Context, pipe goredis.Pipeliner, key, id string) (then func())
}{
	{secretKey("*"), (*walk).secret},
	{playerKey("*"), (*walk).account},
	{nameKey("*"), (*walk).name},
	{keysKey("*"), (*walk).keys},
	{sessionsKey("*"), (*walk).sessions},
	{challengeKey("*"), (*walk).challenge},
	{logKey("*"), (*walk).game},
	{metaKey("*"), (*walk).game},
}

// visit dumps what is stored at the given keys.
func (w *walk) visit(ctx context.Context, keys []string) error {
	pipe, replied := w.client.Pipeline(), []func(){}
	for _, key := range keys {
		for _, kind := range walked {
			if id := between(key, kind.pattern); id != "" {
				replied = append(replied, kind.read(w, ctx, pipe, key, id))
			}
		}
	}
	commands, err := pipe.Exec(ctx) // If Redis refuses the connection, the commands have no errors.
	for _, err := range append(convert.All(commands, goredis.Cmder.Err), err) {
		if !errors.Is(err, goredis.Nil) {
			w.fail(failed(err))
		}
	}
	for i := 0; i < len(replied) && w.err == nil; i++ {
		replied[i]()
	}
	return w.err
}

// between returns the part of a key that matches the "*" in pattern, or "" if the key does not match.
func between(key, pattern string) string {
	before, after, _ := strings.Cut(pattern, "*")
	part, begins := strings.CutPrefix(key, before)
	part, ends := strings.CutSuffix(part, after)
	if !begins || !ends {
		return ""
	}
	return part
}

// expiryOf returns the time at which a key expires, or zero if it never does.
func expiryOf(reply *goredis.DurationCmd) time.Time {
	if reply.Val() <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(reply.Val().Milliseconds()).UTC()
}

// shared dumps the credentials, the hidden players and the servers, which share keys.
func (w *walk) shared(ctx context.Context) {
	all, err := credentials(w.dumper).All(ctx)
	w.fail(err)
	for _, c := range all {
		w.add(store.Item{Credential: &c})
	}
	hidden, err := w.client.SMembers(ctx, hiddenKey).Result()
	w.fail(failed(err))
	for _, id := range hidden {
		w.add(store.Item{Hidden: &store.DumpedPlayer{PlayerID: id}})
	}
	now, err := heartbeats{w.client}.Servers(ctx)
	w.fail(err)
	for id, server := range now.Servers {
		w.add(store.Item{Server: &store.DumpedServer{ServerID: id, ServerHeartbeat: server}})
	}
}

func (w *walk) secret(ctx context.Context, pipe goredis.Pipeliner, key, name string) func() {
	secret := pipe.Get(ctx, key)
	return func() { w.add(store.Item{Secret: &store.DumpedSecret{Name: name, Secret: []byte(secret.Val())}}) }
}

// account dumps an account with its profile.
func (w *walk) account(ctx context.Context, pipe goredis.Pipeliner, key, id string) func() {
	fields, expires := pipe.HMGet(ctx, key, accountFields...), pipe.PExpireTime(ctx, key)
	profileOf := pipe.HMGet(ctx, key, profileFields...)
	return func() {
		account, ok, err := parseAccount(id, fields.Val())
		w.fail(err)
		if ok {
			w.add(store.Item{Account: &store.DumpedAccount{Account: account, Expires: expiryOf(expires)}})
		}
		if p := parseProfile(profileOf.Val()); ok && p.Revision > 0 {
			w.add(store.Item{Profile: &store.DumpedProfile{PlayerID: id, Profile: p}})
		}
	}
}

// name dumps a held name, unless it is only claimed temporarily.
func (w *walk) name(ctx context.Context, pipe goredis.Pipeliner, key, name string) func() {
	holder, expires := pipe.Get(ctx, key), pipe.PExpireTime(ctx, key)
	return func() {
		if holder.Err() == nil && expires.Val() == -1 {
			w.add(store.Item{Name: &store.HeldName{Name: name, AccountID: holder.Val()}})
		}
	}
}

// keys dumps the SSH keys of an account, unless it has expired.
func (w *walk) keys(ctx context.Context, pipe goredis.Pipeliner, _, playerID string) func() {
	expires := pipe.PExpireTime(ctx, playerKey(playerID))
	return func() {
		all, err := keys{accounts(w.dumper)}.Keys(ctx, playerID)
		w.fail(err)
		for _, key := range all {
			w.add(store.Item{Key: &store.DumpedKey{Key: key, Expires: expiryOf(expires)}})
		}
	}
}

// sessions dumps the sessions of an account, unless it has expired.
func (w *walk) sessions(ctx context.Context, _ goredis.Pipeliner, _, playerID string) func() {
	return func() {
		all, err := sessions{accounts(w.dumper)}.all(ctx, playerID)
		w.fail(err)
		for _, session := range all {
			w.add(store.Item{Session: &session})
		}
	}
}

func (w *walk) challenge(ctx context.Context, pipe goredis.Pipeliner, key, id string) func() {
	fields := pipe.HMGet(ctx, key, challengeFields...)
	return func() {
		c, ok, err := parseChallenge(id, fields.Val())
		w.fail(err)
		if ok {
			w.add(store.Item{Challenge: &c})
		}
	}
}

// game dumps a game. If it has no log, that is lost, or the game was quarantined before its first entry.
func (w *walk) game(ctx context.Context, pipe goredis.Pipeliner, key, id string) func() {
	if w.games[id] {
		return func() {}
	}
	w.games[id] = true
	meta, expires := pipe.HMGet(ctx, metaKey(id), "last", "time", "head"), pipe.PExpireTime(ctx, key)
	return func() {
		head := &store.DumpedHead{
			GameID: id, Last: idOrNone(stringAt(meta.Val(), 0)),
			Encoded: []byte(stringAt(meta.Val(), 2)), Expires: expiryOf(expires),
		}
		head.Time, _ = parseTime(stringAt(meta.Val(), 1))
		if head.Last.Version < 0 {
			head.Last = store.Quarantined
		}
		w.logAndHead(ctx, head)
	}
}

// logAndHead dumps a game, given its head.
func (w *walk) logAndHead(ctx context.Context, head *store.DumpedHead) {
	for last, n := int32(0), dumpEntries; n == dumpEntries && w.err == nil; {
		entries, err := (&games{reads: w.client}).Entries(ctx, head.GameID, last+1, dumpEntries)
		if _, damaged := errors.AsType[*store.CorruptError](err); damaged {
			head.Last = store.Quarantined
		} else {
			w.fail(err)
		}
		if n = len(entries); n == 0 {
			break
		}
		if head.Last == (store.ID{}) { // A missing head is dumped like an outdated one, which readers mend later.
			head.Last, head.Time = entries[0].ID, entries[0].Time
		}
		w.add(store.Item{Log: &store.DumpedLog{GameID: head.GameID, Entries: entries}})
		last = entries[n-1].ID.Version
	}
	if head.Last != (store.ID{}) { // else the game has expired; a meta that contains only watchers may be left over
		w.add(store.Item{Head: head})
	}
}
