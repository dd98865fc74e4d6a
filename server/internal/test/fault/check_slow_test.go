//go:build slow

package fault

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/testkit/transcript"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/internal/verify"
	"github.com/gridstand/gridstand/proto/translate"
	"github.com/gridstand/gridstand/server/internal/store"
)

// check compares the store, both directly and through a fresh server, with what the clients
// observed.
func check(t *testing.T, env *env) {
	if t.Failed() || t.Skipped() || env.unchecked {
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

	var open, over []string
	for gameID, entries := range logs {
		if env.checkGame(ctx, t, reader, gameID, entries).Status == replay.Finished {
			over = append(over, gameID)
		} else {
			open = append(open, gameID)
		}
	}
	unrecorded := func() []string {
		scheduled := env.scheduled(ctx, t)
		return slices.DeleteFunc(slices.Clone(over), func(gameID string) bool { return !slices.Contains(scheduled, gameID) })
	}
	// If a server failed to record a result, the job is leased for a few more seconds.
	require.NoError(t, env.ports().Queue.EnqueueBy(ctx, store.AtOnce, unrecorded()...))
	waittest.Until(t, "all results are recorded", func() bool { return len(unrecorded()) == 0 })
	assert.Subset(t, env.scheduled(ctx, t), open, "an open game is not scheduled")
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
		if !env.damaged[gameID] {
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
