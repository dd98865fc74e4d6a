package fault

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

const (
	// takeOver limits how long a killed server's bots may be idle, apart from the machine's own
	// delays.
	takeOver = 3 * time.Second
	// takeOverDelay limits the allowance for these delays, because a bot that has to wait for a
	// lease to expire, after 10 s, must fail the test. It does not apply if the machine has once
	// delayed the test by longer than badDelay.
	takeOverDelay, badDelay = 4 * time.Second, 800 * time.Millisecond
	// punctual limits how late a clock may run out on a busy machine, apart from the machine's own
	// delays.
	punctual = 15 * time.Second
)

// takeOver returns how long a killed server's bots may be idle on this machine.
func (env *env) takeOver() time.Duration {
	if env.delays.Longest() > badDelay {
		return takeOver + env.delays.Allowance()
	}
	return takeOver + min(env.delays.Allowance(), takeOverDelay)
}

// Ensure that another server soon takes over the bots of a killed server, without waiting for
// its leases to expire.
func TestBots_ServerKilled_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t)
	// The servers are killed in the middle of games, so the store is not checked.
	env := newUncheckedEnv(t, redis.Addr(), redistest.NewClient(t, redis.Addr()))
	const pace = 250 * time.Millisecond // slow enough that every game outlives the server
	doomed := env.serveProcess("--bot-pace", pace.String())
	other := env.serveProcess("--bot-pace", pace.String())
	env.awaitAckedHeartbeats(t, 2)
	host := env.player(doomed)
	var all []*participant
	for range 24 {
		game := host.table(t, &pb.CreateGameRequest{Seats: []*pb.SeatRequest{greedyBot, randomBot, greedyBot}})
		all = append(all, participate(t, &participant{gameID: game.GetId(), clients: []*caller{env.anonymous(doomed), env.anonymous(other)}}))
	}
	for _, each := range all {
		each.awaitEvent(t, "a move", func(e *pb.Event) bool { return e.GetMoved() != nil })
	}
	doomed.stop()
	killed, err := env.ports().Time(t.Context())
	require.NoError(t, err)

	var waits []time.Duration
	for _, each := range all {
		next := each.awaitEvent(t, "a move of another server", func(e *pb.Event) bool { return e.GetTime().AsTime().After(killed) })
		waits = append(waits, next.GetTime().AsTime().Sub(killed))
	}
	slices.Sort(waits)
	t.Logf("after the kill bots waited p50 %v, max %v", waits[len(waits)/2], waits[len(waits)-1])
	assert.Less(t, waits[len(waits)-1], env.takeOver())
}

// Ensure that another server soon takes over a stand-in whose turn it is when its server is killed.
func TestStandIn_ServerKilled_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t)
	env := newEnv(t, redis.Addr())
	for {
		// The bots of this server wait for longer than it lives.
		doomed := env.serveProcess("--bot-pace=1h")
		game, players := waitingTable(t, env, doomed, time.Second)
		late := game.GetPosition().GetTurn()
		require.Eventually(t, func() bool {
			game, err := players[0].get(t.Context(), game.GetId())
			require.NoError(t, err)
			return game.GetSeats()[late].GetStandIn() != ""
		}, patience, 5*time.Millisecond)
		other := env.serve()
		env.awaitAckedHeartbeats(t, 2)
		doomed.stop()
		killed, err := env.ports().Time(t.Context())
		require.NoError(t, err)

		events := participate(t, &participant{gameID: game.GetId(), clients: []*caller{env.anonymous(other)}}).awaitEnd(t)
		next := events[1+slices.IndexFunc(events, func(e *pb.Event) bool { return e.GetTimedOut() != nil })]
		assert.True(t, next.GetMoved().GetByBot(), brief(next))
		assert.Equal(t, late, next.GetSeat())
		if wait := next.GetTime().AsTime().Sub(killed); wait > 0 {
			t.Logf("after the kill the stand-in waited %v", wait)
			assert.Less(t, wait, env.takeOver())
			return
		}
		other.stop() // The machine was so slow that the lease expired before the kill: try again.
	}
}

