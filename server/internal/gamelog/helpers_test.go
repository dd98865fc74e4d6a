package gamelog

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/internal/id"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/internal/testkit/testmain"
)

func TestMain(m *testing.M) { testmain.Run(m, redistest.StillDialing) }

// rig is a Redis with a Log on it.
type rig struct {
	t      *testing.T
	client redis.UniversalClient
	addr   string
	log    *Log
}

// each runs a test on every Redis there is.
func each(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		test(t, newRig(t, client))
	})
}

// in is r for a subtest.
func (r *rig) in(t *testing.T) *rig {
	sub := *r
	sub.t = t
	return &sub
}

func newRig(t *testing.T, client redis.UniversalClient) *rig {
	t.Helper()
	addr := client.(*redis.Client).Options().Addr
	return &rig{t: t, client: client, addr: addr, log: newLog(t, addr)}
}

// newLog makes a Log on the Redis at addr.
func newLog(t *testing.T, addr string) *Log { return newLogWith(t, addr, 10*time.Second) }

// newLogWith makes a Log that waits for so long for an answer.
func newLogWith(t *testing.T, addr string, readTimeout time.Duration) *Log {
	t.Helper()
	appends := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, ReadTimeout: readTimeout})
	reads := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() {
		_ = appends.Close()
		_ = reads.Close()
	})
	l, err := New(appends, reads)
	require.NoError(t, err)
	return l
}

var ann = replay.Player{ID: id.Derive([]byte("ann")), Name: "Ann"}

// seed returns one of 256 seeds.
func seed(t testing.TB, first byte) game.Seed {
	t.Helper()
	b := make([]byte, game.SeedSize)
	b[0] = first
	s, err := game.SeedFromBytes(b)
	require.NoError(t, err)
	return s
}

func name(s string) string { return id.Derive([]byte("game"), []byte(s)) }

// created is how Ann creates a game of a variant for herself, against bots where
// there are more seats.
func created(t testing.TB, variant string, s game.Seed) replay.Created {
	t.Helper()
	v, ok := variants.Current(variant)
	require.True(t, ok)
	seats := slices.Repeat([]replay.Seat{{Bot: "greedy"}}, v.Seats)
	seats[0] = replay.Seat{Player: ann}
	return replay.Created{
		Variant: v.ID, Revision: v.Revision, Creator: ann, Seats: seats, Commitment: s.Commitment(),
	}
}

// create creates a game.
func (r *rig) create(gameID, variant string) Tip {
	r.t.Helper()
	s := seed(r.t, gameID[0])
	d, err := NewGame(gameID, created(r.t, variant, s), s)
	require.NoError(r.t, err)
	return r.append(d)
}

func (r *rig) append(d *Draft) Tip {
	r.t.Helper()
	appended, err := r.log.Append(r.t.Context(), d)
	require.NoError(r.t, err)
	require.Same(r.t, appended.Tip.State, appended.Event.State)
	return appended.Tip
}

// moved is the entry of a legal move, the nth of those in the position.
func moved(s *replay.State, nth int) replay.Entry {
	legal := s.LegalMoves()
	return replay.Entry{Seat: 0, Action: replay.Moved{Move: legal[nth%len(legal)]}}
}

func (r *rig) draft(tip Tip, e replay.Entry) *Draft {
	r.t.Helper()
	d, err := tip.Draft(e, time.Time{}, nil)
	require.NoError(r.t, err)
	return d
}

// play appends n moves of a game that does not end meanwhile: it heads for a
// corner, as people do.
func (r *rig) play(tip Tip, n int) Tip {
	r.t.Helper()
	for range n {
		legal := tip.State.LegalMoves()
		require.NotEmpty(r.t, legal)
		move := legal[0]
		for _, d := range []game.Direction{game.Up, game.Right, game.Down, game.Left} {
			if slices.Contains(legal, game.Slide(d)) {
				move = game.Slide(d) // The last one that is legal.
			}
		}
		tip = r.append(r.draft(tip, replay.Entry{Seat: 0, Action: replay.Moved{Move: move}}))
	}
	return tip
}

// content is all that Redis holds of a game.
type content struct {
	log  []redis.XMessage
	meta map[string]string
	keys int
}

func (r *rig) content(gameID string) content {
	r.t.Helper()
	ctx := r.t.Context()
	log, err := r.client.XRange(ctx, logKey(gameID), "-", "+").Result()
	require.NoError(r.t, err)
	meta, err := r.client.HGetAll(ctx, metaKey(gameID)).Result()
	require.NoError(r.t, err)
	keys, err := r.client.Keys(ctx, "*").Result()
	require.NoError(r.t, err)
	return content{log: log, meta: meta, keys: len(keys)}
}

// rewrite replaces the entries of a log, whatever Redis thinks of it.
func (r *rig) rewrite(gameID string, change func([]redis.XMessage) []redis.XMessage) {
	r.t.Helper()
	ctx := r.t.Context()
	log, err := r.client.XRange(ctx, logKey(gameID), "-", "+").Result()
	require.NoError(r.t, err)
	require.NoError(r.t, r.client.Del(ctx, logKey(gameID)).Err())
	for _, m := range change(log) {
		values := make([]any, 0, 6)
		for _, field := range slices.Sorted(maps.Keys(m.Values)) {
			values = append(values, field, m.Values[field])
		}
		require.NoError(r.t, r.client.XAdd(ctx, &redis.XAddArgs{Stream: logKey(gameID), ID: m.ID, Values: values}).Err())
	}
}

// sound checks what always holds of an undamaged game: contiguous versions, a
// log that replays to tip, and meta naming its end and showing its state.
func (r *rig) sound(tip Tip) {
	r.t.Helper()
	gameID := tip.State.ID
	tail, err := r.log.Tail(r.t.Context(), gameID)
	require.NoError(r.t, err)
	require.True(r.t, tail.Sound(), "%+v", tail)
	require.Equal(r.t, tip.ID, tail.Last)

	var versions []int32
	require.NoError(r.t, r.log.Replay(r.t.Context(), gameID, 0, func(e *replay.Event) error {
		versions = append(versions, e.State.Version)
		return nil
	}))
	require.Len(r.t, versions, int(tip.ID.Version))
	for i, v := range versions {
		require.EqualValues(r.t, i+1, v)
	}
	history, err := r.log.Load(r.t.Context(), gameID, tip.ID, 1)
	require.NoError(r.t, err)
	equal(r.t, tip.State, history.Tip.State)
	equal(r.t, tip.State, history.Events[0].State)
	heads, err := r.log.Heads(r.t.Context(), []string{gameID})
	require.NoError(r.t, err)
	equal(r.t, tip.State, heads[0].State)
}

// equal compares states, but for the seed of a game that goes on.
func equal(t testing.TB, want, got *replay.State) {
	t.Helper()
	require.NotNil(t, got)
	require.Equal(t, board(want), board(got))
	require.Equal(t, want.RevealedSeed().SeedBytes(), got.RevealedSeed().SeedBytes())
	plain := func(s *replay.State) replay.State {
		c, variant := *s.WithSeed(game.Seed{}), *s.Variant
		c.Position, c.Variant, variant.Rules = nil, &variant, nil
		return c
	}
	require.Equal(t, plain(want), plain(got))
}
