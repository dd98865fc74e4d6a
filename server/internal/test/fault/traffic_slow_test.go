//go:build slow

package fault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/internal/id"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	watchtest "github.com/gridstand/gridstand/internal/testkit/watch"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// load is the number of concurrent players and watchers.
type load struct {
	// solo is the number of people who play 2048, tables is the number of tables with two
	// players, and workloads is the number of workloads with maxPlayers players.
	solo, tables, workloads int
	// watchers is the number of watchers of each game that the above play.
	watchers int
	// pause is the delay before a move. It limits the number of moves that the test keeps in
	// memory.
	pause time.Duration
}

const (
	// turnLimit is long enough that clocks run out only during long faults.
	turnLimit = 2 * time.Second
	// callPause is the delay before each call of a workload. It is long enough for a fault or
	// two to occur during each history, and keeps the number of calls low.
	callPause = 50 * time.Millisecond
)

// traffic consists of players, who play one game after another, and watchers, which use the
// client library. It runs until finish is called.
type traffic struct {
	t         *testing.T
	env       *env
	load      load
	servers   *testServer // all servers, under one name
	ctx       context.Context
	finishing chan struct{} // closed when the traffic should end
	group     *errgroup.Group

	mu           sync.Mutex
	watchers     []*watcher
	participants []*participant
	workloads    []*workload
}

// solo returns the single-player variants.
func solo() []game.Variant {
	return slices.DeleteFunc(variants.All(), func(v game.Variant) bool { return v.Seats > 1 })
}

// startTraffic starts traffic to servers. Each must have the address that clients connect to; if
// a server has a front end, that is the front end's address. The players' random choices are
// derived from seed.
func (env *env) startTraffic(load load, seed uint64, servers ...*testServer) *traffic {
	env.t.Helper()
	tr := &traffic{t: env.t, env: env, load: load, servers: behind(servers...), finishing: make(chan struct{})}
	ctx, cancel := context.WithCancel(env.t.Context())
	tr.group, tr.ctx = errgroup.WithContext(ctx)
	env.t.Cleanup(func() {
		cancel()
		_ = tr.group.Wait()
	})
	for n := range load.solo {
		player, spectator := env.player(tr.servers), env.anonymous(tr.servers)
		rng := rand.New(rand.NewPCG(seed, uint64(100+n)))
		tr.group.Go(func() error { return tr.solo(rng, player, spectator) })
	}
	for n := range load.tables {
		players := []*caller{env.player(tr.servers), env.player(tr.servers), env.anonymous(tr.servers)}
		rng := rand.New(rand.NewPCG(seed, uint64(200+n)))
		tr.group.Go(func() error { return tr.playTables(rng, players) })
	}
	for n := range load.workloads {
		clients, spectator := accounts(env, servers...), env.anonymous(tr.servers)
		rng := rand.New(rand.NewPCG(seed, uint64(300+n)))
		tr.group.Go(func() error { return tr.runWorkloads(rng, clients, spectator) })
	}
	return tr
}

func (tr *traffic) finished() bool {
	select {
	case <-tr.finishing:
		return true
	default:
		return tr.ctx.Err() != nil
	}
}

// solo plays watched games of 2048, sometimes with undos.
func (tr *traffic) solo(rng *rand.Rand, player, spectator *caller) error {
	all := solo()
	sdk, err := client.Dial(client.Config{Target: tr.servers.addr, Token: player.token})
	if err != nil {
		return err
	}
	defer func() { _ = sdk.Close() }()
	for !tr.finished() {
		game, err := player.create(tr.ctx, ofVariant(all[rng.IntN(len(all))].ID))
		if err != nil {
			return fmt.Errorf("creating a game: %w", err)
		}
		for range tr.load.watchers {
			if rng.IntN(2) == 0 {
				tr.watch(spectator, game.GetId(), watching{cut: rng.IntN(40)})
			} else {
				tr.group.Go(func() error { return tr.follow(sdk, game.GetId()) })
			}
		}
		if err := tr.play(rng, sdk.Seat(client.Game{Game: game}), game, int32(20+rng.IntN(100))); err != nil {
			return fmt.Errorf("playing %s: %w", game.GetId(), err)
		}
	}
	return nil
}

// play makes moves up to a version and resigns there.
func (tr *traffic) play(rng *rand.Rand, seat *client.Seat, game *pb.Game, giveUp int32) error {
	version, position := game.GetVersion(), game.GetPosition()
	for {
		<-time.After(tr.load.pause)
		var event *pb.Event
		var err error
		n := rng.IntN(60)
		switch {
		case version >= giveUp || tr.finished():
			event, err = seat.Resign(tr.ctx)
		case n == 0 && position.GetMoveCount() > 0:
			event, err = seat.Undo(tr.ctx, version, nil)
		default:
			event, err = seat.Move(tr.ctx, version, client.Slide(random(rng, position)), false)
		}
		if err != nil {
			return fmt.Errorf("after version %d: %w", version, err)
		}
		if event.GetVersion() != version+1 {
			return fmt.Errorf("version %d after version %d in a game with one player", event.GetVersion(), version)
		}
		if err := tr.env.observed.event(event); err != nil {
			return err
		}
		if event.GetResult() != nil {
			return nil
		}
		version, position = event.GetVersion(), event.GetPosition()
	}
}

// watch starts a watcher of a game.
func (tr *traffic) watch(spectator *caller, gameID string, how watching) {
	w := spectator.watch(tr.t, gameID, how)
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.watchers = append(tr.watchers, w)
}

