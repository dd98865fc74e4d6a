package gamelog

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/store"
)

// fallenBehind is a store whose heads have the ID of an earlier entry. It records repairs
// without making them.
type fallenBehind struct {
	store.Games
	head   store.ID
	mended []any
}

func (f *fallenBehind) Tail(ctx context.Context, gameID string) (store.Tail, error) {
	tail, err := f.Games.Tail(ctx, gameID)
	tail.Head = f.head
	return tail, err
}

func (f *fallenBehind) Mend(_ context.Context, gameID string, from store.ID, head store.Head) error {
	f.mended = append(f.mended, gameID, from, head.Last, head.Time, head.Encoded)
	return nil
}

// Ensure that Load repairs a head that is missing or behind its log.
func TestLoad_Mends(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		gameID := name("a")
		first := r.create(gameID, "classic")
		tip := r.play(first, 3)
		for _, behind := range []store.ID{first.ID, {}} {
			f := &fallenBehind{Games: r.store.Games, head: behind}
			end, err := New(f).Load(t.Context(), gameID, store.ID{}, nil)
			require.NoError(t, err)
			equal(t, tip.State, end.State)
			assert.Equal(t, []any{gameID, behind, tip.ID, tip.State.UpdateTime, r.content(gameID).head.Encoded}, f.mended)
		}
	})
}

// Ensure that logs longer than a page are read completely, from the beginning and from the
// middle.
func TestLoad_Long(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx, gameID := t.Context(), name("a")
		const length = pageSize + 234
		tip := r.play(r.create(gameID, "6x6"), length-1)
		r.sound(tip)
		var tips []Tip
		require.NoError(t, r.log.Replay(ctx, gameID, GenesisTip(gameID), func(tip Tip, _ *replay.Event) error {
			tips = append(tips, tip)
			return nil
		}))
		require.Len(t, tips, length)
		for _, after := range []int32{1, 5, length - pageSize, pageSize, length - 1, length} {
			want := after
			require.NoError(t, r.log.Replay(ctx, gameID, tips[after-1], func(_ Tip, e *replay.Event) error {
				want++
				require.Equal(t, want, e.State.Version)
				return nil
			}))
			require.EqualValues(t, length, want)
		}
		enough := errors.New("enough")
		require.ErrorIs(t, r.log.Replay(ctx, gameID, tips[3], func(_ Tip, _ *replay.Event) error { return enough }), enough)

		last, err := r.log.Find(ctx, gameID, func(_ int32, e replay.Entry) bool { return e.Seat == 0 })
		require.NoError(t, err)
		equal(t, tip.State, last.State)
		some, err := r.log.Find(ctx, gameID, func(v int32, _ replay.Entry) bool { return v == 7 || v == pageSize+100 })
		require.NoError(t, err)
		assert.EqualValues(t, pageSize+100, some.State.Version)
		none, err := r.log.Find(ctx, gameID, func(int32, replay.Entry) bool { return false })
		require.NoError(t, err)
		assert.Nil(t, none)

		record, found, err := r.log.At(ctx, gameID, pageSize+100)
		require.NoError(t, err)
		require.True(t, found)
		e, err := EntryOf(record)
		require.NoError(t, err)
		assert.Equal(t, some.Entry, e)
		assert.Equal(t, some.State.UpdateTime, record.Time)
		_, found, err = r.log.At(ctx, gameID, length+1)
		require.NoError(t, err)
		assert.False(t, found)
	})
}

