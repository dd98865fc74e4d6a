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
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// players is the number of players. Each has their own game and connection.
const players = 200

// player plays games of 6x6, one after another.
type player struct {
	*playertest.Player
	game *pb.Game
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

// BenchmarkMove measures moves of 200 players, as many as possible and 500 a second.
func BenchmarkMove(b *testing.B) {
	for name, start := range map[string]func(*testing.B) *process{"file": startFile, "redis": startOnRedis} {
		b.Run("as_many_as_possible/"+name, func(b *testing.B) {
			measureMoves(b, start(b), func(_ int, move func()) {
				for range 10 {
					move()
				}
			})
		})
		b.Run("500_a_second/"+name, func(b *testing.B) {
			measureMoves(b, start(b), func(player int, move func()) {
				<-time.After(time.Duration(player) * time.Second / 500)
				move()
			})
		})
	}
}

// startOnRedis starts a server on a new Redis server that syncs every move to disk.
func startOnRedis(b *testing.B) *process {
	b.Helper()
	_, err := exec.LookPath("redis-server")
	require.NoError(b, err, "the benchmarks need redis-server")
	return start(b, storeVariable+"="+redistest.StartRedis(b, "--appendonly", "yes", "--appendfsync", "always").URL())
}

// measureMoves runs all players concurrently, once per iteration.
func measureMoves(b *testing.B, server *process, play func(player int, move func())) {
	b.Helper()
	all := make([]*player, players)
	for i := range all {
		all[i] = newPlayer(b, server.dial(b), fmt.Sprintf("player %d", i))
	}
	took := make([][]time.Duration, players)
	round := func() {
		var group sync.WaitGroup
		for i, p := range all {
			group.Go(func() {
				play(i, func() {
					sent := time.Now()
					if err := p.move(); err != nil {
						b.Error(err)
					}
					took[i] = append(took[i], time.Since(sent))
				})
			})
		}
		group.Wait()
	}
	round() // opens connections and warms caches
	clear(took)
	before, began := server.ask(b, "work"), time.Now()
	for b.Loop() {
		round()
	}
	seconds := time.Since(began).Seconds()
	used, sorted := server.ask(b, "work")-before, slices.Sorted(slices.Values(slices.Concat(took...)))
	moves := len(sorted)
	b.ReportMetric(0, "ns/op") // an iteration means nothing
	b.ReportMetric(used/float64(moves), "cpu-µs/move")
	b.ReportMetric(float64(moves)/seconds, "moves/s")
	b.ReportMetric(sorted[moves/2].Seconds()*1000, "p50-ms")
	b.ReportMetric(sorted[moves*99/100].Seconds()*1000, "p99-ms")
}
