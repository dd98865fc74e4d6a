//go:build slow

package fault

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/store"
)

// pageSize is the number of entries of a log or list that are read at a time.
const pageSize = 500

// gameIDs returns the IDs of the games that have a log.
func (env *env) gameIDs(ctx context.Context, t *testing.T) []string {
	t.Helper()
	all := map[string]bool{}
	require.NoError(t, env.ports().Games.IDs(ctx, func(some []string) error {
		for _, id := range some {
			all[id] = true
		}
		return nil
	}))
	return slices.Collect(maps.Keys(all))
}

// log returns all entries of a log.
func (env *env) log(ctx context.Context, t *testing.T, gameID string) []store.Record {
	t.Helper()
	var log []store.Record
	for {
		some, err := env.ports().Games.Entries(ctx, gameID, int32(len(log)+1), pageSize)
		require.NoError(t, err)
		log = append(log, some...)
		if len(some) < pageSize {
			return log
		}
	}
}

// seed returns a game's seed.
func (env *env) seed(ctx context.Context, t *testing.T, gameID string) game.Seed {
	t.Helper()
	first, err := env.ports().Games.Entries(ctx, gameID, 1, 1)
	require.NoError(t, err)
	require.Len(t, first, 1)
	seed, err := game.SeedFromBytes(first[0].Seed)
	require.NoError(t, err)
	return seed
}

// length returns the number of entries in a log.
func (env *env) length(t *testing.T, gameID string) int64 {
	t.Helper()
	tail, err := env.ports().Games.Tail(t.Context(), gameID)
	require.NoError(t, err)
	return tail.Length
}

// scheduled returns the games that have a job.
func (env *env) scheduled(ctx context.Context, t *testing.T) []string {
	t.Helper()
	queue := env.ports().Queue
	return slices.DeleteFunc(env.gameIDs(ctx, t), func(gameID string) bool {
		at, err := queue.Scheduled(ctx, gameID)
		require.NoError(t, err)
		return at.IsZero()
	})
}

// boards returns the leaderboards that are current at the given time, by name.
func (env *env) boards(ctx context.Context, t *testing.T, at time.Time) map[string]any {
	t.Helper()
	all, ports := map[string]any{}, env.ports()
	now := func(context.Context) (time.Time, error) { return at, nil }
	boards := leaderboard.New(ports.Boards, page.NewTokens(ports.Secrets), now)
	for _, v := range variants.All() {
		for _, window := range []leaderboard.Window{leaderboard.All, leaderboard.Week, leaderboard.Day} {
			shown, err := boards.List(ctx, leaderboard.Board{Variant: v.ID, Window: window}, "", page.MaxSize)
			require.NoError(t, err)
			require.Empty(t, shown.Next, "one page is compared")
			if shown.Total > 0 {
				all[fmt.Sprintf("board %v of %s", window, v.ID)] = shown
			}
		}
	}
	return all
}

// lists returns all lists, by name and game. It includes a game's rank only if the rank does not
// depend on the current time.
func (env *env) lists(ctx context.Context, t *testing.T) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	for _, l := range env.listNames() {
		games := map[string]any{}
		var after store.Place
		for {
			some, err := env.ports().Lists.Page(ctx, l, after, pageSize)
			require.NoError(t, err)
			for _, place := range some {
				games[place.GameID] = nil
				if l.Order == store.Recent && l.PlayerID == "" {
					games[place.GameID] = place.Rank
				}
				after = place
			}
			if len(some) < pageSize {
				break
			}
		}
		maps.DeleteFunc(games, func(gameID string, _ any) bool { return env.damaged[gameID] })
		if len(games) > 0 {
			all[fmt.Sprintf("list %+v", l)] = games
		}
	}
	return all
}

// listsCurrent reports whether the lists have the time of each game's last event or a later time.
func (env *env) listsCurrent(ctx context.Context, t *testing.T, logs map[string][]store.Record) bool {
	t.Helper()
	for _, games := range env.lists(ctx, t) {
		for gameID, rank := range games {
			entries := logs[gameID]
			if at, ok := rank.(int64); ok && len(entries) > 0 && at < entries[len(entries)-1].Time.UnixMilli() {
				return false
			}
		}
	}
	return true
}

// listNames returns all possible lists.
func (env *env) listNames() []store.List {
	env.mu.Lock()
	defer env.mu.Unlock()
	var all []store.List
	for _, playerID := range env.players {
		all = append(all, store.List{PlayerID: playerID})
	}
	for _, v := range append(variants.All(), game.Variant{}) { // the last stands for all of them
		for _, status := range []store.Status{store.AnyStatus, store.Waiting, store.Active, store.Finished} {
			all = append(all, store.List{Order: store.Recent, Status: status, Variant: v.ID})
		}
		for _, order := range []store.Order{store.ByScore, store.ByWatchers} {
			all = append(all, store.List{Order: order, Status: store.Active, Variant: v.ID})
		}
	}
	return all
}
