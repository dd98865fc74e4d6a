//go:build slow

package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gridstand/gridstand/internal/ratio"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// variantsBySize holds variants whose lists or boards have 1, 10 and 100 times the base size.
var variantsBySize = [...]string{"twos", "vt100", "classic"}

// grow compares a cost or throughput at 10 and 100 times the base size with that at the base
// size, which serves as the bare side. A ratio of 1 means that the size does not affect the cost
// of a unit of work.
func grow(b *testing.B, unit string, at [3]ratio.Side) {
	b.Helper()
	for i, name := range []string{"10_times", "100_times"} {
		b.Run(name, func(b *testing.B) { ratio.Compare(b, unit, ratio.Goal{}, at[i+1], at[0]) })
	}
}

// BenchmarkGrowth measures how costs grow with the number of games, watchers, entries and
// moves.
func BenchmarkGrowth(b *testing.B) {
	b.Run("moves_of_50_players_in_50_games", growGames)
	b.Run("events_to_watchers", growWatchers)
	b.Run("page_of_1000_live_games", growLists)
	b.Run("board_of_10000_entries", growBoards)
	b.Run("game_of_100_moves", growMoves)
}

func growGames(b *testing.B) {
	const workers = 50
	address := startOurs(b).address
	var at [3]ratio.Side
	for size, each := range []int{1, 10, 100} {
		var works []func() error
		for worker := range workers {
			conn := dial(b, address)
			games := make([]*player, each)
			for i := range games {
				games[i] = newPlayer(b, conn, fmt.Sprintf("p%d w%d n%d", size, worker, i))
			}
			turn := 0
			works = append(works, func() error {
				turn++
				return games[turn%each].move()
			})
		}
		at[size] = func() float64 { return perSecond(b, works, nil) }
	}
	grow(b, "moves/s", at)
}

func growWatchers(b *testing.B) {
	server := startOurs(b)
	var at [3]ratio.Side
	for size, n := range []int{perConnection, 10 * perConnection, 100 * perConnection} {
		game := watchGame(b, server, startedPlayer(b, server, fmt.Sprintf("player %d", size)), n, perConnection)
		at[size] = func() float64 {
			const moves = 50 // small enough that the game does not end
			began := time.Now()
			game.many(b, moves)
			return float64(moves*n) / time.Since(began).Seconds()
		}
	}
	grow(b, "events/s", at)
}

func growLists(b *testing.B) {
	store := startRedis(b)
	games := pb.NewGameServiceClient(dial(b, serve(b, store.URL())))
	var at [3]ratio.Side
	for i, variant := range variantsBySize {
		fillLists(b, storetest.OnRedis(b, store.Addr()), variant, []int{1000, 10_000, 100_000}[i])
		at[i] = micros(reads, func() time.Duration {
			return took(b, func() error {
				_, err := games.ListGames(b.Context(), &pb.ListGamesRequest{Variant: variant})
				return err
			})
		})
	}
	grow(b, "µs", at)
}

func growBoards(b *testing.B) {
	store := startRedis(b)
	client := redistest.NewClient(b, store.Addr())
	boards := pb.NewLeaderboardServiceClient(dial(b, serve(b, store.URL())))
	var page, rank [3]ratio.Side
	for i, variant := range variantsBySize {
		size := []int{10_000, 100_000, 1_000_000}[i]
		fillBoard(b, client, variant, size)
		page[i] = micros(reads, func() time.Duration {
			return took(b, func() error {
				_, err := boards.ListScores(b.Context(), &pb.ListScoresRequest{Variant: variant})
				return err
			})
		})
		rank[i] = micros(reads, func() time.Duration {
			return took(b, func() error {
				player := ranked(rand.IntN(size))
				_, err := boards.GetRank(b.Context(), &pb.GetRankRequest{Variant: variant, PlayerId: player})
				return err
			})
		})
	}
	b.Run("page", func(b *testing.B) { grow(b, "µs", page) })
	b.Run("rank", func(b *testing.B) { grow(b, "µs", rank) })
}

func growMoves(b *testing.B) {
	server := startRedis(b)
	library := newLibrary(b, server)
	games := pb.NewGameServiceClient(dial(b, serve(b, server.URL())))
	var join, rebuild [3]ratio.Side
	for i, moves := range []int{100, 1000, long} {
		id := library.play(b, moves)[0].State.ID
		join[i] = micros(reads, func() time.Duration { return watchUntil(b, games, &pb.WatchRequest{GameId: id}, 1) })
		rebuild[i] = func() float64 {
			span := median(11, func() time.Duration {
				return took(b, func() error {
					_, err := library.log.Load(context.Background(), id, store.ID{}, 1)
					return err
				})
			})
			return float64(span.Microseconds()) / float64(moves)
		}
	}
	b.Run("joining", func(b *testing.B) { grow(b, "µs", join) })
	b.Run("rebuilding", func(b *testing.B) { grow(b, "µs/move", rebuild) })
}
