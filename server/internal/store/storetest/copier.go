package storetest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
)

// Copier tests the contract of store.Copier.
func Copier(t *testing.T, open Open) {
	t.Run("empty", func(t *testing.T) { emptyStore(t, open) })
	t.Run("imported data can be exported", func(t *testing.T) { roundTrip(t, open) })
	t.Run("imported data can be read", func(t *testing.T) { readImported(t, open(t)) })
	t.Run("importing a piece again changes nothing", func(t *testing.T) { importAgain(t, open(t)) })
	t.Run("a store with data is not overwritten", func(t *testing.T) { copyOver(t, open(t)) })
}

func emptyStore(t *testing.T, open Open) {
	for _, write := range []func(s *store.Store) error{
		func(*store.Store) error { return nil },
		func(s *store.Store) error { _, err := s.Secrets.Secret(t.Context(), "n", []byte("s")); return err },
		func(s *store.Store) error {
			_, err := s.Credentials.Add(t.Context(), store.Credential{Name: "n", Digest: "d"})
			return err
		},
		func(s *store.Store) error {
			_, err := s.Accounts.Create(t.Context(), store.Account{ID: playerID(1), Name: "Ann", Secret: "x"}, 0)
			return err
		},
		func(s *store.Store) error { return s.Boards.Hide(t.Context(), playerID(1)) },
		func(s *store.Store) error { return s.Queue.EnqueueNow(t.Context(), gameID(1)) },
		func(s *store.Store) error {
			_, err := s.Challenges.Create(t.Context(), testChallenge(t, s, "a", 1, 1))
			return err
		},
		func(s *store.Store) error {
			return s.Copier.Import(t.Context(), store.Piece{Games: []store.GamePiece{exportedGame(1, 1, now())}})
		},
	} {
		s := open(t)
		before, err := s.Copier.Empty(t.Context())
		require.NoError(t, err)
		assert.True(t, before)
		require.NoError(t, write(s))
		after, err := s.Copier.Empty(t.Context())
		require.NoError(t, err)
		assert.Equal(t, len(Kept(t, s)) == 0 && !hasJob(t, s), after)
	}
}

func hasJob(t *testing.T, s *store.Store) bool {
	t.Helper()
	due, err := s.Queue.Due(t.Context(), -100*365*24*time.Hour, time.Hour, 1)
	require.NoError(t, err)
	return len(due) > 0
}

// exportedGame returns game n with the given number of entries in a single piece.
func exportedGame(n, entries int, at time.Time) store.GamePiece {
	g := store.GamePiece{GameID: gameID(n)}
	for v := range entries {
		r := store.Record{
			ID: store.ID{Version: int32(v + 1), Digest: uint64(n+1) * 0x9e3779b97f4a7c15 << (v % 7)}, Time: at.Add(time.Duration(v) * time.Millisecond).UTC(),
			Raw: fmt.Appendf(nil, "\x00\xff\r\n%d of %d", v, n),
		}
		if v == 0 {
			r.Seed = []byte("\x00seed\xff")
		}
		g.Entries = append(g.Entries, r)
	}
	g.Head = &store.ExportedHead{Encoded: fmt.Appendf(nil, "\x00head %d", n)}
	if entries > 0 {
		last := g.Entries[entries-1]
		g.Head.Last, g.Head.Time = last.ID, last.Time
	}
	return g
}

