package fault

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that a server that was paused while others kept running bases its responses to pending
// calls on the current state: it makes no move in a game that has advanced, and sends no
// outdated game to a watcher.
func TestServer_Paused_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	env := newEnv(t, redistest.StartRedis(t).Addr())
	paused, other := env.serveProcess(), env.serve()
	here := env.player(paused)
	there := here.on(other)
	game := here.start(t, "6x6")
	const played = 90 // more events follow the pause than a server keeps in memory
	guest := env.anonymous(paused)
	watchers := guest.watchEachWay(t, game.GetId())
	rng := seeded(t)
	last := here.playToChoice(t, rng, game, 10)
	before := last.GetVersion()
	for _, each := range watchers {
		each.awaitVersion(t, before)
	}

	require.NoError(t, paused.process.Pause())
	t.Cleanup(func() { _ = paused.process.Resume() })
	legal := last.GetPosition().GetTwenty48().GetLegalMoves()
	moved, got := make(chan error, 1), make(chan *pb.Game, 1)
	once, cancel := context.WithTimeout(t.Context(), patience) // so that clients do not repeat the pending calls
	defer cancel()
	go func() {
		_, err := here.move(once, game.GetId(), before, legal[0])
		moved <- err
	}()
	last, err := there.move(t.Context(), game.GetId(), before, legal[1])
	require.NoError(t, err)
	last = there.playTo(t, rng, after(last), played)
	go func() {
		g, err := here.get(once, game.GetId())
		assert.NoError(t, err)
		got <- g
	}()
	for name, from := range map[string]*int32{
		"from the game on": nil, "from the start": fromStart(), "from before": proto.Int32(before), "from the last on": proto.Int32(played),
	} {
		watchers[name] = guest.watch(t, game.GetId(), watching{after: from})
	}
	require.NoError(t, paused.process.Resume())

	assert.Equal(t, pb.ReasonVersionConflict, refusalOf(<-moved).reason)
	assert.EqualValues(t, played, (<-got).GetVersion())
	last = here.playTo(t, rng, after(last), played+5)
	resigned, err := there.resign(t.Context(), game.GetId())
	require.NoError(t, err)
	assert.Equal(t, last.GetVersion()+1, resigned.GetVersion())
	for name, each := range watchers {
		require.NoError(t, each.awaitEnd(t), name)
		assert.Equal(t, resigned.GetVersion(), each.version(), name)
	}
	assert.Zero(t, watchers["every event"].covered())
}
