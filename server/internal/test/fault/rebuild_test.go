package fault

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/game/variants"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
	gamelogv1 "github.com/gridstand/gridstand/server/internal/gamelog/v1"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
)

// operator works on a world's Redis as the program's commands do.
func (w *world) operator(ctx context.Context, t *testing.T) *server.Operator {
	t.Helper()
	operator, err := server.Operate(ctx, quick(w.addr))
	require.NoError(t, err)
	return operator
}

// derived is all leaderboards and lists, by key and member.
func (w *world) derived(ctx context.Context, t *testing.T) map[string]map[string]any {
	t.Helper()
	sets := map[string]map[string]any{}
	for _, pattern := range []string{"scores:*", "games:*", "player:{*}:games"} {
		for _, key := range w.keys(ctx, t, pattern) {
			if key == "games:page-secret" {
				continue // It is no list, but what seals the tokens of pages.
			}
			set := map[string]any{}
			if strings.HasSuffix(key, ":best") {
				fields, err := w.store.HGetAll(ctx, key).Result()
				require.NoError(t, err)
				for field, value := range fields {
					set[field] = value
				}
			} else {
				members, err := w.store.ZRangeWithScores(ctx, key, 0, -1).Result()
				require.NoError(t, err)
				for _, z := range members {
					member, _ := z.Member.(string)
					set[member] = z.Score
					if hints := !strings.HasPrefix(key, "scores:") && !strings.Contains(key, ":recent:"); hints {
						set[member] = nil // The order of what was so a moment ago.
					}
				}
			}
			maps.DeleteFunc(set, func(member string, _ any) bool { return w.isSpoiled(member) })
			if len(set) > 0 {
				sets[key] = set
			}
		}
	}
	return sets
}

// lose deletes all leaderboards and lists.
func (w *world) lose(ctx context.Context, t *testing.T) {
	t.Helper()
	for _, pattern := range []string{"scores:*", "games:*", "player:{*}:games", "due"} {
		keys := w.keys(ctx, t, pattern)
		// A board after its hash, with which it is lost.
		slices.SortFunc(keys, func(a, b string) int { return strings.Compare(b, a) })
		for _, key := range keys { // in different slots of a cluster
			lost := []string{key}
			if board, ok := strings.CutSuffix(key, ":best"); ok {
				// They go together: a result that is recorded between the two would
				// leave the board with two members of a player.
				lost = append(lost, board)
			}
			require.NoError(t, w.store.Del(ctx, lost...).Err())
		}
	}
}

// checkRebuilt deletes everything that follows from the logs, has it derived
// again, and requires it to be what it was, member by member. No server runs.
func checkRebuilt(ctx context.Context, t *testing.T, w *world) {
	t.Helper()
	kept := w.derived(ctx, t)
	due := w.store.ZCard(ctx, "due").Val()
	w.lose(ctx, t)
	operator := w.operator(ctx, t)
	defer operator.Close()
	rebuilt, err := operator.Rebuild(ctx)
	require.NoError(t, err)
	assert.Equal(t, kept, w.derived(ctx, t))
	assert.Zero(t, rebuilt.Pruned)
	for _, gameID := range rebuilt.Damaged {
		assert.True(t, w.isSpoiled(gameID), "game %s is damaged", gameID)
	}
	assert.LessOrEqual(t, w.store.ZCard(ctx, "due").Val(), due)
}

// readLists reads all lists, which puts right what a server wrote too late.
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
					reply, err := c.games.ListGames(ctx, request)
					require.NoError(t, err)
					request.PageToken = reply.GetNextPageToken()
				}
			}
		}
	}
}

// scored plays until a game is over in which the player scored.
func (c *caller) scored(t *testing.T) (gameID string, score int32) {
	t.Helper()
	game := c.start(t, "classic")
	last := c.playTo(t, seeded(t), game, 30)
	_, err := c.resign(t.Context(), game.GetId())
	require.NoError(t, err)
	score = last.GetPosition().GetScores()[0]
	require.Positive(t, score)
	return game.GetId(), score
}

// board is the scores of a variant's players of all time.
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

// listed is the ids of the finished games that a list shows, of a player or of
// all.
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

