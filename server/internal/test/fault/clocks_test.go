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
	// takeOver is how long the bots of a server that was killed may stand still, on
	// a machine that is busy.
	takeOver = 8 * time.Second
	// punctual is how late a clock may run out, on a machine that is busy.
	punctual = 15 * time.Second
)

// Ensure that bots whose server was killed are moved soon by another one: they do
// not wait for the end of its leases.
func TestBots_ServerKilled(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	// The servers end in the middle of games: there is nothing to check then.
	w := newUnchecked(t, redis.Addr(), redistest.NewClient(t, redis.Addr()))
	const pace = 250 * time.Millisecond // so that no game ends before the server does
	doomed := w.serveProcess(w.addr, "--bot-pace", pace.String())
	other := w.serveProcess(w.addr, "--bot-pace", pace.String())
	w.acknowledged(t, 2)
	host := w.player(doomed)
	var all []*sitter
	for range 24 {
		game := host.table(t, &pb.CreateGameRequest{Seats: []*pb.SeatRequest{greedy, chance, greedy}})
		all = append(all, sit(t, &sitter{gameID: game.GetId(), clients: []*caller{w.anybody(doomed), w.anybody(other)}}))
	}
	for _, each := range all {
		each.sees(t, "a move", func(e *pb.Event) bool { return e.GetMoved() != nil })
	}
	doomed.stop()
	killed, err := w.store.Time(t.Context()).Result()
	require.NoError(t, err)

	var waits []time.Duration
	for _, each := range all {
		next := each.sees(t, "a move of another server", func(e *pb.Event) bool { return e.GetTime().AsTime().After(killed) })
		waits = append(waits, next.GetTime().AsTime().Sub(killed))
	}
	slices.Sort(waits)
	t.Logf("after the kill bots waited p50 %v, max %v", waits[len(waits)/2], waits[len(waits)-1])
	assert.Less(t, waits[len(waits)-1], takeOver)
}

// Ensure that bots go on after the server that moved them was killed, again and
// again, and that games in which they play lose nothing and repeat nothing.
func TestTables_ServersKilled_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t, "--appendonly", "yes", "--appendfsync", "always")
	w := newWorld(t, redis.Addr())
	servers := []*testServer{w.serveProcess(w.addr), w.serveProcess(w.addr), w.serve(w.addr)}
	everywhere := func(c *caller) []*caller {
		return []*caller{c, c.on(servers[1]), c.on(servers[2])}
	}
	var all []*sitter
	for range 3 {
		for _, seats := range [][]*pb.SeatRequest{
			{greedy, minimax, chance}, {me, greedy, greedy}, {greedy, me, anyone}, {me, anyone, anyone},
		} {
			host := w.player(servers[0])
			game := host.table(t, &pb.CreateGameRequest{Seats: seats})
			all = append(all,
				sit(t, &sitter{gameID: game.GetId(), clients: everywhere(w.anybody(servers[0]))}),
				sit(t, &sitter{gameID: game.GetId(), clients: everywhere(host)}))
			for _, seat := range seats {
				if seat == anyone {
					guest := w.player(servers[0])
					_, err := guest.join(t.Context(), game.GetId())
					require.NoError(t, err)
					all = append(all, sit(t, &sitter{gameID: game.GetId(), clients: everywhere(guest)}))
				}
			}
		}
	}
	for n, reached := range []int32{15, 50} {
		for _, each := range all {
			each.sees(t, "progress", func(e *pb.Event) bool { return e.GetVersion() >= reached || e.GetResult() != nil })
		}
		servers[n].stop()
	}
	for _, each := range all {
		events := each.ends(t)
		for i, e := range events[1:] {
			still := e.GetTime().AsTime().Sub(events[i].GetTime().AsTime())
			assert.Less(t, still, takeOver, "before %s", brief(e))
			assert.True(t, e.GetMoved() != nil || e.GetJoined() != nil, brief(e))
		}
	}
}

// waitingTable is a game in which two people have a clock, one of them is to
// move, and neither does. The third seat is a bot's.
func waitingTable(t *testing.T, w *world, s *testServer, limit time.Duration) (*pb.Game, []*caller) {
	t.Helper()
	players := []*caller{w.player(s), w.player(s)}
	for {
		game := players[0].table(t, &pb.CreateGameRequest{
			Seats: []*pb.SeatRequest{me, anyone, greedy}, TurnLimit: durationpb.New(limit),
		})
		game, err := players[1].join(t.Context(), game.GetId())
		require.NoError(t, err)
		if game.GetPosition().GetTurn() < 2 {
			return game, players
		}
		for _, each := range players { // The bot begins: not this one.
			_, err := each.games.Resign(each.authorized(t.Context()), &pb.ResignRequest{GameId: game.GetId()})
			require.NoError(t, err)
		}
	}
}

