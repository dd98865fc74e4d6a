package fault

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/internal/verify"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
)

// check holds the store, read directly and through a fresh server, against what
// the clients were told.
func check(t *testing.T, w *world) {
	if t.Failed() || t.Skipped() {
		return
	}
	ctx := context.WithoutCancel(t.Context())
	logs := w.logs(ctx, t)
	for gameID := range w.told.events {
		require.Contains(t, logs, gameID, "clients were told of a game that is not there")
	}
	for gameID := range w.told.games {
		require.Contains(t, logs, gameID, "clients were told of a game that is not there")
	}
	fresh := w.serve(w.addr)
	defer fresh.stop()
	anybody := w.anybody(fresh)

	bests := map[string]map[string]score{} // by variant and player
	for _, v := range variants.All() {
		bests[v.ID] = map[string]score{}
	}
	var open, over []string
	for gameID, entries := range logs {
		final := w.checkGame(ctx, t, anybody, gameID, entries)
		if final.Status != replay.Finished {
			open = append(open, gameID)
			continue
		}
		over = append(over, gameID)
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
	// A result that its server did not come to record is recorded by another
	// one some ten seconds later.
	require.Eventually(t, func() bool {
		for _, gameID := range over {
			if w.store.ZScore(ctx, "due", gameID).Err() == nil {
				return false
			}
		}
		return true
	}, patience, 20*time.Millisecond, "results are not recorded")
	for variant, best := range bests {
		checkBoard(ctx, t, anybody, variant, best)
	}
	for _, gameID := range open {
		assert.NoError(t, w.store.ZScore(ctx, "due", gameID).Err(), "nobody will see to an open game")
	}
	readLists(ctx, t, anybody)
	fresh.stop()
	checkRebuilt(ctx, t, w)
}

// keys lists the keys that match, of all nodes.
func (w *world) keys(ctx context.Context, t *testing.T, pattern string) []string {
	t.Helper()
	var mu sync.Mutex
	var all []string
	node := func(ctx context.Context, client *redis.Client) error {
		keys, err := client.Keys(ctx, pattern).Result()
		mu.Lock()
		defer mu.Unlock()
		all = append(all, keys...)
		return err
	}
	switch store := w.store.(type) {
	case *redis.ClusterClient:
		require.NoError(t, store.ForEachMaster(ctx, node))
	case *redis.Client:
		require.NoError(t, node(ctx, store))
	}
	return all
}

// logs reads all logs but those that the test damaged, by game.
func (w *world) logs(ctx context.Context, t *testing.T) map[string][]redis.XMessage {
	t.Helper()
	logs := map[string][]redis.XMessage{}
	for _, key := range w.keys(ctx, t, "game:{*}:log") {
		gameID := strings.TrimSuffix(strings.TrimPrefix(key, "game:{"), "}:log")
		entries, err := w.store.XRange(ctx, key, "-", "+").Result()
		require.NoError(t, err)
		if !w.isSpoiled(gameID) {
			logs[gameID] = entries
		}
	}
	for gameID := range w.spoiled {
		delete(w.told.events, gameID)
		delete(w.told.games, gameID)
	}
	return logs
}

// checkGame plays a game again from its seed and holds the result against what
// a fresh server and all before it said. It returns how the game stands.
func (w *world) checkGame(ctx context.Context, t *testing.T, c *caller, gameID string, entries []redis.XMessage) *replay.State {
	t.Helper()
	for i, entry := range entries {
		version, _, _ := strings.Cut(entry.ID, "-")
		require.Equal(t, strconv.Itoa(i+1), version, "the log has a gap")
	}
	events, err := c.transcript(ctx, gameID, int32(len(entries)))
	require.NoError(t, err)
	told, toldGames := w.told.events[gameID], w.told.games[gameID]
	for version, event := range told {
		require.LessOrEqual(t, int(version), len(events), "somebody was told of an event that is not in the log: %v", event)
	}
	for version, g := range toldGames {
		require.LessOrEqual(t, int(version), len(events), "somebody was told of an event that is not in the log: %v", g)
	}

	secret, _ := entries[0].Values["s"].(string)
	seed, err := game.SeedFromBytes([]byte(secret))
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
		requireSame(t, translate.Event(again), event)
		if e := told[version]; e != nil {
			requireSame(t, event, e)
		}
		if g := toldGames[version]; g != nil {
			requireSame(t, translate.Game(state, 0), g)
		}
	}
	if state.Status == replay.Finished {
		_, err := verify.Transcript(all(events))
		require.NoError(t, err)
	}
	return state
}

func requireSame(t *testing.T, want, got proto.Message) {
	t.Helper()
	if !proto.Equal(want, got) {
		require.Fail(t, "not the same", "%v\nshould be\n%v", got, want)
	}
}

// all yields events as verify takes them.
func all(events []*pb.Event) func(yield func(*pb.Event, error) bool) {
	return func(yield func(*pb.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// score is a result that counts.
type score struct {
	points int32
	at     time.Time
	gameID string
}

// less reports whether other is the better one: of equal scores the earlier.
func (s score) less(other score) bool {
	return cmp.Or(cmp.Compare(s.points, other.points), other.at.Compare(s.at), cmp.Compare(s.gameID, other.gameID)) < 0
}

// checkBoard requires a variant's board of all time to hold each player's best
// and nothing else, in order.
func checkBoard(ctx context.Context, t *testing.T, c *caller, variant string, best map[string]score) {
	t.Helper()
	var entries []*pb.Entry
	for token := ""; ; {
		response, err := c.leaderboard.ListScores(ctx, &pb.ListScoresRequest{Variant: variant, PageToken: token})
		require.NoError(t, err)
		require.EqualValues(t, len(best), response.GetTotal(), "entries on the board of %s", variant)
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
	require.Equal(t, best, listed, "the board of %s", variant)
	require.True(t, slices.IsSortedFunc(entries, func(a, b *pb.Entry) int {
		return cmp.Or(cmp.Compare(b.GetScore(), a.GetScore()), a.GetTime().AsTime().Compare(b.GetTime().AsTime()))
	}), "the board of %s is in no order", variant)
}
