package benchtest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/ratio"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// BenchmarkGames has ten thousand games with five watchers each: moves made as
// quickly as the server answers, in all of them, a few hundred at a time, until
// every watcher has every event. Bare is a call like a move, and five messages
// for it.
func BenchmarkGames(b *testing.B) {
	const (
		each  = 5
		atOne = 500 // moves under way
		owner = 50  // games of one player
	)
	games := 10_000
	if testing.Short() {
		games /= 10
	}
	server := startOurs(b)
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
		for range each {
			requests = append(requests, &pb.WatchRequest{GameId: p.game.GetId(), AfterVersion: &version})
			plainRequests = append(plainRequests, &pb.WatchRequest{GameId: p.game.GetId()})
		}
		moves[i] = p.move
		request := &pb.MoveRequest{
			GameId: p.game.GetId(), Version: 100, Move: &pb.MoveRequest_Direction{Direction: pb.Direction_DIRECTION_UP},
		}
		calls[i] = func() error {
			_, err := echoes.Move(p.ctx, request)
			return err
		}
	}
	crowds := map[bool]*crowd{
		true:  gather(b, server.address, crowdPlan{requests: requests, perConnection: perConnection, versioned: true}),
		false: gather(b, plain.address, crowdPlan{requests: plainRequests, perConnection: perConnection}),
	}
	once := func(c *crowd, works []func() error) float64 {
		before, began := c.least(), time.Now()
		inParallel(atOne, len(works), func(i int) { require.NoError(b, works[i]()) })
		c.awaitLeast(b, before+1)
		return float64(len(works)*each) / time.Since(began).Seconds()
	}
	ratio.Compare(b, "events/s", ratio.AtLeast(0.8),
		func() float64 { return once(crowds[true], moves) },
		func() float64 { return once(crowds[false], calls) })
}

// inParallel does n works, so many at a time.
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