// runsOut holds the events of a waitingTable to their end against the rules.
func runsOut(t *testing.T, limit time.Duration, events []*pb.Event) {
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
		assert.Less(t, late, punctual, brief(e))
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

// Ensure that clocks run out on time after the only server that knew of them was
// killed, and that stand-ins move and the last human's time-out ends the game.
func TestClocks_ServerKilled(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	w := newWorld(t, redis.Addr())
	doomed, other := w.serveProcess(w.addr), w.serve(w.addr)
	const limit = 1500*time.Millisecond + 1
	game, _ := waitingTable(t, w, doomed, limit)
	doomed.stop()
	runsOut(t, limit, sit(t, &sitter{gameID: game.GetId(), clients: []*caller{w.anybody(other)}}).ends(t))
}

// extended requires that the first thing that happens to a clock is that it is
// given back an outage of at least the given length, and that it runs on.
func extended(t *testing.T, w *world, game *pb.Game, s *testServer, outage time.Duration) {
	t.Helper()
	limit := game.GetTurnLimit().AsDuration()
	events := sit(t, &sitter{gameID: game.GetId(), clients: []*caller{w.anybody(s)}}).ends(t)
	first := events[game.GetVersion()]
	by := first.GetClockExtended().GetBy().AsDuration()
	require.NotZero(t, by, brief(first))
	assert.GreaterOrEqual(t, by, outage-time.Second)
	began := game.GetPosition().GetTurnDeadline().AsTime()
	assert.Equal(t, began.Add(by), first.GetPosition().GetTurnDeadline().AsTime())
	assert.Equal(t, game.GetPosition().GetTurn(), first.GetSeat())
	runsOut(t, limit, events)
	for _, e := range events[game.GetVersion()+1:] {
		assert.Nil(t, e.GetClockExtended(), "an outage is given back once")
	}
}

// beats waits until a server has said that it is there.
func (w *world) beats(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { return w.store.Exists(t.Context(), "heartbeats:{beat}").Val() > 0 }, patience, 5*time.Millisecond)
}

// Ensure that the time in which Redis was away is given back to clocks.
func TestClocks_RedisAway_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t)
	w := newWorld(t, redis.Addr())
	s := w.serve(w.addr)
	w.serve(w.addr)
	w.beats(t)
	game, _ := waitingTable(t, w, s, 3*time.Second)
	const outage = 5 * time.Second
	redis.Pause()
	t.Cleanup(redis.Resume)
	<-time.After(outage)
	redis.Resume()
	extended(t, w, game, s, outage-time.Second)
}

// Ensure that the time in which there was no server is given back to clocks.
func TestClocks_ServersAway_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t, "--appendonly", "yes")
	w := newWorld(t, redis.Addr())
	doomed := w.serveProcess(w.addr)
	w.beats(t)
	game, _ := waitingTable(t, w, doomed, 3*time.Second)
	doomed.stop()
	const outage = 5 * time.Second
	<-time.After(outage)
	extended(t, w, game, w.serve(w.addr), outage-time.Second)
}

// Ensure that time is given back when an outage is over, and not only when the
// old time is up: players and watchers see clocks that are right.
func TestClocks_GivenBackAtOnce(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	w := newWorld(t, redis.Addr())
	s := w.serve(w.addr)
	other := w.serve(w.addr)
	w.beats(t)
	game, players := waitingTable(t, w, s, time.Hour)
	watcher := sit(t, &sitter{gameID: game.GetId(), clients: []*caller{w.anybody(other)}})
	const outage = 5 * time.Second
	redis.Pause()
	t.Cleanup(redis.Resume)
	<-time.After(outage)
	redis.Resume()
	e := watcher.sees(t, "time given back", func(e *pb.Event) bool { return e.GetClockExtended() != nil })
	by := e.GetClockExtended().GetBy().AsDuration()
	assert.GreaterOrEqual(t, by, outage-2*time.Second)
	began := game.GetPosition().GetTurnDeadline().AsTime()
	assert.Equal(t, began.Add(by), e.GetPosition().GetTurnDeadline().AsTime())
	assert.True(t, e.GetTime().AsTime().Before(began))
	for _, each := range players {
		require.NoError(t, each.insist(t.Context(), func(ctx context.Context) error {
			_, err := each.games.Resign(each.authorized(ctx), &pb.ResignRequest{GameId: game.GetId()})
			return checkError(err)
		}))
	}
	events := watcher.ends(t)
	extensions := 0
	for _, e := range events {
		if e.GetClockExtended() != nil {
			extensions++
		}
	}
	assert.Equal(t, 1, extensions, "once")
}