// exported returns a piece with data of every kind. Its games include sound ones of
// several lengths, one that expires, one whose head has fallen behind, one in quarantine,
// one without a log, one whose log has lost its end, and one whose log has a gap.
func exported(at time.Time) store.Piece {
	at = at.UTC()
	later := at.Add(time.Hour)
	p := store.Piece{
		Accounts: []store.ExportedAccount{
			{Account: store.Account{ID: playerID(1), Name: "Ann", Secret: "aa", Created: at.Add(-time.Hour)}},
			{Account: store.Account{ID: playerID(2), Name: "Böb", Secret: "bb", Bot: true, Created: at}, Expires: later},
		},
		Names: []store.HeldName{{Name: "ann", AccountID: playerID(1)}, {Name: "böb", AccountID: playerID(2)}, {Name: "gone", AccountID: playerID(3)}},
		OpenGames: []store.ExportedOpenGame{
			{PlayerID: playerID(1), GameID: gameID(1), Since: at.Add(-time.Minute), Expires: later},
			{PlayerID: playerID(1), GameID: gameID(2), Since: at, Expires: later},
			{PlayerID: playerID(2), GameID: gameID(1), Since: at},
		},
		Keys: []store.ExportedKey{
			{Key: store.Key{Fingerprint: keyOne, PlayerID: playerID(1), Comment: "at home, in ünicode", Added: at.Add(-time.Minute)}},
			{Key: store.Key{Fingerprint: keyTwo, PlayerID: playerID(2), Added: at}, Expires: later},
		},
		Credentials: []store.Credential{{Name: "host", Digest: "cc", Created: at}},
		Challenges: []store.Challenge{
			{ID: "race", Revision: 7, Encoded: []byte("\x00race\xff"), Kind: 2, Listed: true, Created: at.Add(-time.Minute), Expires: later},
			{ID: "daily", Revision: 1, Encoded: []byte("daily"), Kind: 1, Created: at, Expires: later.Add(time.Hour)},
		},
		Boards: []store.BoardPiece{
			{Board: store.Board{Variant: "classic", Window: "all"}, Entries: []store.BoardEntry{
				{PlayerID: playerID(1), Score: 10, Member: "1:" + playerID(1) + ":g"}, {PlayerID: playerID(2), Score: 10, Member: "2:" + playerID(2) + ":g"},
			}},
			{Board: store.Board{Variant: "classic", Window: "day-1", Expires: later.Truncate(time.Second)}, Entries: []store.BoardEntry{
				{PlayerID: playerID(2), Score: 1<<31 - 1, Member: "2:" + playerID(2) + ":g"},
			}},
			{Board: store.Board{Variant: "classic", Window: "challenge-race", Expires: later.Truncate(time.Second)}, Entries: []store.BoardEntry{
				{PlayerID: playerID(1), Score: 3, Member: "1:" + playerID(1) + ":g"},
			}},
		},
		Hidden:  []string{playerID(4)},
		Secrets: map[string][]byte{"page": []byte("\x00s"), "other": []byte("t")},
		Servers: map[string]store.ServerHeartbeat{"s": {At: at}, "r": {At: at.Add(-time.Hour), Left: true}},
	}
	for n, entries := range []int{1, 2, 7, 50, 3, 6, 3, 0, 3, 4} {
		p.Games = append(p.Games, exportedGame(n, entries, at))
	}
	p.Games[4].Head.Expires = later
	p.Games[5].Head.Last, p.Games[5].Head.Time = p.Games[5].Entries[1].ID, p.Games[5].Entries[1].Time
	p.Games[6].Head.Last = store.Quarantined
	p.Games[7].Head.Last = store.Quarantined
	p.Games[8].Entries = p.Games[8].Entries[:2]
	p.Games[9].Entries = slices.Delete(p.Games[9].Entries, 1, 2)
	return p
}

func importAgain(t *testing.T, s *store.Store) {
	p := exported(now())
	p.Games = nil
	require.NoError(t, s.Copier.Import(t.Context(), p))
	want := Kept(t, s)
	require.NoError(t, s.Copier.Import(t.Context(), p))
	SameKept(t, want, Kept(t, s))
}

func roundTrip(t *testing.T, open Open) {
	from := open(t)
	require.NoError(t, from.Copier.Import(t.Context(), exported(now())))
	want := Kept(t, from)
	assert.Len(t, want, 10+2+2+1+3+2+2+5+1+2+2)
	other := OnSQLite(t, sqlite.Options{Memory: true})
	copied, err := store.Copy(t.Context(), from, other, func(store.Copied) {})
	require.NoError(t, err)
	assert.Equal(t, store.Copied{Games: 10, Entries: 77, Accounts: 2, Scores: 4}, copied)
	SameKept(t, want, Kept(t, other))

	back := open(t)
	again, err := store.Copy(t.Context(), other, back, func(store.Copied) {})
	require.NoError(t, err)
	assert.Equal(t, copied, again)
	SameKept(t, want, Kept(t, back))
}

// SameKept checks that two results of Kept are the same. Expiry times may be later by the
// time that the copy took, because miniredis keeps the remaining time, and some are whole seconds.
func SameKept(t testing.TB, want, got map[string]any) {
	t.Helper()
	assert.ElementsMatch(t, slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(got)))
	for name := range want {
		a, expiresA := withoutExpiry(want[name])
		b, expiresB := withoutExpiry(got[name])
		assert.Equal(t, a, b, name)
		assert.WithinRange(t, expiresB, expiresA.Add(-time.Second), expiresA.Add(time.Since(testsBegan)+time.Second), name)
	}
}

