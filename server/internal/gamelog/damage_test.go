package gamelog

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/store"
)

// damagedGame is a store that contains one damaged game and panics on writes.
type damagedGame struct {
	store.Games
	records []store.Record
	head    store.ID
	// unreadable is the index of an entry that cannot be read, or negative if all can be read.
	unreadable int
}

// damage returns a copy of the given game for a test to alter.
func (r *rig) damage(gameID string) *damagedGame {
	c := r.content(gameID)
	return &damagedGame{records: c.records, head: c.tail.Head, unreadable: -1}
}

func (g *damagedGame) Tail(context.Context, string) (store.Tail, error) {
	tail := store.Tail{Length: int64(len(g.records)), Head: g.head}
	if tail.Length > 0 {
		tail.Last = g.records[tail.Length-1].ID
	}
	return tail, nil
}

func (g *damagedGame) Entries(_ context.Context, _ string, from int32, n int) ([]store.Record, error) {
	first := slices.IndexFunc(g.records, func(r store.Record) bool { return r.ID.Version >= from })
	if first < 0 {
		return nil, nil
	}
	end := min(len(g.records), first+n)
	if u := g.unreadable; u >= first && u < end {
		return g.records[first:u], &store.CorruptError{Version: g.records[u].ID.Version - 1, Err: errors.New("no time")}
	}
	return g.records[first:end], nil
}

// Ensure that Load reports every kind of damage with the last version that can be read, and
// does not change the log.
func TestLoad_Damaged(t *testing.T) {
	t.Parallel()
	const length = 8
	// at returns a function that applies change to the record with the given version.
	at := func(version int, change func(*store.Record)) func(*rig, *damagedGame) {
		return func(_ *rig, g *damagedGame) { change(&g.records[version-1]) }
	}
	bump := func(r *store.Record) { r.ID.Digest++ }
	records := func(change func([]store.Record) []store.Record) func(*rig, *damagedGame) {
		return func(_ *rig, g *damagedGame) { g.records = change(g.records) }
	}
	head := func(head store.ID) func(*rig, *damagedGame) {
		return func(_ *rig, g *damagedGame) { g.head = head }
	}
	damages := []struct {
		name   string
		damage func(*rig, *damagedGame)
		last   int32
	}{
		{"swapped for the log of another game", func(r *rig, g *damagedGame) {
			r.play(r.create(name("other"), "classic"), length-1)
			g.records = r.content(name("other")).records
		}, 0},
		{"swapped together with the head", func(r *rig, g *damagedGame) {
			r.play(r.create(name("third"), "classic"), length-1)
			*g = *r.damage(name("third"))
		}, 0},
		{"cut at the end", records(func(log []store.Record) []store.Record { return log[:5] }), 5},
		{"cut at the front", records(func(log []store.Record) []store.Record { return log[2:] }), 0},
		{"gone", records(func([]store.Record) []store.Record { return nil }), 0},
		{"entry deleted", records(func(log []store.Record) []store.Record { return slices.Delete(log, 3, 4) }), 3},
		{"last entry deleted", records(func(log []store.Record) []store.Record { return log[:length-1] }), length - 1},
		{"duplicate entry", records(func(log []store.Record) []store.Record {
			again := log[4]
			bump(&again)
			return slices.Insert(log, 5, again)
		}), 5},
		{"extra entry before the first", records(func(log []store.Record) []store.Record {
			before := log[1]
			before.ID = store.ID{Digest: 1}
			return slices.Insert(log, 0, before)
		}), length},
		{"entry that cannot be read", func(_ *rig, g *damagedGame) { g.unreadable = 3 }, 3},
		{"digest altered", at(4, bump), 3},
		{"last digest altered", at(length, bump), length - 1},
		{"first digest altered", at(1, bump), 0},
		{"entry emptied", at(4, func(r *store.Record) { r.Raw = []byte("\x08") }), 3},
		{"time too early", at(4, func(r *store.Record) { r.Time = time.UnixMilli(1) }), 3},
		{"time too late", at(4, func(r *store.Record) { r.Time = r.Time.AddDate(100, 0, 0) }), 4},
		{"different seed", at(1, func(r *store.Record) { r.Seed = slices.Repeat([]byte("0"), game.SeedSize) }), 0},
		{"short seed", at(1, func(r *store.Record) { r.Seed = []byte("0") }), 0},
		{"no seed", at(1, func(r *store.Record) { r.Seed = nil }), 0},
		{"head ahead", head(store.ID{Version: 9, Digest: 1}), length},
		{"head of another history", head(store.ID{Version: 3, Digest: 1}), length},
		{"head that cannot be read", head(store.ID{Version: -1}), length},
		{"quarantined", head(store.Quarantined), length},
	}
	each(t, func(t *testing.T, r *rig) {
		gameID := name("a")
		tip := r.play(r.create(gameID, "classic"), length-1)
		for _, tt := range damages {
			damagedGame := r.damage(gameID)
			tt.damage(r, damagedGame)
			for _, through := range []store.ID{{}, tip.ID} {
				end, err := New(damagedGame).Load(t.Context(), gameID, through, nil)
				var damaged *DamagedError
				require.ErrorAs(t, err, &damaged, tt.name)
				assert.Equal(t, tt.last, damaged.Version, "%s: %v", tt.name, damaged)
				assert.NotEmpty(t, damaged.Detail, tt.name)
				assert.Empty(t, end, tt.name)
			}
		}
	})
}

// Ensure that a game that a newer server has written to is neither reported as damaged nor
// repaired.
func TestLoad_Unknown(t *testing.T) {
	t.Parallel()
	unknown := []byte{0xfa, 0x01, 0x00} // an entry with the unknown field 31
	changes := map[string]func(g *damagedGame){
		"unknown action": func(g *damagedGame) {
			last := g.records[len(g.records)-1]
			g.head = store.ID{Version: last.ID.Version + 1, Digest: 77}
			g.records = append(g.records, store.Record{ID: g.head, Time: last.Time, Raw: unknown})
		},
		"unknown action in the middle": func(g *damagedGame) { g.records[2].Raw = unknown },
		"unknown rules": func(g *damagedGame) {
			e, err := decodeEntry(g.records[0].Raw)
			require.NoError(t, err)
			c := e.Action.(replay.Created)
			c.Revision = 99
			g.records[0].Raw, err = encodeEntry(replay.Entry{Seat: game.NoSeat, Action: c})
			require.NoError(t, err)
		},
	}
	each(t, func(t *testing.T, r *rig) {
		gameID := name("a")
		r.play(r.create(gameID, "classic"), 3)
		for what, change := range changes {
			newer := r.damage(gameID)
			change(newer)
			_, err := New(newer).Load(t.Context(), gameID, store.ID{}, nil)
			require.ErrorIs(t, err, replay.ErrUnknown, what)
			var damaged *DamagedError
			require.NotErrorAs(t, err, &damaged, what)
			require.NotErrorIs(t, err, replay.ErrInvalid, what)
		}
	})
}
