package storetest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
)

// Dumper tests the contract of store.Dumper.
func Dumper(t *testing.T, open Open) {
	t.Run("restored data is dumped again", func(t *testing.T) { dumpAgain(t, open(t)) })
	t.Run("restored data can be read", func(t *testing.T) { readRestored(t, open(t)) })
	t.Run("a long log is dumped in parts", func(t *testing.T) { dumpLong(t, open(t)) })
	t.Run("of an expired account, only its name is dumped", func(t *testing.T) { dumpExpired(t, open(t)) })
	t.Run("an error ends the dump", func(t *testing.T) { failDump(t, open(t)) })
}

// dumpAgain checks that a store keeps every field of what it restores, and so does an SQLite
// store that is filled from its dump.
func dumpAgain(t *testing.T, s *store.Store) {
	items := dumped(now())
	kinds := reflect.TypeFor[store.Item]()
	for i := range kinds.NumField() {
		assert.True(t, slices.ContainsFunc(items, func(item store.Item) bool { return !reflect.ValueOf(item).Field(i).IsNil() }), kinds.Field(i).Name)
	}
	other := OnSQLite(t, sqlite.Options{Memory: true})
	require.NoError(t, s.Dumper.Restore(t.Context(), items))
	var file bytes.Buffer
	none := func(store.Counts) {}
	wrote, err := store.WriteDump(t.Context(), &file, now(), s.Dumper.Dump, none)
	require.NoError(t, err)
	read, err := store.ReadDump(t.Context(), &file, time.Time{}, other.Dumper.Restore, none)
	require.NoError(t, err)
	assert.Equal(t, store.Counts{Games: 10, Entries: 77, Accounts: 2, Challenges: 2}, read)
	assert.Equal(t, wrote, read)
	want := contents(t, func(_ context.Context, put func(store.Item) error) error {
		for _, i := range items {
			require.NoError(t, put(i))
		}
		return nil
	})
	assert.Equal(t, want, contents(t, s.Dumper.Dump))
	assert.Equal(t, want, contents(t, other.Dumper.Dump))
}

// dumpExpired checks that what belongs to an account ends with it. A session may have been renewed later.
func dumpExpired(t *testing.T, s *store.Store) {
	past := now().Add(-time.Hour)
	gone := store.Account{ID: playerID(1), Name: "Ann", Created: past}
	name := store.Item{Name: &store.HeldName{Name: "ann", AccountID: gone.ID}}
	require.NoError(t, s.Dumper.Restore(t.Context(), []store.Item{
		{Account: &store.DumpedAccount{Account: gone, Expires: past}},
		name,
		{Key: &store.DumpedKey{Key: store.Key{Fingerprint: keyOne, PlayerID: gone.ID, Added: past}, Expires: past}},
		{Session: &store.DumpedSession{Session: store.Session{ID: "a", PlayerID: gone.ID, Opened: past}, Expires: now().Add(time.Hour)}},
	}))
	require.NoError(t, s.Dumper.Dump(t.Context(), func(i store.Item) error {
		assert.Equal(t, name, i)
		return nil
	}))
}

var expiry = regexp.MustCompile(`"Expires":"([^"]*)"`)

// contents returns a line for each item of a dump, in order, with whole logs. The times at which
// data expires are rounded, because miniredis keeps the remaining time.
func contents(t *testing.T, dump func(ctx context.Context, put func(store.Item) error) error) []string {
	t.Helper()
	lines, logs := map[string]bool{}, map[string]*store.DumpedLog{}
	add := func(i store.Item) {
		line, err := json.Marshal(i)
		require.NoError(t, err)
		lines[expiry.ReplaceAllStringFunc(string(line), func(field string) string {
			at, err := time.Parse(time.RFC3339Nano, expiry.FindStringSubmatch(field)[1])
			require.NoError(t, err)
			return "expires in " + at.Sub(testsBegan).Round(time.Hour).String()
		})] = true
	}
	require.NoError(t, dump(t.Context(), func(i store.Item) error {
		if i.Log == nil {
			add(i)
			return nil
		}
		log := cmp.Or(logs[i.Log.GameID], &store.DumpedLog{GameID: i.Log.GameID})
		log.Entries = slices.Concat(log.Entries, i.Log.Entries)
		logs[i.Log.GameID] = log
		return nil
	}))
	for _, log := range logs {
		add(store.Item{Log: log})
	}
	return slices.Sorted(maps.Keys(lines))
}