// Ensure that bots continue even if the server that runs them is killed repeatedly, and that
// their games neither lose nor repeat an event.
func TestTables_ServersKilled_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t, redistest.KeepsWrites...)
	env := newEnv(t, redis.Addr())
	servers := []*testServer{env.serveProcess(), env.serveProcess(), env.serve()}
	everywhere := func(c *caller) []*caller {
		return []*caller{c, c.on(servers[1]), c.on(servers[2])}
	}
	var all []*participant
	for range 3 {
		for _, seats := range [][]*pb.SeatRequest{
			{greedyBot, minimaxBot, randomBot}, {callerSeat, greedyBot, greedyBot}, {greedyBot, callerSeat, openSeat}, {callerSeat, openSeat, openSeat},
		} {
			host := env.player(servers[0])
			game := host.table(t, &pb.CreateGameRequest{Seats: seats})
			all = append(all,
				participate(t, &participant{gameID: game.GetId(), clients: everywhere(env.anonymous(servers[0]))}),
				participate(t, &participant{gameID: game.GetId(), clients: everywhere(host)}))
			for _, seat := range seats {
				if seat == openSeat {
					guest := env.player(servers[0])
					_, err := guest.join(t.Context(), game.GetId())
					require.NoError(t, err)
					all = append(all, participate(t, &participant{gameID: game.GetId(), clients: everywhere(guest)}))
				}
			}
		}
	}
	for n, reached := range []int32{15, 50} {
		for _, each := range all {
			each.awaitEvent(t, "progress", func(e *pb.Event) bool { return e.GetVersion() >= reached || e.GetResult() != nil })
		}
		servers[n].stop()
	}
	for _, each := range all {
		events := each.awaitEnd(t)
		for i, e := range events[1:] {
			still := e.GetTime().AsTime().Sub(events[i].GetTime().AsTime())
			assert.Less(t, still, env.takeOver(), "before %s", brief(e))
			assert.True(t, e.GetMoved() != nil || e.GetJoined() != nil, brief(e))
		}
	}
}

// waitingTable creates a game with a clock between two human players and a bot in the third
// seat. It is a human's turn, and nothing makes moves for the human players.
func waitingTable(t *testing.T, env *env, s *testServer, limit time.Duration) (*pb.Game, []*caller) {
	t.Helper()
	players := []*caller{env.player(s), env.player(s)}
	for {
		game := players[0].table(t, &pb.CreateGameRequest{
			Seats: []*pb.SeatRequest{callerSeat, openSeat, greedyBot}, TurnLimit: durationpb.New(limit),
		})
		game, err := players[1].join(t.Context(), game.GetId())
		require.NoError(t, err)
		if game.GetPosition().GetTurn() < 2 {
			return game, players
		}
		for _, each := range players { // The bot moves first: try another game.
			err := each.untilAnswered(t.Context(), func(ctx context.Context) error {
				_, err := each.games.Resign(each.authorized(ctx), &pb.ResignRequest{GameId: game.GetId()})
				return err
			})
			if refusalOf(err).reason != pb.ReasonGameOver { // On a busy machine, the clocks may run out first.
				require.NoError(t, err)
			}
		}
	}
}

// runningTable returns a waitingTable with a turn limit of a few seconds. On a slow machine, the limit
// is longer, so that an outage can begin before the clock runs out.
func runningTable(t *testing.T, env *env, s *testServer) (*pb.Game, []*caller) {
	t.Helper()
	return waitingTable(t, env, s, (3*time.Second + env.delays.Allowance()).Round(time.Millisecond))
}

