package rpc

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/gridstand/gridstand/game/replay"
	replaytest "github.com/gridstand/gridstand/internal/testkit/replay"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// bareStream is a stream with only a context, which may be nil.
type bareStream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s bareStream) Context() context.Context { return cmp.Or(s.ctx, context.Background()) }

// Ensure that who resumes a watch pays for the events that it gets from memory.
func TestGameView_Begin(t *testing.T) {
	t.Parallel()
	for behind, want := range map[int32]int{0: 0, 9: 0, 10: 1, match.RingSize: 6, 500: 6} {
		after := 1000 - behind
		reads, err := new(gameView).begin(&after, &replay.State{Version: 1000})
		require.NoError(t, err)
		assert.Equal(t, want, reads, behind)
	}
	reads, err := new(gameView).begin(nil, &replay.State{Version: 1000})
	require.NoError(t, err)
	assert.Zero(t, reads, "a watch that begins with the game")
}

// Ensure that a stream reads the next page of a game's history only after gRPC has written the last one, or
// the client has left: the pages in gRPC's queues would take much memory.
func TestGameView_Replay(t *testing.T) {
	t.Parallel()
	seed, kept := replaytest.Seed(t, 1), storetest.OnSQLite(t, sqlite.Options{Memory: true})
	hub := match.NewHub(match.Config{Log: gamelog.New(kept.Games), Jobs: noJobs{}})
	created := replaytest.Created(t, "classic", replay.Player{}, seed)
	_, err := hub.Create(t.Context(), raceID(0), created, seed, time.Time{})
	require.NoError(t, err)
	m, err := hub.Acquire(t.Context(), raceID(0))
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		replay := func(ctx context.Context, written chan struct{}) <-chan error {
			replayed := make(chan error, 1)
			v := &gameView{View: View{stream: bareStream{ctx: ctx}}, past: m.History(1), written: written}
			go func() { replayed <- v.replay() }()
			synctest.Wait()
			return replayed
		}
		ctx, leave := context.WithCancel(t.Context())
		written := make(chan struct{})
		stays, leaves := replay(t.Context(), written), replay(ctx, nil)
		require.NoError(t, <-leaves, "no page is being written")
		leaves = replay(ctx, written)
		assert.Empty(t, stays)
		assert.Empty(t, leaves)
		leave()
		require.ErrorIs(t, <-leaves, context.Canceled)
		close(written)
		require.NoError(t, <-stays)
	})
}

// Ensure that a panic ends only the affected stream. The goroutines that follow event
// streams run outside the interceptor that recovers from panics, so an unrecovered panic
// would crash the server.
func TestView_Panics(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := &Service{Config: Config{Logger: slog.New(slog.NewTextHandler(&log, nil))}}
	v := &View{service: s, stream: bareStream{ctx: t.Context()}} // no game, so following it panics
	ended := make(chan error, 1)
	v.Start(func(err error) { ended <- err })
	assert.ErrorContains(t, <-ended, "internal error")
	assert.Contains(t, log.String(), "id=call-panicked")
}
