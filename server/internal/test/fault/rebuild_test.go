package fault

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
	gamelogv1 "github.com/gridstand/gridstand/server/internal/gamelog/v1"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
	"github.com/gridstand/gridstand/server/internal/store"
)

// operator opens the store the same way as the operator's commands do.
func (env *env) operator(ctx context.Context, t *testing.T) *server.Operator {
	t.Helper()
	url := env.url
	if env.redis != nil {
		url += "?read_timeout=1m" // for machines with slow disks
	}
	operator, err := server.Operate(ctx, testConfig(url))
	require.NoError(t, err)
	return operator
}

// derived returns all leaderboards and lists.
func (env *env) derived(ctx context.Context, t *testing.T) map[string]map[string]any {
	t.Helper()
	all := env.lists(ctx, t)
	maps.Copy(all, env.boards(ctx, t))
	return all
}

// deleteDerived deletes all leaderboards, lists and jobs.
func (env *env) deleteDerived(ctx context.Context, t *testing.T) {
	t.Helper()
	if env.redis == nil {
		env.deleteDerivedByPorts(ctx, t)
		return
	}
	for _, pattern := range []string{"scores:*", "games:*", "player:{*}:games", "due"} {
		keys := env.keys(ctx, t, pattern)
		// Sort each board's hash of best members before the board, so that the loop does not
		// delete the board before it deletes both together.
		slices.SortFunc(keys, func(a, b string) int { return strings.Compare(b, a) })
		for _, key := range keys { // one command per key, because in a cluster the keys are in different slots
			lost := []string{key}
			if board, ok := strings.CutSuffix(key, ":best"); ok {
				// Delete the hash and the board with one command, because a result recorded in
				// between would leave a player with two entries on the board.
				lost = append(lost, board)
			}
			require.NoError(t, env.redis.Del(ctx, lost...).Err())
		}
	}
}

// deleteDerivedByPorts implements deleteDerived for any store.
func (env *env) deleteDerivedByPorts(ctx context.Context, t *testing.T) {
	t.Helper()
	ports := env.ports()
	for _, b := range env.boardNames(ctx, t) {
		var all []store.BoardEntry
		require.NoError(t, ports.Boards.Entries(ctx, b, func(some []store.BoardEntry) error {
			all = append(all, some...)
			return nil
		}))
		for _, e := range all {
			_, err := ports.Boards.Drop(ctx, b, e.PlayerID, e.Member)
			require.NoError(t, err)
		}
	}
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
	kept := env.derived(ctx, t)
	due := env.scheduled(ctx, t, century)
	env.deleteDerived(ctx, t)
	require.Empty(t, env.derived(ctx, t))
	operator := env.operator(ctx, t)
	defer operator.Close()
	rebuilt, err := operator.Rebuild(ctx)
	require.NoError(t, err)
	assert.Equal(t, kept, env.derived(ctx, t))
	assert.Zero(t, rebuilt.Pruned)
	for _, gameID := range rebuilt.Damaged {
		assert.True(t, env.isDamaged(gameID), "the rebuild reports game %s as damaged", gameID)
	}
	assert.Subset(t, due, env.scheduled(ctx, t, century))
}

// readLists reads all lists, which makes the server correct entries that were written late.
func readLists(ctx context.Context, t *testing.T, c *caller) {
	t.Helper()
	ids := []string{""}
	for _, v := range variants.All() {
		ids = append(ids, v.ID)
	}
	for _, variant := range ids {
		for status := range pb.GameStatus_name {
			for order := range pb.OrderBy_name {
				request := &pb.ListGamesRequest{Variant: variant, Status: pb.GameStatus(status), OrderBy: pb.OrderBy(order), PageSize: 200}
				if request.GetStatus() != pb.GameStatus_GAME_STATUS_ACTIVE && order > int32(pb.OrderBy_ORDER_BY_RECENT) {
					continue
				}
				for more := true; more; more = request.GetPageToken() != "" {
					var reply *pb.ListGamesResponse
					require.NoError(t, c.untilAnswered(ctx, func(ctx context.Context) (err error) {
						reply, err = c.games.ListGames(ctx, request)
						return err
					}))
					request.PageToken = reply.GetNextPageToken()
				}
			}
		}
	}
}

