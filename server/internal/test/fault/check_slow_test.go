//go:build slow

package fault

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/internal/testkit/transcript"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/internal/verify"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
	"github.com/gridstand/gridstand/server/internal/store"
)

// check compares the store, both directly and through a fresh server, with what the clients
// observed.
func check(t *testing.T, env *env) {
	if t.Failed() || t.Skipped() {
		return
	}
	ctx := context.WithoutCancel(t.Context())
	logs := env.logs(ctx, t)
	for gameID := range env.observed.events {
		require.Contains(t, logs, gameID, "clients saw a game that does not exist")
	}
	for gameID := range env.observed.games {
		require.Contains(t, logs, gameID, "clients saw a game that does not exist")
	}
	fresh := env.serve()
	defer fresh.stop()
	reader := env.anonymous(fresh)

	bests := map[string]map[string]score{} // by variant and player
	for _, v := range variants.All() {
		bests[v.ID] = map[string]score{}
	}
	var open, over []string
	for gameID, entries := range logs {
		final := env.checkGame(ctx, t, reader, gameID, entries)
		if final.Status != replay.Finished {
			open = append(open, gameID)
			continue
		}
		over = append(over, gameID)
		if final.IsAttempt() {
			continue
		}
		for i, seat := range final.Seats {
			if !final.Scored(i) {
				continue
			}
			s := score{final.Position.Scores()[i], final.UpdateTime, gameID}
			if best, ok := bests[final.Variant.ID][seat.Player.ID]; !ok || best.less(s) {
				bests[final.Variant.ID][seat.Player.ID] = s
			}
		}
	}
	unrecorded := func() []string {
		scheduled := env.scheduled(ctx, t, century)
		return slices.DeleteFunc(slices.Clone(over), func(gameID string) bool { return !slices.Contains(scheduled, gameID) })
	}
	// If a server failed to record a result, the job is leased for a few more seconds.
	require.NoError(t, env.ports().Queue.EnqueueNow(ctx, unrecorded()...))
	waittest.Until(t, "all results are recorded", func() bool { return len(unrecorded()) == 0 })
	for variant, best := range bests {
		checkBoard(ctx, t, reader, variant, best)
	}
	assert.Subset(t, env.scheduled(ctx, t, century), open, "an open game is not scheduled")
	readLists(ctx, t, reader)
	// A server queues corrections of lists. When it stops, it writes them only if the store is fast.
	waittest.Until(t, "the lists are corrected", func() bool { return env.listsCurrent(ctx, t, logs) })
	fresh.stop()
	checkRebuilt(ctx, t, env)
}

// logs reads the logs of all games, except those that the test damaged.
func (env *env) logs(ctx context.Context, t *testing.T) map[string][]store.Record {
	t.Helper()
	logs := map[string][]store.Record{}
	for _, gameID := range env.gameIDs(ctx, t) {
		if !env.isDamaged(gameID) {
			logs[gameID] = env.log(ctx, t, gameID)
		}
	}
	for gameID := range env.damaged {
		delete(env.observed.events, gameID)
		delete(env.observed.games, gameID)
	}
	return logs
}

// checkGame replays a game from its seed and compares the result with the responses of a fresh
// server and with what the clients observed. It returns the game's final state.
func (env *env) checkGame(ctx context.Context, t *testing.T, c *caller, gameID string, entries []store.Record) *replay.State {
	t.Helper()
	for i, entry := range entries {
		require.EqualValues(t, i+1, entry.ID.Version, "the log has a gap")
	}
	events, err := c.transcript(ctx, gameID, int32(len(entries)))
	require.NoError(t, err)
	told, toldGames := env.observed.events[gameID], env.observed.games[gameID]
	for version, event := range told {
		require.LessOrEqual(t, int(version), len(events), "a client saw an event that is not in the log: %v", event)
	}
	for version, g := range toldGames {
		require.LessOrEqual(t, int(version), len(events), "a client saw an event that is not in the log: %v", g)
	}

	seed, err := game.SeedFromBytes(entries[0].Seed)
	require.NoError(t, err)
	var state *replay.State
	var states []*replay.State
	for i, event := range events {
		version := int32(i + 1)
		entry, err := translate.Entry(event)
		require.NoError(t, err)
		var again *replay.Event
		at := event.GetTime().AsTime()
		undone, back := entry.Action.(replay.Undone)
		switch {
		case state == nil:
			again, err = replay.Start(gameID, entry, seed, at)
		case back:
			again, err = state.Undo(entry, states[undone.To-1], at)
		default:
			again, err = state.Apply(entry, at)
		}
		require.NoError(t, err)
		state = again.State
		states = append(states, state)
		if state.IsAttempt() && state.Status == replay.Finished {
			require.Equal(t, seed.SeedBytes(), event.GetSeed(), "the challenge is closed")
			event = proto.CloneOf(event)
			event.Seed = nil
		}
		requireSame(t, translate.Event(again), event)
		if e := told[version]; e != nil {
			requireSame(t, event, e)
		}
		if g := toldGames[version]; g != nil {
			requireSame(t, translate.Game(state, 0), g)
		}
	}
	if state.Status == replay.Finished {
		_, err := verify.Transcript(transcript.All(events))
		require.NoError(t, err)
	}
	return state
}

func requireSame(t *testing.T, want, got proto.Message) {
	t.Helper()
	if !proto.Equal(want, got) {
		require.Fail(t, "not equal", "%v\nshould be\n%v", got, want)
	}
}

// score is a result that counts toward the leaderboard.
type score struct {
	points int32
	at     time.Time
	gameID string
}

// less reports whether s ranks below other. Of two equal scores, the earlier one ranks higher.
func (s score) less(other score) bool {
	return cmp.Or(cmp.Compare(s.points, other.points), other.at.Compare(s.at), cmp.Compare(s.gameID, other.gameID)) < 0
}

// checkBoard requires that a variant's all-time leaderboard contains each player's best score,
// in order, and nothing else.
func checkBoard(ctx context.Context, t *testing.T, c *caller, variant string, best map[string]score) {
	t.Helper()
	var entries []*pb.Entry
	for token := ""; ; {
		response, err := answered(ctx, c, c.leaderboard.ListScores, &pb.ListScoresRequest{Variant: variant, PageToken: token})
		require.NoError(t, err)
		require.EqualValues(t, len(best), response.GetTotal(), "number of entries on the leaderboard of %s", variant)
		entries = append(entries, response.GetEntries()...)
		if token = response.GetNextPageToken(); token == "" {
			break
		}
	}
	listed := map[string]score{}
	for i, e := range entries {
		require.EqualValues(t, i+1, e.GetRank())
		listed[e.GetPlayer().GetId()] = score{e.GetScore(), e.GetTime().AsTime(), e.GetGameId()}
	}
	require.Equal(t, best, listed, "the leaderboard of %s", variant)
	require.True(t, slices.IsSortedFunc(entries, func(a, b *pb.Entry) int {
		return cmp.Or(cmp.Compare(b.GetScore(), a.GetScore()), a.GetTime().AsTime().Compare(b.GetTime().AsTime()))
	}), "the leaderboard of %s is not sorted", variant)
}