// Ensure that a gap in the heartbeats of all servers is credited to no clock for
// the time in which moves succeed, and that one without moves is.
func TestClocks_HeartbeatsAway_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t)
	w := newWorld(t, redis.Addr())
	servers := []*testServer{w.serve(w.addr), w.serve(w.addr)}
	w.acknowledged(t, 2)
	game, players := waitingTable(t, w, servers[0], time.Hour)
	watcher := sit(t, &sitter{gameID: game.GetId(), clients: []*caller{w.anybody(servers[1])}})
	const gap = 4500 * time.Millisecond
	without := func(during func(ctx context.Context)) {
		rules := func(words ...any) {
			require.NoError(t, w.store.Do(t.Context(), append([]any{"ACL", "SETUSER", "default", "resetkeys"}, words...)...).Err())
		}
		rules("~game*", "~scores:*", "~player*", "~rate:*", "~due", "~hidden", "~patrolled")
		ctx, cancel := context.WithTimeout(t.Context(), gap)
		defer cancel()
		during(ctx)
		<-ctx.Done()
		rules("~*")
		w.acknowledged(t, 2)
	}

	moves := 0
	without(func(ctx context.Context) {
		busy := w.player(servers[1])
		for ctx.Err() == nil {
			moves += int(busy.playTo(t, seeded(t), busy.start(t, "6x6"), whole).GetVersion())
		}
	})
	t.Logf("%d moves while no heartbeat succeeded", moves)
	outages, err := w.store.ZRange(t.Context(), "outages:{beat}", 0, -1).Result()
	require.NoError(t, err)
	require.Empty(t, outages)

	without(func(context.Context) {})
	e := watcher.sees(t, "time credited", func(e *pb.Event) bool { return e.GetClockExtended() != nil })
	by := e.GetClockExtended().GetBy().AsDuration()
	assert.GreaterOrEqual(t, by, gap-time.Second)
	assert.Less(t, by, 2*gap, "the first gap is credited too")
	for _, each := range players {
		_, err := each.games.Resign(each.authorized(t.Context()), &pb.ResignRequest{GameId: game.GetId()})
		require.NoError(t, err)
	}
	watcher.ends(t)
}

// Ensure that whoever comes back gets the seat and a full turn, and that the
// others' results count and the late one's does not.
func TestClocks_TakenBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		first, second := w.serve(w.addr), w.serve(w.addr)
		const limit = 2 * time.Second
		game, players := waitingTable(t, w, first, limit)
		late := int(game.GetPosition().GetTurn())
		prompt := sit(t, &sitter{gameID: game.GetId(), clients: []*caller{players[1-late].on(second)}})
		lazy := sit(t, &sitter{gameID: game.GetId(), clients: []*caller{players[late]}, idle: true})
		timedOut := lazy.sees(t, "a time-out", func(e *pb.Event) bool { return e.GetTimedOut() != nil })
		require.EqualValues(t, late, timedOut.GetSeat())

		// Until it is taken back, the seat is the stand-in's.
		held, err := players[late].get(t.Context(), game.GetId())
		require.NoError(t, err)
		require.Equal(t, "greedy", held.GetSeats()[late].GetStandIn())
		lazy.sees(t, "a move of the stand-in", func(e *pb.Event) bool {
			return e.GetMoved().GetByBot() && int(e.GetSeat()) == late
		})
		joined, err := players[late].join(t.Context(), game.GetId())
		require.NoError(t, err)
		require.Empty(t, joined.GetSeats()[late].GetStandIn())
		back := sit(t, &sitter{gameID: game.GetId(), clients: []*caller{players[late].on(second)}, returns: true})
		events := prompt.ends(t)
		back.ends(t)
		for _, e := range events {
			if e.GetJoined() != nil && int(e.GetPosition().GetTurn()) == late && e.GetVersion() > timedOut.GetVersion() {
				assert.Equal(t, e.GetTime().AsTime().Add(limit), e.GetPosition().GetTurnDeadline().AsTime())
			}
		}
		last := events[len(events)-1]
		require.Equal(t, pb.Result_REASON_NO_MOVES, last.GetResult().GetReason(), brief(last))
		assert.False(t, last.GetRanked(), "two people play")
		board, err := prompt.clients[0].leaderboard.ListScores(t.Context(), &pb.ListScoresRequest{Variant: "tribolo"})
		require.NoError(t, err)
		assert.Empty(t, board.GetEntries())
	})
}
