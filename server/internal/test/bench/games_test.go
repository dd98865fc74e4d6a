//go:build slow

package bench

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/ratio"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// BenchmarkGames plays 10,000 games with five watchers each. It makes moves in all games as fast
// as the server responds, with a few hundred moves in flight at a time, and waits until every
// watcher has received every event. For each move, the bare side makes a call of the same size
// and sends five messages.
func BenchmarkGames(b *testing.B) {
	g := newManyGames(b)
	perSecond := func(once func() int) func() float64 {
		return func() float64 {
			began := time.Now()
			return float64(once()*watchersEach) / time.Since(began).Seconds()
		}
	}
	ratio.Compare(b, "events/s", ratio.AtLeast(0.8), perSecond(g.ours), perSecond(g.bare))
}

// BenchmarkCostOfAGame is like BenchmarkCostOfAMove, but it uses a server with 10,000 games that
// have five watchers each.
func BenchmarkCostOfAGame(b *testing.B) {
	g := newManyGames(b)
	bare := func() float64 { return g.plain.ask(b, "work") }
	for _, cost := range []struct {
		name string
		work func() float64
	}{
		{"time", func() float64 { return g.server.ask(b, "work") }},
		{"time_of_redis", redisWork(b, g.store)},
	} {
		b.Run(cost.name, func(b *testing.B) {
			each := func(work func() float64, once func() int) func() float64 {
				return func() float64 {
					before := work()
					moves := once()
					return (work() - before) / float64(moves)
				}
			}
			ratio.Compare(b, "µs/move", ratio.Goal{}, each(cost.work, g.ours), each(bare, g.bare))
		})
	}
}

// watchersEach is the number of watchers of each game in manyGames.
const watchersEach = 5

// manyGames holds games with a few watchers each, and the same number of bare games.
type manyGames struct {
	store         string
	server, plain *process
	// ours and bare each make a move in every game on their server, wait until every watcher has
	// seen the move, and return the number of games.
	ours, bare func() int
}

func newManyGames(b *testing.B) manyGames {
	b.Helper()
	const (
		atOne = 500 // number of in-flight moves
		owner = 50  // number of games per player
	)
	games := 10_000
	store := startStore(b)
	server := startProcess(b, ours, storeVariable+"="+store)
	conn := dial(b, server.address)
	all := make([]*player, games)
	inParallel(atOne, games/owner, func(i int) {
		first := newPlayer(b, conn, fmt.Sprintf("player %d", i))
		for j := range owner {
			p := *first
			if j > 0 {
				require.NoError(b, p.begin())
			}
			require.NoError(b, p.move())
			all[i*owner+j] = &p
		}
	})
	plain := startBareProcess(b, prepared, all[0].event)
	echoes := pb.NewGameServiceClient(dial(b, plain.address))

	var requests, plainRequests []*pb.WatchRequest
	moves, calls := make([]func() error, games), make([]func() error, games)
	for i, p := range all {
		version := p.event.GetVersion()
		for range watchersEach {
			requests = append(requests, &pb.WatchRequest{GameId: p.game.GetId(), AfterVersion: &version})
			plainRequests = append(plainRequests, &pb.WatchRequest{GameId: p.game.GetId()})
		}
		moves[i] = p.move
		request := &pb.MoveRequest{
			GameId: p.game.GetId(), Version: 100, Move: &pb.MoveRequest_Direction{Direction: pb.Direction_DIRECTION_UP},
		}
		calls[i] = func() error {
			_, err := echoes.Move(p.Ctx, request)
			return err
		}
	}
	ourCrowd := openAudience(b, server.address, watchPlan{requests: requests, perConnection: perConnection, versioned: true})
	bareCrowd := openAudience(b, plain.address, watchPlan{requests: plainRequests, perConnection: perConnection})
	once := func(a *audience, works []func() error) func() int {
		return func() int {
			before := a.least()
			inParallel(atOne, len(works), func(i int) { require.NoError(b, works[i]()) })
			a.awaitLeast(b, before+1)
			return len(works)
		}
	}
	return manyGames{store, server, plain, once(ourCrowd, moves), once(bareCrowd, calls)}
}

// inParallel calls work with each number from 0 to n−1, with at most atOne calls running
// concurrently.
func inParallel(atOne, n int, work func(i int)) {
	next := make(chan int)
	var group sync.WaitGroup
	for range min(atOne, n) {
		group.Go(func() {
			for i := range next {
				work(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	group.Wait()
}