// requireTimeOut requires that the clocks of a waitingTable run out as the rules require: after
// the first timeout, a stand-in takes over the seat; the second ends the game.
func requireTimeOut(t *testing.T, env *env, limit time.Duration, events []*pb.Event) {
	t.Helper()
	var out []*pb.Event
	for i, e := range events {
		if e.GetTimedOut() == nil {
			continue
		}
		out = append(out, e)
		before := events[i-1].GetPosition()
		assert.Equal(t, before.GetTurn(), e.GetSeat())
		late := e.GetTime().AsTime().Sub(before.GetTurnDeadline().AsTime())
		assert.GreaterOrEqual(t, late, time.Duration(0), "too early: %s", brief(e))
		assert.Less(t, late, punctual+env.delays.Allowance(), brief(e))
	}
	require.Len(t, out, 2)
	assert.Equal(t, "greedy", out[0].GetTimedOut().GetStandIn())
	assert.Nil(t, out[0].GetResult())
	assert.Empty(t, out[1].GetTimedOut().GetStandIn())
	assert.Equal(t, pb.Result_REASON_TIMED_OUT, out[1].GetResult().GetReason())
	assert.NotEqual(t, out[0].GetSeat(), out[1].GetSeat())
	for i, e := range events[1:] {
		deadline := e.GetPosition().GetTurnDeadline()
		if e.GetMoved() != nil && deadline != nil {
			assert.Equal(t, e.GetTime().AsTime().Add(limit), deadline.AsTime(), "a full turn in version %d", i+2)
		}
	}
}

// Ensure that clocks run out on time even if the only server that knew about them was killed,
// that stand-ins move, and that the game ends when the last human's time runs out.
func TestClocks_ServerKilled_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t)
	env := newEnv(t, redis.Addr())
	doomed, other := env.serveProcess(), env.serve()
	const limit = 1500*time.Millisecond + 1
	game, _ := waitingTable(t, env, doomed, limit)
	doomed.stop()
	requireTimeOut(t, env, limit, participate(t, &participant{gameID: game.GetId(), clients: []*caller{env.anonymous(other)}}).awaitEnd(t))
}

// requireClockExtended requires that the next event credits a clock with an outage of at least
// the given length, that the clock then keeps running, and that no outage is credited twice. If the
// machine stalls, servers may record further outages.
func requireClockExtended(t *testing.T, env *env, game *pb.Game, s *testServer, outage time.Duration) {
	t.Helper()
	limit := game.GetTurnLimit().AsDuration()
	events := participate(t, &participant{gameID: game.GetId(), clients: []*caller{env.anonymous(s)}}).awaitEnd(t)
	require.NotNil(t, events[game.GetVersion()].GetClockExtended(), brief(events[game.GetVersion()]))
	var longest, total time.Duration
	for i, e := range events {
		by := e.GetClockExtended().GetBy().AsDuration()
		if by == 0 {
			continue
		}
		before := events[i-1].GetPosition()
		assert.Equal(t, before.GetTurn(), e.GetSeat())
		assert.Equal(t, before.GetTurnDeadline().AsTime().Add(by), e.GetPosition().GetTurnDeadline().AsTime())
		if before.GetTurn() == game.GetPosition().GetTurn() {
			longest = max(longest, by)
		}
		total += by
	}
	assert.GreaterOrEqual(t, longest, outage-time.Second)
	assert.LessOrEqual(t, total, env.downtime(t, game.GetPosition().GetTurnDeadline().AsTime().Add(-limit)), "an outage is credited twice")
	requireTimeOut(t, env, limit, events)
}

// downtime returns the total length of the recorded outages since the given time.
func (env *env) downtime(t *testing.T, since time.Time) (total time.Duration) {
	t.Helper()
	outages, err := env.ports().Heartbeats.Outages(t.Context(), since)
	require.NoError(t, err)
	for _, o := range outages {
		total += o.To.Sub(slices.MaxFunc([]time.Time{o.From, since}, time.Time.Compare))
	}
	return total
}