// dumpedGame returns game n with the given number of entries.
func dumpedGame(n, entries int, at time.Time) (*store.DumpedLog, *store.DumpedHead) {
	log := &store.DumpedLog{GameID: gameID(n)}
	head := &store.DumpedHead{GameID: gameID(n), Encoded: fmt.Appendf(nil, "\x00head %d", n)}
	for v := range entries {
		r := store.Record{
			ID: store.ID{Version: int32(v + 1), Digest: uint64(n+1) * 0x9e3779b97f4a7c15 << (v % 7)}, Time: at.Add(time.Duration(v) * time.Millisecond),
			Raw: fmt.Appendf(nil, "\x00\xff\r\n%d of %d", v, n),
		}
		if v == 0 {
			r.Seed = []byte("\x00seed\xff")
		}
		log.Entries = append(log.Entries, r)
		head.Last, head.Time = r.ID, r.Time
	}
	return log, head
}

// dumped returns items of every kind. The games include sound ones of several lengths, one that
// expires, one whose head has fallen behind, one in quarantine, one without a log, one whose log
// has lost its end, and one whose log has a gap.
func dumped(at time.Time) (items []store.Item) {
	at = at.UTC()
	later := at.Add(time.Hour)
	add := func(more ...store.Item) { items = append(items, more...) }
	ann := store.Account{ID: playerID(1), Name: "Ann", Secret: "aa", Created: at.Add(-time.Hour)}
	bob := store.Account{ID: playerID(2), Name: "Böb", Secret: "bb", Bot: true, Created: at, Renamed: at.Add(time.Minute)}
	add(store.Item{Account: &store.DumpedAccount{Account: ann}}, store.Item{Account: &store.DumpedAccount{Account: bob, Expires: later}},
		store.Item{Name: &store.HeldName{Name: "ann", AccountID: ann.ID}}, store.Item{Name: &store.HeldName{Name: "böb", AccountID: bob.ID}},
		store.Item{Name: &store.HeldName{Name: "gone", AccountID: playerID(3)}},
		store.Item{Profile: &store.DumpedProfile{PlayerID: ann.ID, Profile: store.Profile{Revision: 3, Encoded: []byte("\x00ann\xff")}}},
		store.Item{Profile: &store.DumpedProfile{PlayerID: bob.ID, Profile: store.Profile{Revision: 1, Encoded: []byte("bob")}}},
		store.Item{Key: &store.DumpedKey{Key: store.Key{Fingerprint: keyOne, PlayerID: ann.ID, Comment: "at home, in ünicode", Added: at.Add(-time.Minute)}}},
		store.Item{Key: &store.DumpedKey{Key: store.Key{Fingerprint: keyTwo, PlayerID: bob.ID, Added: at}, Expires: later}},
		store.Item{Session: &store.DumpedSession{Session: store.Session{ID: "b", PlayerID: ann.ID, Comment: "ünicode", Opened: at}}},
		store.Item{Session: &store.DumpedSession{Session: store.Session{ID: "a", PlayerID: bob.ID, Opened: at.Add(-time.Minute)}, Expires: later}},
		store.Item{Credential: &store.Credential{Name: "host", Digest: "cc", Created: at}},
		store.Item{Challenge: &store.Challenge{ID: "race", Revision: 7, Encoded: []byte("\x00race\xff"), Kind: 2, Listed: true, Created: at.Add(-time.Minute), Expires: later}},
		store.Item{Challenge: &store.Challenge{ID: "daily", Revision: 1, Encoded: []byte("daily"), Kind: 1, Created: at, Expires: later.Add(time.Hour)}},
		store.Item{Hidden: &store.DumpedPlayer{PlayerID: playerID(4)}},
		store.Item{Secret: &store.DumpedSecret{Name: "page", Secret: []byte("\x00s")}}, store.Item{Secret: &store.DumpedSecret{Name: "other", Secret: []byte("t")}},
		store.Item{Server: &store.DumpedServer{ServerID: "s", ServerHeartbeat: store.ServerHeartbeat{At: at, Left: true}}},
		store.Item{Server: &store.DumpedServer{ServerID: "r", ServerHeartbeat: store.ServerHeartbeat{At: at.Add(-time.Hour), Left: true}}})
	for n, entries := range []int{1, 2, 7, 50, 3, 6, 3, 0, 3, 4} {
		log, head := dumpedGame(n, entries, at)
		switch n {
		case 4:
			head.Expires = later
		case 5:
			head.Last, head.Time = log.Entries[1].ID, log.Entries[1].Time
		case 6, 7:
			head.Last = store.Quarantined
		case 8:
			log.Entries = log.Entries[:2]
		case 9:
			log.Entries = slices.Delete(log.Entries, 1, 2)
		}
		if entries > 0 {
			add(store.Item{Log: log})
		}
		add(store.Item{Head: head})
	}
	return items
}