// withoutExpiry removes the expiry from a value in the result of Kept. It returns the
// rest and the expiry.
func withoutExpiry(kept any) (rest any, expires time.Time) {
	switch k := kept.(type) {
	case store.GamePiece:
		head := *k.Head
		head.Expires, expires = expires, head.Expires
		k.Head = &head
		return k, expires
	case store.ExportedAccount:
		k.Expires, expires = expires, k.Expires
		return k, expires
	case store.ExportedKey:
		k.Expires, expires = expires, k.Expires
		return k, expires
	case store.ExportedOpenGame:
		k.Expires, expires = expires, k.Expires
		return k, expires
	case store.Challenge:
		k.Expires, expires = expires, k.Expires
		return k, expires
	case store.BoardPiece:
		k.Board.Expires, expires = expires, k.Board.Expires
		return k, expires
	default:
		return kept, expires
	}
}

// Kept returns all data that a store exports, by name, so that tests can compare stores.
func Kept(t testing.TB, s *store.Store) map[string]any {
	t.Helper()
	kept := map[string]any{}
	utc := func(times ...*time.Time) {
		for _, at := range times {
			if *at = at.UTC(); at.IsZero() {
				*at = time.Time{}
			}
		}
	}
	require.NoError(t, s.Copier.Export(t.Context(), func(p store.Piece) error {
		for _, g := range p.Games {
			game, _ := kept["game "+g.GameID].(store.GamePiece)
			for _, r := range g.Entries {
				r.Seed = append([]byte{}, r.Seed...)
				utc(&r.Time)
				game.Entries = append(game.Entries, r)
			}
			if g.Head != nil {
				head := *g.Head
				head.Encoded = append([]byte{}, head.Encoded...)
				utc(&head.Time, &head.Expires)
				game.Head = &head
			}
			kept["game "+g.GameID] = game
		}
		for _, a := range p.Accounts {
			utc(&a.Created, &a.Expires)
			kept["account "+a.ID] = a
		}
		for _, k := range p.Keys {
			utc(&k.Added, &k.Expires)
			kept["key "+k.Fingerprint] = k
		}
		for _, c := range p.Credentials {
			utc(&c.Created)
			kept["credential "+c.Name] = c
		}
		for _, n := range p.Names {
			kept["name "+n.Name] = n.AccountID
		}
		for _, o := range p.OpenGames {
			utc(&o.Since, &o.Expires)
			kept["open "+o.PlayerID+o.GameID] = o
		}
		for _, c := range p.Challenges {
			utc(&c.Created, &c.Expires)
			kept["challenge "+c.ID] = c
		}
		for _, b := range p.Boards {
			utc(&b.Board.Expires)
			for _, e := range b.Entries {
				kept[fmt.Sprint("score ", b.Board.Variant, b.Board.Window, e.PlayerID)] = store.BoardPiece{Board: b.Board, Entries: []store.BoardEntry{e}}
			}
		}
		for _, id := range p.Hidden {
			kept["hidden "+id] = true
		}
		for name, secret := range p.Secrets {
			kept["secret "+name] = secret
		}
		for id, server := range p.Servers {
			utc(&server.At)
			kept["server "+id] = server
		}
		return nil
	}))
	return kept
}