// follow watches a game to its end with the client library, which resumes streams by itself.
func (tr *traffic) follow(sdk *client.Client, gameID string) error {
	request := &pb.WatchRequest{GameId: gameID, AfterVersion: proto.Int32(0)}
	history := watchtest.Begin(request)
	// The watcher uses its own connection, because the player's may be closed sooner.
	own, err := client.Dial(client.Config{Target: sdk.Target()})
	if err != nil {
		return err
	}
	defer func() { _ = own.Close() }()
	watcher := own.Watch(tr.ctx, client.WatchOptions{GameID: gameID, AfterVersion: request.AfterVersion})
	defer watcher.Close()
	for {
		update, err := watcher.Next()
		message := &pb.WatchResponse{}
		switch {
		case errors.Is(err, io.EOF):
			_, err := history.End(err)
			return err
		case err != nil:
			return fmt.Errorf("following %s after version %d: %w", gameID, history.Version(), err)
		case update.Event != nil:
			message.Update = &pb.WatchResponse_Event{Event: update.Event}
		case update.Game != nil:
			message.Update = &pb.WatchResponse_Game{Game: update.Game}
		default:
			continue
		}
		if err := history.Take(message); err != nil {
			return fmt.Errorf("following %s: %w", gameID, err)
		}
		if err := tr.env.observed.update(message); err != nil {
			return err
		}
	}
}

// playTables plays games of Tribolo with a clock. The players are a bot and two people, who take
// their seats back from stand-ins.
func (tr *traffic) playTables(rng *rand.Rand, players []*caller) error {
	for !tr.finished() {
		host, guest, spectator := players[0], players[1], players[2]
		game, err := host.create(tr.ctx, &pb.CreateGameRequest{
			Variant: "tribolo", Seats: []*pb.SeatRequest{callerSeat, openSeat, greedyBot},
			TurnLimit: durationpb.New(turnLimit), RequestId: id.New(),
		})
		if err != nil {
			return fmt.Errorf("creating a table: %w", err)
		}
		gameID := game.GetId()
		for n := range tr.load.watchers {
			how := watching{}
			if n%2 == 1 {
				how = watching{every: true, cut: 1 + rng.IntN(9)}
			}
			tr.watch(spectator, gameID, how)
		}
		if _, err := guest.join(tr.ctx, gameID); err != nil {
			return fmt.Errorf("joining %s: %w", gameID, err)
		}
		var both []*participant
		for _, player := range players[:2] {
			p := &participant{pace: tr.load.pause, rng: rand.New(rand.NewPCG(rng.Uint64(), 0))}
			both = append(both, participate(tr.t, p, gameID, player))
		}
		tr.mu.Lock()
		tr.participants = append(tr.participants, both...)
		tr.mu.Unlock()
		for _, p := range both {
			select {
			case <-p.done:
			case <-tr.ctx.Done():
				return tr.ctx.Err()
			}
		}
	}
	return nil
}

// runWorkloads runs one workload after another, with clients on all servers.
func (tr *traffic) runWorkloads(rng *rand.Rand, clients [maxPlayers][]*caller, spectator *caller) error {
	names := slices.Sorted(maps.Keys(scenarios))
	for !tr.finished() {
		w, err := scenarios[names[rng.IntN(len(names))]].open(tr.ctx, clients)
		if err != nil {
			return err
		}
		for range tr.load.watchers {
			tr.watch(spectator, w.game.GetId(), watching{every: rng.IntN(2) == 0})
		}
		w.pause = callPause
		if err := w.run(tr.ctx, rng.Uint64()); err != nil {
			return fmt.Errorf("workload on game %s: %w", w.game.GetId(), err)
		}
		tr.mu.Lock()
		tr.workloads = append(tr.workloads, w)
		tr.mu.Unlock()
	}
	return nil
}

// checkLinearizable requires that each workload's history is linearizable.
func (tr *traffic) checkLinearizable(t *testing.T) {
	t.Helper()
	fresh := tr.env.anonymous(tr.env.serve())
	for _, w := range tr.workloads {
		require.Equal(t, porcupine.Ok, w.checkLinearizable(t, tr.env.genesis(t, fresh, w.game)), w.game.GetVariant())
	}
}

// finish ends the traffic, and requires that all watchers have seen the end of their games.
func (tr *traffic) finish(t *testing.T) {
	t.Helper()
	close(tr.finishing)
	gone := make(chan error, 1)
	go func() { gone <- tr.group.Wait() }()
	select {
	case err := <-gone:
		require.NoError(t, err)
	case <-time.After(5 * patience): // games have to end first
		require.Fail(t, "the traffic did not finish")
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for _, w := range tr.watchers {
		require.NoError(t, w.awaitEnd(t), w.gameID)
	}
	for _, p := range tr.participants {
		require.NoError(t, p.awaitEnd(t), p.gameID)
	}
}

// awaitProgress waits until clients have observed the given number of additional versions. On a slow
// machine, each version may take long.
func (env *env) awaitProgress(t *testing.T, more int) {
	t.Helper()
	target := env.observed.totalVersions() + more
	for seen := target - more; seen < target; seen = env.observed.totalVersions() {
		waittest.Until(t, "clients make progress", func() bool { return env.observed.totalVersions() > seen })
	}
}

// totalVersions returns the sum of the latest versions of all games.
func (o *observations) totalVersions() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	total := 0
	for _, v := range o.latest {
		total += int(v)
	}
	return total
}