// Ensure a player whom the operator hides is on no leaderboard and no list of
// all games, whatever is recorded or rebuilt, and is back with every result once
// shown again.
func TestHide(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		srv := w.serve(w.addr)
		cheat, honest := w.player(srv), w.player(srv)
		first, _ := cheat.scored(t)
		other, points := honest.scored(t)
		operator := w.operator(t.Context(), t)
		defer operator.Close()

		name, id, err := operator.Hide(t.Context(), cheat.id)
		require.NoError(t, err)
		assert.Equal(t, cheat.id, id)
		second, _ := cheat.scored(t)
		_, err = operator.Rebuild(t.Context())
		require.NoError(t, err)
		for _, c := range []*caller{cheat, honest} {
			assert.Equal(t, map[string]int32{honest.id: points}, c.board(t))
			assert.Equal(t, []string{other}, c.listed(t, ""))
			assert.ElementsMatch(t, []string{first, second}, c.listed(t, cheat.id))
		}
		_, err = cheat.leaderboard.GetRank(t.Context(), &pb.GetRankRequest{Variant: "classic", PlayerId: cheat.id})
		assert.Equal(t, pb.ReasonNoScore, refusalOf(checkError(err)).reason)
		kept := w.derived(t.Context(), t)
		assert.NotContains(t, kept["scores:{classic:all}:best"], cheat.id)

		// By name, in whatever case.
		_, id, err = operator.Unhide(t.Context(), strings.ToUpper(name))
		require.NoError(t, err)
		assert.Equal(t, cheat.id, id)
		assert.Len(t, honest.board(t), 2)
		assert.Len(t, honest.listed(t, ""), 3)
		_, _, err = operator.Hide(t.Context(), "nobody")
		assert.ErrorIs(t, err, server.ErrNoPlayer)
	})
}

// Ensure what stands wrongly on a leaderboard is taken off it by a rebuild, and
// what was less than that is there again.
func TestRebuild_prunes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		c := w.player(w.serve(w.addr))
		gameID, points := c.scored(t)
		ctx, key := t.Context(), "scores:{classic:all}"
		right := w.store.HGet(ctx, key+":best", c.id).Val()
		require.NoError(t, w.store.ZRem(ctx, key, right).Err())
		wrong := strings.Replace(right, gameID, strings.Repeat("a", len(gameID)), 1)
		require.NoError(t, w.store.ZAdd(ctx, key,
			redis.Z{Score: 1e6, Member: wrong},
			redis.Z{Score: 1e6, Member: strings.Replace(right, c.id, strings.Repeat("b", len(c.id)), 1)},
		).Err())
		require.NoError(t, w.store.HSet(ctx, key+":best", c.id, wrong).Err())

		operator := w.operator(ctx, t)
		defer operator.Close()
		rebuilt, err := operator.Rebuild(ctx)
		require.NoError(t, err)
		assert.Equal(t, 2, rebuilt.Pruned)
		assert.Equal(t, map[string]int32{c.id: points}, c.board(t))
	})
}

// Ensure scores that two humans of one game of Tribolo made under the rules of an
// earlier server are taken off the board by a rebuild, and stay off it, although
// what that server wrote beside the log still says that the game is ranked.
func TestRebuild_puppets(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		server := w.serve(w.addr)
		player, puppet := w.player(server), w.player(server)
		game := player.table(t, &pb.CreateGameRequest{Seats: []*pb.SeatRequest{me, anyone, greedy}})
		assert.True(t, game.GetRanked(), "until somebody joins")
		joined, err := puppet.join(t.Context(), game.GetId())
		require.NoError(t, err)
		assert.False(t, joined.GetRanked())
		seats := []*sitter{
			sit(t, &sitter{gameID: game.GetId(), clients: []*caller{player}}),
			sit(t, &sitter{gameID: game.GetId(), clients: []*caller{puppet}}),
		}
		var end *pb.Event
		for _, seat := range seats {
			events := seat.ends(t)
			end = events[len(events)-1]
		}

		ctx, boards, meta := t.Context(), leaderboard.New(w.store, time.Now), "game:{"+game.GetId()+"}:meta"
		var head gamelogv1.Head
		require.NoError(t, proto.Unmarshal([]byte(w.store.HGet(ctx, meta, "head").Val()), &head))
		require.False(t, head.GetRanked())
		head.Ranked = true
		raw, err := proto.Marshal(&head)
		require.NoError(t, err)
		require.NoError(t, w.store.HSet(ctx, meta, "head", raw).Err())
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

		operator := w.operator(ctx, t)
		defer operator.Close()
		rebuilt, err := operator.Rebuild(ctx)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, rebuilt.Pruned, 2, "of the day's and the week's board, too, unless they ended")
		assert.Zero(t, listed())
		_, _, err = operator.Unhide(ctx, player.id) // goes through what stands beside the logs, as servers do every hour
		require.NoError(t, err)
		assert.Zero(t, listed())
	})
}