// playScored plays a game, resigns it with a score above 0, and returns its ID and score.
func (c *caller) playScored(t *testing.T) (gameID string, score int32) {
	t.Helper()
	game := c.start(t, "classic")
	last := c.playTo(t, seeded(t), game, 20)
	_, err := c.resign(t.Context(), game.GetId())
	require.NoError(t, err)
	score = last.GetPosition().GetScores()[0]
	require.Positive(t, score)
	return game.GetId(), score
}

// board returns the all-time scores of the classic variant, by player.
func (c *caller) board(t *testing.T) map[string]int32 {
	t.Helper()
	reply, err := c.leaderboard.ListScores(t.Context(), &pb.ListScoresRequest{Variant: "classic"})
	require.NoError(t, err)
	scores := map[string]int32{}
	for _, e := range reply.GetEntries() {
		scores[e.GetPlayer().GetId()] = e.GetScore()
	}
	return scores
}

// listed returns the IDs of the finished games in a list, either one player's or all players'.
func (c *caller) listed(t *testing.T, playerID string) []string {
	t.Helper()
	reply, err := c.games.ListGames(c.authorized(t.Context()), &pb.ListGamesRequest{
		Status: pb.GameStatus_GAME_STATUS_FINISHED, PlayerId: playerID,
	})
	require.NoError(t, err)
	var ids []string
	for _, g := range reply.GetGames() {
		ids = append(ids, g.GetId())
	}
	return ids
}

// Ensure that a player whom the operator hides is on no leaderboard and in no public list, no
// matter what is recorded or rebuilt, and reappears with every result once the operator unhides
// the player.
func TestHide(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		srv := env.serve()
		cheat, honest := env.player(srv), env.player(srv)
		first, _ := cheat.playScored(t)
		other, points := honest.playScored(t)
		operator := env.operator(t.Context(), t)
		defer operator.Close()

		name, id, err := operator.Hide(t.Context(), cheat.id)
		require.NoError(t, err)
		assert.Equal(t, cheat.id, id)
		second, _ := cheat.playScored(t)
		_, err = operator.Rebuild(t.Context())
		require.NoError(t, err)
		for _, c := range []*caller{cheat, honest} {
			assert.Equal(t, map[string]int32{honest.id: points}, c.board(t))
			assert.Equal(t, []string{other}, c.listed(t, ""))
			assert.ElementsMatch(t, []string{first, second}, c.listed(t, cheat.id))
		}
		_, err = cheat.leaderboard.GetRank(t.Context(), &pb.GetRankRequest{Variant: "classic", PlayerId: cheat.id})
		assert.Equal(t, pb.ReasonNoScore, refusalOf(checkError(err)).reason)
		for name, board := range env.boards(t.Context(), t) {
			assert.NotContains(t, board, cheat.id, name)
		}

		// Unhide ignores the case of the name.
		_, id, err = operator.Unhide(t.Context(), strings.ToUpper(name))
		require.NoError(t, err)
		assert.Equal(t, cheat.id, id)
		assert.Len(t, honest.board(t), 2)
		assert.Len(t, honest.listed(t, ""), 3)
		_, _, err = operator.Hide(t.Context(), "nobody")
		assert.ErrorIs(t, err, server.ErrNoPlayer)
	})
}