// readRestored checks restored data by reading it through the other interfaces.
func readRestored(t *testing.T, s *store.Store) {
	items := append(dumped(now()), store.Item{}) // as read from an item of a kind that only earlier versions had
	require.NoError(t, s.Dumper.Restore(t.Context(), items))
	logs, accounts := map[string][]store.Record{}, map[string]store.Account{}
	for _, i := range items {
		switch {
		case i.Log != nil:
			logs[i.Log.GameID] = i.Log.Entries
		case i.Head != nil:
			readGame(t, s, i.Head, logs[i.Head.GameID])
		case i.Account != nil:
			accounts[i.Account.ID] = i.Account.Account
		case i.Key != nil:
			requireOwner(t, s, i.Key.Fingerprint, accounts[i.Key.PlayerID])
			requireKeys(t, s, i.Key.PlayerID, i.Key.Key)
		case i.Session != nil:
			requireSessions(t, s, i.Session.PlayerID, i.Session.Session)
		case i.Challenge != nil:
			assert.Equal(t, *i.Challenge, getChallenge(t, s, i.Challenge.ID))
			require.NoError(t, s.Challenges.Update(t.Context(), *i.Challenge))
		case i.Profile != nil:
			assert.Equal(t, i.Profile.Profile, getProfile(t, s, i.Profile.PlayerID))
			require.NoError(t, s.Profiles.Update(t.Context(), i.Profile.PlayerID, i.Profile.Profile))
		case i.Secret != nil:
			secret, err := s.Secrets.Secret(t.Context(), i.Secret.Name, []byte("mine"))
			require.NoError(t, err)
			assert.Equal(t, i.Secret.Secret, secret)
		case i.Hidden != nil:
			hidden, err := s.Boards.Hidden(t.Context(), i.Hidden.PlayerID, playerID(1))
			require.NoError(t, err)
			assert.Equal(t, map[string]bool{i.Hidden.PlayerID: true}, hidden)
		}
	}
	requireAccounts(t, s, []string{playerID(1), playerID(2), playerID(3)}, accounts[playerID(1)], accounts[playerID(2)])
	_, err := s.Accounts.Create(t.Context(), store.Account{ID: playerID(9), Name: "Gone", Secret: "x"}, 0)
	require.ErrorIs(t, err, store.ErrNameHeld)
	for kind, want := range map[uint8][]string{0: {"race"}, 1: nil, 2: {"race"}} {
		assert.ElementsMatch(t, want, listChallenges(t, s, kind, 9))
	}
}

// readGame checks a restored game, and that it can be continued if it is sound.
func readGame(t *testing.T, s *store.Store, head *store.DumpedHead, want []store.Record) {
	t.Helper()
	ctx := t.Context()
	tail, err := s.Games.Tail(ctx, head.GameID)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, tail.Length, int64(len(want))) // One of the logs lacks an entry.
	assert.Equal(t, head.Last, tail.Head)
	records, err := s.Games.Entries(ctx, head.GameID, 1, 100)
	require.NoError(t, err)
	games{s.Games, t, s}.same(want, records)
	next := store.Entry{Raw: []byte("next"), Head: []byte("next"), Next: store.ID{Version: 1, Digest: 1}}
	for _, r := range records {
		next.Prev, next.Next.Version = r.ID, r.ID.Version+1
	}
	_, err = s.Games.Append(ctx, head.GameID, next)
	switch head.GameID {
	case gameID(6), gameID(7), gameID(8):
		require.ErrorIs(t, err, store.ErrBroken, "the game stays damaged")
	case gameID(9): // only Tail shows the gap
	default:
		require.NoError(t, err, "game %s can be continued", head.GameID)
	}
	heads, err := s.Games.Heads(ctx, []string{head.GameID})
	require.NoError(t, err)
	assert.True(t, heads[0].Exists)
}

func dumpLong(t *testing.T, s *store.Store) {
	log, head := dumpedGame(0, 2500, now().UTC())
	require.NoError(t, s.Dumper.Restore(t.Context(), []store.Item{{Log: log}, {Head: head}}))
	last := int32(0)
	require.NoError(t, s.Dumper.Dump(t.Context(), func(i store.Item) error {
		if i.Log == nil {
			return nil
		}
		assert.LessOrEqual(t, len(i.Log.Entries), 1000)
		for _, r := range i.Log.Entries {
			require.Equal(t, log.Entries[last].ID, r.ID)
			last++
		}
		return nil
	}))
	assert.Len(t, log.Entries, int(last))
}

func failDump(t *testing.T, s *store.Store) {
	require.NoError(t, s.Dumper.Restore(t.Context(), dumped(now())))
	calls := 0
	require.ErrorIs(t, s.Dumper.Dump(t.Context(), func(store.Item) error { calls++; return context.Canceled }), context.Canceled)
	assert.Equal(t, 1, calls)
}
