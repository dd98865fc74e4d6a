package fault

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	"github.com/gridstand/gridstand/internal/verify"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

const (
	// Games on large boards last for thousands of random moves, so the tests resign at these
	// versions. gRPC's buffers for a stream hold about 500 events of the long game, and the
	// server keeps 64 more. So if a watcher reads nothing until the end, the server has to send
	// it the whole game instead of the events.
	shortened = 100
	longGame  = 680
)

// giveUps holds the version at which to resign, by variant. Games of other variants are played
// to the end.
var giveUps = map[string]int32{"5x5": shortened, "6x6": longGame}

// solo returns the single-player variants.
func solo() []game.Variant {
	return slices.DeleteFunc(variants.All(), func(v game.Variant) bool { return v.Seats > 1 })
}

// Ensure that, in every single-player variant, each watcher receives each event once and in
// order from either of two servers, and that the game can be recomputed from its seed.
func TestWholeGames_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		first, second := env.servePair()
		for _, v := range solo() {
			t.Run(v.ID, func(t *testing.T) {
				t.Parallel()
				watchWholeGame(t, env, v.ID, first, second, func(int32) {})
			})
		}
	})
}

// watchWholeGame plays a game on two servers while watchers of all kinds follow it, and calls played
// with the version of each event.
func watchWholeGame(t *testing.T, env *env, variant string, first, second *testServer, played func(version int32)) {
	here := env.player(first)
	there := here.on(second)
	game := here.start(t, variant)
	gate := make(chan struct{})

	guest, guestThere := env.anonymous(first), env.anonymous(second)
	watchers := map[string]*watcher{
		"from the start":               guest.watch(t, game.GetId(), watching{}),
		"on the other server":          guestThere.watch(t, game.GetId(), watching{}),
		"the player":                   here.watch(t, game.GetId(), watching{every: true}),
		"resuming":                     guest.watch(t, game.GetId(), watching{cut: 7}),
		"resuming on the other server": guestThere.watch(t, game.GetId(), watching{cut: 13, after: fromStart(), every: true}),
	}
	slow := map[string]*watcher{
		"slow":                      guest.watch(t, game.GetId(), watching{gate: gate}),
		"slow, every event":         guest.watch(t, game.GetId(), watching{gate: gate, every: true}),
		"slow, on the other server": guestThere.watch(t, game.GetId(), watching{gate: gate, after: proto.Int32(1)}),
	}
	for _, each := range watchers {
		each.awaitVersion(t, 1)
	}
	err := play(t.Context(), seeded(t), game, giveUps[variant], func(version int32) {
		if version == 20 {
			watchers["late"] = guest.watch(t, game.GetId(), watching{})
			watchers["late, from the first event"] = guestThere.watch(t, game.GetId(), watching{after: fromStart()})
		}
		played(version)
	}, here, there)
	require.NoError(t, err)
	close(gate)
	final, err := there.get(t.Context(), game.GetId())
	require.NoError(t, err)
	for name, each := range watchers {
		require.NoError(t, each.awaitEnd(t), name)
		assert.Equal(t, final.GetVersion(), each.version(), name)
	}
	for name, each := range slow {
		require.NoError(t, each.awaitEnd(t), name)
		assert.Equal(t, final.GetVersion(), each.version(), name)
		if giveUps[variant] == longGame && !each.every {
			assert.NotZero(t, each.covered(), "%s: the watcher was sent every event", name)
		}
	}
	watchers["afterwards"] = guest.watch(t, game.GetId(), watching{})
	require.NoError(t, watchers["afterwards"].awaitEnd(t))
	checkAltered(t, guest, final)
}

// checkAltered requires that verification accepts a transcript, but rejects it if any single
// tile is altered.
func checkAltered(t *testing.T, c *caller, final *pb.Game) {
	t.Helper()
	events, err := c.transcript(t.Context(), final.GetId(), final.GetVersion())
	require.NoError(t, err)
	report, err := verify.Transcript(all(events))
	require.NoError(t, err)
	assert.EqualValues(t, final.GetVersion(), report.Versions)
	assert.Equal(t, final.GetPosition().GetScores(), report.Scores)

	rng := seeded(t)
	at := rng.IntN(len(events))
	altered := proto.CloneOf(events[at])
	tiles := altered.GetPosition().GetTwenty48().GetTiles()
	tiles[rng.IntN(len(tiles))] += 2
	events[at] = altered
	_, err = verify.Transcript(all(events))
	var difference *verify.Difference
	require.ErrorAs(t, err, &difference)
	assert.Equal(t, altered.GetVersion(), difference.Version)
	assert.Contains(t, difference.What, "tile")
}
