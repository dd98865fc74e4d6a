//go:build slow

package fault

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/variants"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// operator opens the store the same way as the operator's commands do.
func (env *env) operator(ctx context.Context, t *testing.T) *server.Operator {
	t.Helper()
	url := env.url
	if env.redis != nil {
		url += "?read_timeout=1m" // for machines with slow disks
	}
	operator, err := server.Operate(ctx, testConfig(url), false)
	require.NoError(t, err)
	return operator
}

// derived returns all lists, and the leaderboards that are current at the given time.
func (env *env) derived(ctx context.Context, t *testing.T, at time.Time) map[string]any {
	t.Helper()
	all := env.boards(ctx, t, at)
	for name, games := range env.lists(ctx, t) {
		all[name] = games
	}
	return all
}

// deleteDerived deletes everything that is derived from logs.
func (env *env) deleteDerived(ctx context.Context, t *testing.T) {
	t.Helper()
	ports := env.ports()
	require.NoError(t, ports.Boards.Clear(ctx))
	ids := env.gameIDs(ctx, t)
	for _, l := range env.listNames() {
		require.NoError(t, ports.Lists.Forget(ctx, l, ids...))
	}
	for _, gameID := range ids {
		require.NoError(t, ports.Queue.Remove(ctx, gameID))
	}
}

// checkRebuilt deletes everything that is derived from logs, rebuilds it, and requires that the
// result is identical, entry by entry. No server may be running.
func checkRebuilt(ctx context.Context, t *testing.T, env *env) {
	t.Helper()
	now := time.Now()
	kept := env.derived(ctx, t, now)
	due := env.scheduled(ctx, t)
	env.deleteDerived(ctx, t)
	require.Empty(t, env.derived(ctx, t, now))
	operator := env.operator(ctx, t)
	defer operator.Close()
	rebuilt, err := operator.Rebuild(ctx)
	require.NoError(t, err)
	assert.Equal(t, kept, env.derived(ctx, t, now))
	for _, gameID := range rebuilt.Damaged {
		assert.True(t, env.damaged[gameID], "the rebuild reports game %s as damaged", gameID)
	}
	assert.Subset(t, due, env.scheduled(ctx, t))
}

// readLists reads all lists, which makes the server correct entries that were written late.
func readLists(ctx context.Context, t *testing.T, c *caller) {
	t.Helper()
	for _, v := range append(variants.All(), game.Variant{}) { // the last stands for all of them
		for status := range pb.GameStatus_name {
			for order := range pb.OrderBy_name {
				request := &pb.ListGamesRequest{Variant: v.ID, Status: pb.GameStatus(status), OrderBy: pb.OrderBy(order), PageSize: 200}
				if request.GetStatus() != pb.GameStatus_GAME_STATUS_ACTIVE && order > int32(pb.OrderBy_ORDER_BY_RECENT) {
					continue
				}
				for more := true; more; more = request.GetPageToken() != "" {
					reply, err := answered(ctx, c, c.games.ListGames, request)
					require.NoError(t, err)
					request.PageToken = reply.GetNextPageToken()
				}
			}
		}
	}
}