// readImported checks imported data by reading it through the other interfaces.
func readImported(t *testing.T, s *store.Store) {
	at, ctx := now().UTC(), t.Context()
	p := exported(at)
	require.NoError(t, s.Copier.Import(ctx, p))

	var ids []string
	for i, g := range p.Games {
		tail, err := s.Games.Tail(ctx, g.GameID)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, tail.Length, int64(len(g.Entries))) // One of the logs lacks an entry.
		assert.Equal(t, g.Head.Last, tail.Head)
		records, err := s.Games.Entries(ctx, g.GameID, 1, 100)
		require.NoError(t, err)
		for n := range records {
			assert.Equal(t, g.Entries[n].ID, records[n].ID)
			assert.True(t, g.Entries[n].Time.Equal(records[n].Time))
			assert.Equal(t, g.Entries[n].Raw, records[n].Raw)
		}
		if len(records) > 0 {
			assert.Equal(t, g.Entries[0].Seed, records[0].Seed)
		}
		next := store.Entry{Raw: []byte("next"), Head: []byte("next"), Next: store.ID{Version: int32(len(g.Entries) + 1), Digest: 1}}
		if n := len(g.Entries); n > 0 {
			next.Prev = g.Entries[n-1].ID
			next.Next.Version = next.Prev.Version + 1
		}
		_, err = s.Games.Append(ctx, g.GameID, next)
		switch {
		case i < 6:
			require.NoError(t, err, "game %d can be continued", i)
			added, err := s.Games.Entries(ctx, g.GameID, next.Next.Version, 1)
			require.NoError(t, err)
			require.Len(t, added, 1, "game %d", i)
			assert.Equal(t, next.Raw, added[0].Raw)
		case i < 9: // for game 9, only Tail shows the gap
			require.ErrorIs(t, err, store.ErrBroken, "game %d stays damaged", i)
		}
		ids = append(ids, g.GameID)
	}
	heads, err := s.Games.Heads(ctx, ids)
	require.NoError(t, err)
	for i, head := range heads {
		assert.True(t, head.Exists, "game %d", i)
	}

	accounts, err := s.Accounts.Get(ctx, []string{playerID(1), playerID(2), playerID(3)})
	require.NoError(t, err)
	assert.Equal(t, map[string]store.Account{playerID(1): p.Accounts[0].Account, playerID(2): p.Accounts[1].Account}, accounts)
	_, err = s.Accounts.Create(ctx, store.Account{ID: playerID(9), Name: "Gone", Secret: "x"}, 0)
	require.ErrorIs(t, err, store.ErrNameHeld)
	requireOwner(t, s, keyOne, p.Accounts[0].Account)
	requireKeys(t, s, playerID(2), p.Keys[1].Key)
	open, err := s.Accounts.Open(ctx, playerID(1))
	require.NoError(t, err)
	require.Len(t, open, 2)
	assert.Equal(t, []string{gameID(1), gameID(2)}, []string{open[0].ID, open[1].ID})
	assert.GreaterOrEqual(t, open[0].Age, time.Minute)

	for _, c := range p.Challenges {
		assert.Equal(t, c, getChallenge(t, s, c.ID))
		require.NoError(t, s.Challenges.Update(ctx, c))
	}
	for _, kind := range []uint8{0, 2} {
		assert.Equal(t, []string{"race"}, listChallenges(t, s, kind, 9))
	}
	assert.Empty(t, listChallenges(t, s, 1, 9))
	for _, b := range p.Boards {
		page, err := s.Boards.Page(ctx, b.Board, 0, 9)
		require.NoError(t, err)
		want := slices.SortedFunc(slices.Values(b.Entries), func(a, b store.BoardEntry) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Member, a.Member))
		})
		assert.Equal(t, want, page.Entries)
		assert.EqualValues(t, len(want), page.Total)
		rank, err := s.Boards.Rank(ctx, b.Board, want[0].PlayerID, 0)
		require.NoError(t, err)
		assert.True(t, rank.Found && rank.Place == 0)
	}
	hidden, err := s.Boards.Hidden(ctx, playerID(4), playerID(1))
	require.NoError(t, err)
	assert.Equal(t, map[string]bool{playerID(4): true}, hidden)
	secret, err := s.Secrets.Secret(ctx, "page", []byte("mine"))
	require.NoError(t, err)
	assert.Equal(t, p.Secrets["page"], secret)
}

func copyOver(t *testing.T, s *store.Store) {
	require.NoError(t, s.Boards.Hide(t.Context(), playerID(1)))
	from := OnSQLite(t, sqlite.Options{Memory: true})
	require.NoError(t, from.Copier.Import(t.Context(), exported(now())))
	before := Kept(t, s)
	_, err := store.Copy(t.Context(), from, s, func(store.Copied) {})
	require.ErrorIs(t, err, store.ErrNotEmpty)
	assert.Equal(t, before, Kept(t, s))

	// An error from visit, such as one from the target store, ends the export.
	enough := context.Canceled
	visits := 0
	require.ErrorIs(t, from.Copier.Export(t.Context(), func(store.Piece) error { visits++; return enough }), enough)
	assert.Equal(t, 1, visits)
}