// Ensure that a rebuild removes wrong entries from a leaderboard and restores the lower scores
// that they replaced.
func TestRebuild_Prunes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		c := env.player(env.serve())
		gameID, points := c.playScored(t)
		ctx := t.Context()
		allTime := store.Board{Variant: "classic", Window: "all"}
		var page store.BoardPage
		// If Redis is slow, a server records a result after it has answered the last call.
		require.Eventually(t, func() (recorded bool) {
			var err error
			page, err = env.ports().Boards.Page(ctx, allTime, 0, 10)
			return assert.NoError(t, err) && len(page.Entries) > 0
		}, patience, 20*time.Millisecond)
		require.Len(t, page.Entries, 1)
		right := page.Entries[0].Member
		for playerID, member := range map[string]string{
			c.id:                           strings.Replace(right, gameID, strings.Repeat("a", len(gameID)), 1),
			strings.Repeat("b", len(c.id)): strings.Replace(right, c.id, strings.Repeat("b", len(c.id)), 1),
		} {
			require.Contains(t, member, playerID)
			require.NoError(t, env.ports().Boards.Record(ctx, store.BoardEntry{PlayerID: playerID, Score: 1e6, Member: member}, allTime))
		}

		operator := env.operator(ctx, t)
		defer operator.Close()
		rebuilt, err := operator.Rebuild(ctx)
		require.NoError(t, err)
		assert.Equal(t, 2, rebuilt.Pruned)
		assert.Equal(t, map[string]int32{c.id: points}, c.board(t))
	})
}

// Ensure that a rebuild removes scores of Tribolo games between two humans that an earlier
// version of the server ranked, and that they stay removed even though the data stored alongside
// the log still marks the game as ranked.
func TestRebuild_Puppets(t *testing.T) {
	t.Parallel()
	onRedis(t, func(t *testing.T, env *env) {
		server := env.serve()
		player, puppet := env.player(server), env.player(server)
		game := player.table(t, &pb.CreateGameRequest{Seats: []*pb.SeatRequest{callerSeat, openSeat, greedyBot}})
		assert.True(t, game.GetRanked(), "a game is ranked until another player joins")
		joined, err := puppet.join(t.Context(), game.GetId())
		require.NoError(t, err)
		assert.False(t, joined.GetRanked())
		seats := []*participant{
			participate(t, &participant{gameID: game.GetId(), clients: []*caller{player}}),
			participate(t, &participant{gameID: game.GetId(), clients: []*caller{puppet}}),
		}
		var end *pb.Event
		for _, seat := range seats {
			events := seat.awaitEnd(t)
			end = events[len(events)-1]
		}

		ctx, boards, meta := t.Context(), leaderboard.New(env.ports().Boards, nil, time.Now), "game:{"+game.GetId()+"}:meta"
		var head gamelogv1.Head
		require.NoError(t, proto.Unmarshal([]byte(env.redis.HGet(ctx, meta, "head").Val()), &head))
		require.False(t, head.GetRanked())
		head.Ranked = true
		raw, err := proto.Marshal(&head)
		require.NoError(t, err)
		require.NoError(t, env.redis.HSet(ctx, meta, "head", raw).Err())
		for seat, c := range []*caller{player, puppet} {
			require.NoError(t, boards.Record(ctx, leaderboard.Result{
				Variant: "tribolo", PlayerID: c.id, GameID: game.GetId(),
				Score: end.GetResult().GetScores()[seat], Time: end.GetTime().AsTime(),
			}))
		}
		listed := func() int {
			board, err := player.leaderboard.ListScores(ctx, &pb.ListScoresRequest{Variant: "tribolo"})
			require.NoError(t, err)
			return len(board.GetEntries())
		}
		require.Equal(t, 2, listed())

		operator := env.operator(ctx, t)
		defer operator.Close()
		rebuilt, err := operator.Rebuild(ctx)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, rebuilt.Pruned, 2, "also from the daily and weekly boards, unless these have ended")
		assert.Zero(t, listed())
		_, _, err = operator.Unhide(ctx, player.id) // reads the data stored alongside the logs, as servers do every hour
		require.NoError(t, err)
		assert.Zero(t, listed())
	})
}

