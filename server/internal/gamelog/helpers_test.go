package gamelog

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/id"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	replaytest "github.com/gridstand/gridstand/internal/testkit/replay"
	"github.com/gridstand/gridstand/internal/testkit/testmain"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

func TestMain(m *testing.M) { testmain.Run(m, redistest.StillDialing) }

// rig is a store with a Log that uses it.
type rig struct {
	t     *testing.T
	store *store.Store
	log   *Log
}

// each runs a test with every engine.
func each(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, s *store.Store) { test(t, &rig{t: t, store: s, log: New(s.Games)}) })
}

var ann = replay.Player{ID: id.Derive([]byte("ann")), Name: "Ann"}

func name(s string) string { return id.Derive([]byte("game"), []byte(s)) }

var (
	seed  = replaytest.Seed
	equal = replaytest.Equal
)

// created is the first entry of a game of the given variant that Ann creates for herself,
// with bots in all other seats.
func created(t testing.TB, variant string, s game.Seed) replay.Created {
	t.Helper()
	return replaytest.Created(t, variant, ann, s)
}

func (r *rig) create(gameID, variant string) Tip {
	r.t.Helper()
	s := seed(r.t, gameID[0])
	d, err := NewGame(gameID, created(r.t, variant, s), s)
	require.NoError(r.t, err)
	return r.append(d)
}

func (r *rig) append(d *Draft) Tip {
	r.t.Helper()
	require.NoError(r.t, r.log.Append(r.t.Context(), d))
	return d.Tip()
}

func (r *rig) draft(tip Tip, e replay.Entry) *Draft {
	r.t.Helper()
	d, err := tip.Draft(e, time.Time{}, nil)
	require.NoError(r.t, err)
	return d
}

// play appends n moves.
func (r *rig) play(tip Tip, n int) Tip {
	r.t.Helper()
	for range n {
		tip = r.append(r.draft(tip, replay.Entry{Seat: 0, Action: replaytest.Lasting(r.t, tip.State)}))
	}
	return tip
}

// content is all data in the store about one game.
type content struct {
	tail    store.Tail
	head    store.Head
	records []store.Record
}

func (r *rig) content(gameID string) content {
	r.t.Helper()
	ctx := r.t.Context()
	tail, err := r.store.Games.Tail(ctx, gameID)
	require.NoError(r.t, err)
	heads, err := r.store.Games.Heads(ctx, []string{gameID})
	require.NoError(r.t, err)
	records, err := r.store.Games.Entries(ctx, gameID, 1, 1000)
	require.NoError(r.t, err)
	return content{tail, heads[0], records}
}

// sound checks the invariants of an undamaged game: its versions are contiguous, its log
// replays to tip, and its head has the last ID and the state.
func (r *rig) sound(tip Tip) {
	r.t.Helper()
	gameID := tip.State.ID
	tail, err := r.log.Tail(r.t.Context(), gameID)
	require.NoError(r.t, err)
	require.True(r.t, tail.Sound(), "%+v", tail)
	require.Equal(r.t, tip.ID, tail.Last)

	version, last := int32(0), (*replay.State)(nil)
	end, err := r.log.Load(r.t.Context(), gameID, tip.ID, func(e *replay.Event) {
		version, last = version+1, e.State
		require.Equal(r.t, version, last.Version)
	})
	require.NoError(r.t, err)
	require.Equal(r.t, tip.ID, end.ID)
	equal(r.t, tip.State, end.State)
	equal(r.t, tip.State, last)
	heads, err := r.log.Heads(r.t.Context(), []string{gameID})
	require.NoError(r.t, err)
	equal(r.t, tip.State, heads[0].State)
}