// Ensure an account does not lapse while one of its games is kept, and that one
// from a server under which none lapsed does so from a rebuild on.
func TestRebuild_accounts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		server, ctx := w.serve(w.addr), t.Context()
		playing, idle, old := w.player(server), w.player(server), w.player(server)
		playing.start(t, "classic")
		left := func(c *caller) time.Duration { return w.store.PTTL(ctx, "player:{"+c.id+"}").Val() }
		const soon = time.Hour
		for _, c := range []*caller{playing, idle} {
			require.Greater(t, left(c), soon)
			require.NoError(t, w.store.PExpire(ctx, "player:{"+c.id+"}", soon).Err())
		}
		require.NoError(t, w.store.Persist(ctx, "player:{"+old.id+"}").Err())
		operator := w.operator(ctx, t)
		defer operator.Close()
		_, err := operator.Rebuild(ctx)
		require.NoError(t, err)
		assert.Greater(t, left(playing), soon)
		assert.LessOrEqual(t, left(idle), soon)
		assert.Greater(t, left(old), soon)
	})
}

// Ensure leaderboards and lists that are lost while people play come back, by a
// rebuild beside the servers or by themselves, and that bots and clocks go on.
// That the boards hold in the end what all games came to, the checker sees to.
func TestSetsLost(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		const players, acknowledged = 4, 60
		server, others := w.serve(w.addr), newFleet(w.serve(w.addr))
		_, group, ctx := others.crew(t, w, players, 17)
		c := w.player(server)
		gameID, points := c.scored(t)
		others.acknowledged(t, acknowledged)
		playing := c.table(t, &pb.CreateGameRequest{Seats: []*pb.SeatRequest{greedy, greedy, greedy}})
		w.lose(ctx, t)
		require.NotContains(t, c.board(t), c.id)
		operator := w.operator(ctx, t)
		defer operator.Close()
		_, err := operator.Rebuild(ctx)
		require.NoError(t, err)
		assert.Equal(t, points, c.board(t)[c.id])
		assert.Contains(t, c.listed(t, c.id), gameID)
		others.acknowledged(t, 2*acknowledged)

		// What a server does within the hour it does at its start, too.
		w.lose(ctx, t)
		require.NoError(t, w.store.Del(ctx, "patrolled").Err())
		server.stop()
		c = c.on(w.serve(w.addr))
		require.Eventually(t, func() bool { return c.board(t)[c.id] == points && slices.Contains(c.listed(t, c.id), gameID) },
			patience, 20*time.Millisecond)
		others.acknowledged(t, 3*acknowledged)
		others.stop()
		require.NoError(t, group.Wait())
		require.NoError(t, c.watch(t, playing.GetId(), watching{}).ends(t))
	})
}

// Ensure that games are found on every master of a cluster.
func TestRebuild_cluster(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 3)
	w := newUnchecked(t, strings.Join(cluster.Addrs(), ","), cluster.Client())
	server := w.serve(w.addr)
	c := w.player(server)
	for range 3 {
		c.scored(t)
	}
	open := c.start(t, "6x6")
	server.stop()
	checkRebuilt(t.Context(), t, w)

	operator := w.operator(t.Context(), t)
	defer operator.Close()
	fenced, err := operator.FenceBefore(t.Context(), time.Time{})
	require.NoError(t, err)
	assert.Equal(t, []string{open.GetId()}, fenced)
}