// Ensure that a log with undos to any versions is replayed as it was written, and that the events
// before damage are still replayed.
func TestLoad_Undos(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		gameID := name("a")
		tip := r.create(gameID, "6x6")
		states := []*replay.State{tip.State}
		rng := rand.New(rand.NewPCG(1, 2))
		for len(states) < pageSize+100 {
			legal := tip.State.LegalMoves()
			entry := replay.Entry{Action: replay.Moved{Move: legal[rng.IntN(len(legal))]}}
			var past *replay.State
			if to := rng.Int32N(tip.State.Version) + 1; rng.IntN(3) == 0 && to < tip.State.Version {
				entry.Action, past = replay.Undone{To: to}, states[to-1]
			}
			d, err := tip.Draft(entry, time.Time{}, past)
			require.NoError(t, err)
			tip = r.append(d)
			states = append(states, tip.State)
		}
		r.sound(tip)
		check := func(log *Log, length int) error {
			replayed := 0
			err := log.Replay(t.Context(), gameID, GenesisTip(gameID), func(_ Tip, e *replay.Event) error {
				equal(t, states[replayed], e.State)
				replayed++
				return nil
			})
			assert.Equal(t, length, replayed)
			return err
		}
		require.NoError(t, check(r.log, len(states)))

		reader := r.log.NewReader(gameID)
		next := func(first, n int) {
			t.Helper()
			read, err := reader.Next(t.Context(), n, func(e *replay.Event) error {
				equal(t, states[first-1], e.State)
				first++
				return nil
			})
			require.NoError(t, err)
			require.Equal(t, n, read)
		}
		next(1, 30) // has undos
		for _, version := range []int32{45, pageSize + 60} {
			require.NoError(t, reader.Skip(t.Context(), version))
			next(int(version)+1, 5)
		}

		const readable = pageSize - 10
		for _, damage := range []func(g *damagedGame){
			func(g *damagedGame) { g.records[readable].Raw = []byte("garbage") },
			func(g *damagedGame) { g.unreadable = readable },
		} {
			damaged := r.damage(gameID)
			damage(damaged)
			var err *DamagedError
			require.ErrorAs(t, check(New(damaged), readable), &err)
			assert.EqualValues(t, readable, err.Version)
		}
	})
}

// Ensure that a log whose last entries disappear while it is read is reported as damaged.
func TestReplay_Shrinks(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		gameID := name("a")
		created := r.create(gameID, "classic")
		undo := replay.Entry{Seat: 0, Action: replay.Undone{To: 1}}
		tip := r.play(created, 3)
		d, err := tip.Draft(undo, time.Time{}, created.State)
		require.NoError(t, err)
		r.append(d)

		g := r.damage(gameID)
		err = New(g).Replay(t.Context(), gameID, GenesisTip(gameID), func(Tip, *replay.Event) error {
			g.records = g.records[:2]
			return nil
		})
		var damaged *DamagedError
		require.ErrorAs(t, err, &damaged)
		assert.EqualValues(t, 2, damaged.Version)
		assert.Contains(t, damaged.Detail, "is missing")
	})
}

// Ensure that heads show the state after the last entry, and that the heads of games that
// cannot be read have no state.
func TestHeads(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx := t.Context()
		a := r.play(r.create(name("a"), "classic"), 3)
		b := r.create(name("b"), "twos")
		over := r.append(r.draft(r.play(r.create(name("c"), "3x3"), 3), replay.Entry{Seat: 0, Action: replay.Resigned{}}))
		lost := r.create(name("d"), "classic")
		require.NoError(t, r.log.Quarantine(ctx, name("d"), lost.ID, time.Hour))
		_, err := r.store.Games.Append(ctx, name("e"), store.Entry{
			Next: store.ID{Version: 1, Digest: 1}, Raw: []byte("garbage"), Head: []byte("garbage"), Seed: []byte("garbage"),
		})
		require.NoError(t, err)

		heads, err := r.log.Heads(ctx, []string{a.State.ID, name("d"), b.State.ID, name("nowhere"), name("e"), over.State.ID})
		require.NoError(t, err)
		require.Len(t, heads, 6)
		equal(t, a.State, heads[0].State)
		equal(t, b.State, heads[2].State)
		equal(t, over.State, heads[5].State)
		assert.Equal(t, Head{}, heads[1], "in quarantine")
		assert.Equal(t, Head{}, heads[3])
		assert.Equal(t, Head{Exists: true}, heads[4])
		head, err := r.log.Head(ctx, b.State.ID)
		require.NoError(t, err)
		equal(t, b.State, head.State)
	})
}