// awaitHeartbeat waits for a server's first heartbeat.
func (env *env) awaitHeartbeat(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { return len(env.heartbeats(t)) > 0 }, patience, 5*time.Millisecond)
}

// Ensure that clocks are credited with the time during which Redis was unavailable.
func TestClocks_RedisUnavailable_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t)
	env := newEnv(t, redis.Addr())
	s := env.serve()
	env.serve()
	env.awaitHeartbeat(t)
	game, _ := runningTable(t, env, s)
	const outage = 5 * time.Second
	redis.Pause()
	t.Cleanup(redis.Resume)
	<-time.After(outage)
	redis.Resume()
	requireClockExtended(t, env, game, s, outage-time.Second)
}

// Ensure that clocks are credited with the time during which no server was running.
func TestClocks_ServersStopped_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t, "--appendonly", "yes")
	env := newEnv(t, redis.Addr())
	doomed := env.serveProcess()
	env.awaitHeartbeat(t)
	game, _ := runningTable(t, env, doomed)
	doomed.stop()
	const outage = 5 * time.Second
	<-time.After(outage)
	requireClockExtended(t, env, game, env.serve(), outage-time.Second)
}

// Ensure that clocks are credited as soon as an outage is over, rather than only when they would
// run out, so that players and watchers see the correct clocks.
func TestClocks_CreditedAfterOutage_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t)
	env := newEnv(t, redis.Addr())
	s := env.serve()
	other := env.serve()
	env.awaitHeartbeat(t)
	game, players := waitingTable(t, env, s, time.Hour)
	watcher := participate(t, &participant{gameID: game.GetId(), clients: []*caller{env.anonymous(other)}})
	const outage = 5 * time.Second
	redis.Pause()
	t.Cleanup(redis.Resume)
	<-time.After(outage)
	redis.Resume()
	e := watcher.awaitEvent(t, "the credit", func(e *pb.Event) bool { return e.GetClockExtended() != nil })
	by := e.GetClockExtended().GetBy().AsDuration()
	assert.GreaterOrEqual(t, by, outage-2*time.Second)
	began := game.GetPosition().GetTurnDeadline().AsTime()
	assert.Equal(t, began.Add(by), e.GetPosition().GetTurnDeadline().AsTime())
	assert.True(t, e.GetTime().AsTime().Before(began))
	for _, each := range players {
		require.NoError(t, each.untilAnswered(t.Context(), func(ctx context.Context) error {
			_, err := each.games.Resign(each.authorized(ctx), &pb.ResignRequest{GameId: game.GetId()})
			return err
		}))
	}
	events := watcher.awaitEnd(t)
	extensions := 0
	for _, e := range events {
		if e.GetClockExtended() != nil {
			extensions++
		}
	}
	assert.Equal(t, 1, extensions, "number of credits")
}

