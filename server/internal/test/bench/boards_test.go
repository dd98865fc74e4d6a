//go:build slow

package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/internal/ratio"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// recorders is the number of callers that record results concurrently.
const recorders = 100

var board = store.Board{Variant: "classic", Window: "all"}

// known is the number of players with accounts at random ranks.
const known = 1000

// fillStore is like fillBoard, but it writes through the store's interface, fills several
// boards, and creates no players.
func fillStore(b *testing.B, s *store.Store, entries int, score func() int32, boards ...store.Board) {
	b.Helper()
	group, ctx := errgroup.WithContext(context.Background())
	group.SetLimit(2048)
	for n := range entries {
		entry := store.BoardEntry{PlayerID: ranked(n), Score: score(), Member: member(n)}
		group.Go(func() error { return s.Boards.Record(ctx, entry, boards...) })
	}
	require.NoError(b, group.Wait())
}

// createAccounts creates accounts for the known players and for those on the first pages.
func createAccounts(b *testing.B, s *store.Store) {
	b.Helper()
	ctx := context.Background()
	page, err := s.Boards.Page(ctx, board, 0, pages*onPage)
	require.NoError(b, err)
	players := map[string]bool{}
	for n := range known {
		players[ranked(n)] = true
	}
	for _, e := range page.Entries {
		players[e.PlayerID] = true
	}
	for player := range players {
		_, err := s.Accounts.Create(ctx, store.Account{ID: player, Name: "player " + player, Secret: player}, 0)
		require.NoError(b, err)
	}
}

// BenchmarkBoardEngines compares SQLite's leaderboards with those of a Redis server that also
// syncs each write to disk, once with realistic scores and once with only ten distinct scores.
func BenchmarkBoardEngines(b *testing.B) {
	for _, scores := range []struct {
		name  string
		score func() int32
	}{
		{"of classic games", func() int32 { return 4 * int32(100+rand.ExpFloat64()*2500) }},
		{"of ten values", func() int32 { return 1 + rand.Int32N(10) }},
	} {
		b.Run("scores "+scores.name, func(b *testing.B) {
			server := startRedis(b, "--appendonly", "yes", "--appendfsync", "always")
			fillBoard(b, redistest.NewClient(b, server.Addr()), board.Variant, entries, scores.score)
			path := filepath.Join(b.TempDir(), "store.db")
			file, err := sqlite.Open(sqlite.Options{Path: path})
			require.NoError(b, err)
			fillStore(b, file, entries, scores.score, board)
			comparePorts(b, file.Boards, storetest.OnRedis(b, server.Addr()).Boards, scores.score)
			createAccounts(b, file)
			require.NoError(b, file.Close())
			compareCalls(b,
				pb.NewLeaderboardServiceClient(dial(b, serve(b, "sqlite:"+path))),
				pb.NewLeaderboardServiceClient(dial(b, serve(b, server.URL()))))
		})
	}
}

func comparePorts(b *testing.B, ours, other store.Boards, score func() int32) {
	ctx := context.Background()
	compare := func(name string, goal ratio.Goal, calls int, call func(boards store.Boards) error) {
		b.Run(name, func(b *testing.B) {
			side := func(boards store.Boards) ratio.Side {
				return micros(calls, func() time.Duration { return took(b, func() error { return call(boards) }) })
			}
			ratio.Compare(b, "µs", goal, side(ours), side(other))
		})
	}
	compare("rank of any player", ratio.Goal{}, reads, func(boards store.Boards) error {
		rank, err := boards.Rank(ctx, board, ranked(rand.IntN(entries)), 0)
		if err == nil && !rank.Found {
			return errors.New("a player is missing")
		}
		return err
	})
	for _, first := range []int64{0, entries / 2, entries - onPage} {
		compare(fmt.Sprint("page at place ", first), ratio.Goal{}, reads, func(boards store.Boards) error {
			page, err := boards.Page(ctx, board, first, onPage)
			if err == nil && len(page.Entries) != onPage {
				return fmt.Errorf("%d entries", len(page.Entries))
			}
			return err
		})
	}
	var games atomic.Int64
	record := func(boards store.Boards) error {
		later := int(entries + games.Add(1))
		player := ranked(rand.IntN(entries))
		entry := store.BoardEntry{PlayerID: player, Score: score() + 4*int32(games.Load()), Member: fmt.Sprintf("%013d:%s:%s", later, player, player)}
		expires := time.Now().Add(24 * time.Hour).Truncate(time.Second)
		return boards.Record(ctx, entry, board,
			store.Board{Variant: board.Variant, Window: "week", Expires: expires},
			store.Board{Variant: board.Variant, Window: "day", Expires: expires})
	}
	compare("record", ratio.Goal{}, reads, record)
	b.Run(fmt.Sprint("records of ", recorders, " at a time"), func(b *testing.B) {
		side := func(boards store.Boards) ratio.Side {
			return ratio.PerSecond(func() int64 {
				const each = 10
				var group sync.WaitGroup
				for range recorders {
					group.Go(func() {
						for range each {
							if err := record(boards); err != nil {
								b.Error(err)
							}
						}
					})
				}
				group.Wait()
				return recorders * each
			})
		}
		ratio.Compare(b, "records/s", ratio.Goal{}, side(ours), side(other))
	})
}

func compareCalls(b *testing.B, ours, other pb.LeaderboardServiceClient) {
	ctx := context.Background()
	b.Run("GetRank", func(b *testing.B) {
		side := func(scores pb.LeaderboardServiceClient) ratio.Side {
			return micros(reads, func() time.Duration {
				return took(b, func() error {
					_, err := scores.GetRank(ctx, &pb.GetRankRequest{Variant: board.Variant, PlayerId: ranked(rand.IntN(known))})
					return err
				})
			})
		}
		ratio.Compare(b, "µs", ratio.Goal{}, side(ours), side(other))
	})
	b.Run("ListScores", func(b *testing.B) {
		side := func(scores pb.LeaderboardServiceClient) ratio.Side {
			token, turn := "", 0
			return micros(reads, func() time.Duration {
				return took(b, func() error {
					answer, err := scores.ListScores(ctx, &pb.ListScoresRequest{Variant: board.Variant, PageToken: token})
					if token = answer.GetNextPageToken(); turn%pages == pages-1 {
						token = ""
					}
					turn++
					return err
				})
			})
		}
		ratio.Compare(b, "µs", ratio.AtMost(1.5), side(ours), side(other))
	})
}