// Ensure that an account does not expire while one of its games is kept, and that a rebuild sets
// an expiration time for accounts that an earlier version of the server created without one.
func TestRebuild_Accounts(t *testing.T) {
	t.Parallel()
	onRedis(t, func(t *testing.T, env *env) {
		server, ctx := env.serve(), t.Context()
		playing, idle, old := env.player(server), env.player(server), env.player(server)
		playing.start(t, "classic")
		left := func(c *caller) time.Duration { return env.redis.PTTL(ctx, "player:{"+c.id+"}").Val() }
		const soon = time.Hour
		for _, c := range []*caller{playing, idle} {
			require.Greater(t, left(c), soon)
			require.NoError(t, env.redis.PExpire(ctx, "player:{"+c.id+"}", soon).Err())
		}
		require.NoError(t, env.redis.Persist(ctx, "player:{"+old.id+"}").Err())
		operator := env.operator(ctx, t)
		defer operator.Close()
		_, err := operator.Rebuild(ctx)
		require.NoError(t, err)
		assert.Greater(t, left(playing), soon)
		assert.LessOrEqual(t, left(idle), soon)
		assert.Greater(t, left(old), soon)
	})
}

// Ensure that leaderboards, lists and jobs that are lost during play are restored, either by a
// rebuild while servers are running or by a server at startup, and that a game between bots
// continues. After the test, check compares the boards with the results of all games.
func TestSetsLost_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	onRedis(t, func(t *testing.T, env *env) {
		const players, acknowledged = 4, 60
		server, others := env.serve(), newFailover(env.serve())
		_, group, ctx := others.startMovers(t, env, players, 17)
		c := env.player(server)
		gameID, points := c.playScored(t)
		others.awaitAcks(t, acknowledged)
		playing := c.table(t, &pb.CreateGameRequest{Seats: []*pb.SeatRequest{greedyBot, greedyBot, greedyBot}})
		env.deleteDerived(ctx, t)
		require.NotContains(t, c.board(t), c.id)
		operator := env.operator(ctx, t)
		defer operator.Close()
		_, err := operator.Rebuild(ctx)
		require.NoError(t, err)
		assert.Equal(t, points, c.board(t)[c.id])
		assert.Contains(t, c.listed(t, c.id), gameID)
		others.awaitAcks(t, 2*acknowledged)

		// Servers restore leaderboards and lists at startup, not only every hour.
		env.deleteDerived(ctx, t)
		require.NoError(t, env.redis.Del(ctx, "claim:reconcile:{beat}").Err())
		server.stop()
		c = c.on(env.serve())
		require.Eventually(t, func() bool { return c.board(t)[c.id] == points && slices.Contains(c.listed(t, c.id), gameID) },
			patience, 20*time.Millisecond)
		others.awaitAcks(t, 3*acknowledged)
		others.stop()
		require.NoError(t, group.Wait())
		require.NoError(t, c.watch(t, playing.GetId(), watching{}).awaitEnd(t))
	})
}

// Ensure that a rebuild and a quarantine find the games on every master of a cluster.
func TestRebuild_Cluster_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	cluster := redistest.StartCluster(t, 3)
	env := newUncheckedEnv(t, strings.Join(cluster.Addrs(), ","), cluster.Client())
	server := env.serve()
	c := env.player(server)
	for range 3 {
		c.playScored(t)
	}
	open := c.start(t, "6x6")
	server.stop()
	fresh := env.serve()
	readLists(t.Context(), t, c.on(fresh))
	fresh.stop()
	checkRebuilt(t.Context(), t, env)

	operator := env.operator(t.Context(), t)
	defer operator.Close()
	quarantined, err := operator.QuarantineBefore(t.Context(), time.Time{})
	require.NoError(t, err)
	assert.Equal(t, []string{open.GetId()}, quarantined)
}