// Ensure that clocks are credited for a gap in all servers' heartbeats only if no move succeeded
// during the gap.
func TestClocks_HeartbeatsMissing_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t)
	env := newEnv(t, redis.Addr())
	servers := []*testServer{env.serve(), env.serve()}
	env.awaitAckedHeartbeats(t, 2)
	game, players := waitingTable(t, env, servers[0], time.Hour)
	watcher := participate(t, &participant{gameID: game.GetId(), clients: []*caller{env.anonymous(servers[1])}})
	const gap = 4500 * time.Millisecond
	without := func(during func(ctx context.Context)) {
		rules := func(words ...any) {
			require.NoError(t, env.redis.Do(t.Context(), append([]any{"ACL", "SETUSER", "default", "resetkeys"}, words...)...).Err())
		}
		rules("~game*", "~scores:*", "~player*", "~rate:*", "~due", "~hidden")
		ctx, cancel := context.WithTimeout(t.Context(), gap)
		defer cancel()
		during(ctx)
		<-ctx.Done()
		rules("~*")
		env.awaitAckedHeartbeats(t, 2)
	}

	var moved []*pb.Event
	without(func(ctx context.Context) {
		busy := env.player(servers[1])
		for ctx.Err() == nil {
			last := busy.playTo(t, seeded(t), busy.start(t, "6x6"), whole)
			events, err := busy.transcript(t.Context(), last.GetGameId(), last.GetVersion())
			require.NoError(t, err)
			moved = append(moved, events...)
		}
	})
	t.Logf("%d moves succeeded while no heartbeat did", len(moved))

	without(func(context.Context) {})
	e := watcher.awaitEvent(t, "time credited", func(e *pb.Event) bool {
		return e.GetClockExtended().GetBy().AsDuration() >= gap-time.Second
	})
	credited := e.GetPosition().GetTurnDeadline().AsTime().Sub(game.GetPosition().GetTurnDeadline().AsTime())
	assert.LessOrEqual(t, credited, env.downtime(t, game.GetPosition().GetTurnDeadline().AsTime().Add(-time.Hour)))
	// If the machine stalls, servers may record further outages.
	outages, err := env.ports().Heartbeats.Outages(t.Context(), time.Time{})
	require.NoError(t, err)
	for _, o := range outages {
		for _, e := range moved {
			at := e.GetTime().AsTime()
			assert.False(t, at.After(o.From) && at.Before(o.To), "an outage from %v to %v includes %s", o.From, o.To, brief(e))
		}
	}
	for _, each := range players {
		_, err := each.games.Resign(each.authorized(t.Context()), &pb.ResignRequest{GameId: game.GetId()})
		require.NoError(t, err)
	}
	watcher.awaitEnd(t)
}

// Ensure that a returning player gets their seat back with the full turn limit, that the game
// is played to its end, and that no score reaches the leaderboard, because two humans played.
func TestClocks_TakenBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		first, second := env.servePair()
		limit := (5*time.Second + env.delays.Allowance()).Round(time.Millisecond)
		game, players := waitingTable(t, env, first, limit)
		late := int(game.GetPosition().GetTurn())
		prompt := participate(t, &participant{gameID: game.GetId(), clients: []*caller{players[1-late].on(second)}})
		lazy := participate(t, &participant{gameID: game.GetId(), clients: []*caller{players[late]}, idle: true})
		timedOut := lazy.awaitEvent(t, "a time-out", func(e *pb.Event) bool { return e.GetTimedOut() != nil })
		require.EqualValues(t, late, timedOut.GetSeat())

		// Until the player returns, the stand-in has the seat.
		held, err := players[late].get(t.Context(), game.GetId())
		require.NoError(t, err)
		require.Equal(t, "greedy", held.GetSeats()[late].GetStandIn())
		lazy.awaitEvent(t, "a move of the stand-in", func(e *pb.Event) bool {
			return e.GetMoved().GetByBot() && int(e.GetSeat()) == late
		})
		joined, err := players[late].join(t.Context(), game.GetId())
		require.NoError(t, err)
		require.Empty(t, joined.GetSeats()[late].GetStandIn())
		back := participate(t, &participant{gameID: game.GetId(), clients: []*caller{players[late].on(second)}, returns: true})
		events := prompt.awaitEnd(t)
		back.awaitEnd(t)
		for _, e := range events {
			if e.GetJoined() != nil && int(e.GetPosition().GetTurn()) == late && e.GetVersion() > timedOut.GetVersion() {
				assert.Equal(t, e.GetTime().AsTime().Add(limit), e.GetPosition().GetTurnDeadline().AsTime())
			}
		}
		last := events[len(events)-1]
		require.Equal(t, pb.Result_REASON_NO_MOVES, last.GetResult().GetReason(), brief(last))
		assert.False(t, last.GetRanked(), "a game of two humans is not ranked")
		board, err := prompt.clients[0].leaderboard.ListScores(t.Context(), &pb.ListScoresRequest{Variant: "tribolo"})
		require.NoError(t, err)
		assert.Empty(t, board.GetEntries())
	})
}
