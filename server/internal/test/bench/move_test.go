//go:build slow && unix

package bench

import (
	"fmt"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// players is the number of players. Each has their own game and connection.
const players = 200

// player plays games of 6x6, one after another.
type player struct {
	*playertest.Player
	game *pb.Game

	mu   sync.Mutex
	took []time.Duration
}

func newPlayer(b *testing.B, conn grpc.ClientConnInterface, name string) *player {
	b.Helper()
	p := &player{Player: playertest.New(b.Context(), b, conn, name)}
	p.game = p.Create(b, &pb.CreateGameRequest{Variant: "6x6"})
	return p
}

// move makes a move, after it has started a new game if the last one is over.
func (p *player) move() error {
	request := playertest.Slide(p.game)
	if request == nil {
		created, err := p.Games.CreateGame(p.Ctx, &pb.CreateGameRequest{Variant: "6x6"})
		if err != nil {
			return err
		}
		p.game = created.GetGame()
		request = playertest.Slide(p.game)
	}
	moved, err := p.Games.Move(p.Ctx, request)
	if err == nil {
		playertest.Apply(p.game, moved.GetEvent())
	}
	return err
}

// measure makes a move and records the time that it took. Moves of one player wait for each other.
func (p *player) measure(b *testing.B) {
	p.mu.Lock()
	defer p.mu.Unlock()
	sent := time.Now()
	if err := p.move(); err != nil {
		b.Error(err)
	}
	p.took = append(p.took, time.Since(sent))
}

// BenchmarkMove measures moves of 200 players, as many as possible and 500 a second.
func BenchmarkMove(b *testing.B) {
	for name, start := range map[string]func(*testing.B) *process{"file": startFile, "redis": startOnRedis} {
		b.Run("as_many_as_possible/"+name, func(b *testing.B) {
			measureMoves(b, start(b), func(all []*player) {
				for b.Loop() {
					moveAll(b, all, 10)
				}
			})
		})
		b.Run("500_a_second/"+name, func(b *testing.B) {
			measureMoves(b, start(b), func(all []*player) {
				var moves sync.WaitGroup
				began := time.Now()
				for i := 0; b.Loop(); i++ {
					<-time.After(time.Until(began.Add(time.Duration(i) * time.Second / 500)))
					moves.Go(func() { all[i%players].measure(b) })
				}
				moves.Wait()
			})
		})
	}
}

// moveAll lets all players make a number of moves concurrently.
func moveAll(b *testing.B, all []*player, moves int) {
	var group sync.WaitGroup
	for _, p := range all {
		group.Go(func() {
			for range moves {
				p.measure(b)
			}
		})
	}
	group.Wait()
}

// startOnRedis starts a server on a new Redis server that syncs every move to disk.
func startOnRedis(b *testing.B) *process {
	b.Helper()
	_, err := exec.LookPath("redis-server")
	require.NoError(b, err, "the benchmarks need redis-server")
	return start(b, storeVariable+"="+redistest.StartRedis(b, "--appendonly", "yes", "--appendfsync", "always").URL())
}

// measureMoves measures the moves that run makes.
func measureMoves(b *testing.B, server *process, run func(all []*player)) {
	b.Helper()
	all := make([]*player, players)
	for i := range all {
		all[i] = newPlayer(b, servertest.Dial(b, server.address), fmt.Sprintf("player %d", i))
	}
	moveAll(b, all, 1) // opens connections and warms caches
	before, began := server.ask(b, "work"), time.Now()
	run(all)
	seconds, used := time.Since(began).Seconds(), server.ask(b, "work")-before
	var took []time.Duration
	for _, p := range all {
		took = append(took, p.took[1:]...)
	}
	slices.Sort(took)
	b.ReportMetric(0, "ns/op") // says nothing about a move
	b.ReportMetric(used/float64(len(took)), "cpu-µs/move")
	b.ReportMetric(float64(len(took))/seconds, "moves/s")
	b.ReportMetric(took[len(took)/2].Seconds()*1000, "p50-ms")
	b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "p99-ms")
}
