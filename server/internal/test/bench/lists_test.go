//go:build slow

package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/internal/ratio"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

const (
	// entries is the number of entries on the board, and liveGames is the number of live games.
	entries   = 1_000_000
	liveGames = 100_000
	// onPage is the number of entries per page, pages is the number of pages that are read in
	// turn, and reads is the number of times that each page is read per round.
	onPage = 50
	pages  = 20
	reads  = 1000
)

// ranked returns the ID of the player with the nth entry on the board.
func ranked(n int) string { return id.Derive([]byte("player"), fmt.Append(nil, n)) }

// member returns the nth entry in the form in which the board stores it.
func member(n int) string {
	const latest = 9_999_999_999_999
	return fmt.Sprintf("%013d:%s:%s", latest-int64(n), ranked(n), ranked(n))
}

// anyScore returns a random score. Few entries of a board have the same one.
func anyScore() int32 { return rand.Int32N(100_000) }

// fillBoard writes a variant's board and its players.
func fillBoard(b *testing.B, client redis.UniversalClient, variant string, entries int) {
	b.Helper()
	const batch = 5000
	ctx := context.Background()
	for first := 0; first < entries; first += batch {
		_, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for n := first; n < first+batch; n++ {
				p.ZAdd(ctx, "scores:{"+variant+":all}", redis.Z{Score: float64(anyScore()), Member: member(n)})
				p.HSet(ctx, "scores:{"+variant+":all}:best", ranked(n), member(n))
				p.HSet(ctx, "player:{"+ranked(n)+"}", "name", fmt.Sprint("player ", n), "secret", ranked(n), "bot", "", "created", n)
			}
			return nil
		})
		require.NoError(b, err)
	}
}

// took returns the duration of a call. The benchmark fails if the call does.
func took(b *testing.B, call func() error) time.Duration {
	b.Helper()
	began := time.Now()
	err := call()
	span := time.Since(began)
	require.NoError(b, err)
	return span
}

// BenchmarkBoard compares leaderboard reads with a minimal handler that runs only the Redis
// command and returns a message of the same size.
func BenchmarkBoard(b *testing.B) {
	ctx := context.Background()
	server := startRedis(b)
	client := redistest.NewClient(b, server.Addr())
	fillBoard(b, client, "classic", entries)
	ours := pb.NewLeaderboardServiceClient(dial(b, serve(b, server.URL())))
	handlers := &bareGames{}
	bare := pb.NewLeaderboardServiceClient(dial(b, serveBare(b, handlers)))

	b.Run("first pages", func(b *testing.B) {
		request := &pb.ListScoresRequest{Variant: "classic"}
		sample, err := ours.ListScores(ctx, request)
		require.NoError(b, err)
		require.Len(b, sample.GetEntries(), onPage)
		place := 0
		handlers.listScores = func(ctx context.Context) (*pb.ListScoresResponse, error) {
			first := int64(place%pages) * onPage
			place++
			return sample, client.ZRevRangeWithScores(ctx, "scores:{classic:all}", first, first+onPage-1).Err()
		}
		token, turn := "", 0
		ratio.Compare(b, "µs", ratio.AtMost(1.3),
			micros(reads, func() time.Duration {
				return took(b, func() error {
					answer, err := ours.ListScores(ctx, &pb.ListScoresRequest{Variant: "classic", PageToken: token})
					if token = answer.GetNextPageToken(); turn%pages == pages-1 {
						token = ""
					}
					turn++
					return err
				})
			}),
			micros(reads, func() time.Duration {
				return took(b, func() error { _, err := bare.ListScores(ctx, request); return err })
			}))
	})
	rank := func(players int) func(b *testing.B) {
		request := func(n int) *pb.GetRankRequest {
			return &pb.GetRankRequest{Variant: "classic", PlayerId: ranked(n)}
		}
		return func(b *testing.B) {
			sample, err := ours.GetRank(ctx, request(0))
			require.NoError(b, err)
			handlers.getRank = func(ctx context.Context) (*pb.GetRankResponse, error) {
				// A handler that knows a player's entry needs one command.
				return sample, client.ZRevRank(ctx, "scores:{classic:all}", member(rand.IntN(players))).Err()
			}
			ratio.Compare(b, "µs", ratio.AtMost(1.3),
				micros(reads, func() time.Duration {
					return took(b, func() error { _, err := ours.GetRank(ctx, request(rand.IntN(players))); return err })
				}),
				micros(reads, func() time.Duration {
					return took(b, func() error { _, err := bare.GetRank(ctx, request(0)); return err })
				}))
		}
	}
	b.Run("rank of a recent player", rank(reads/10))
	b.Run("rank of any player", rank(entries))
}

// fillLists creates running games of a variant and adds them to the lists.
func fillLists(b *testing.B, s *store.Store, variant string, games int) {
	b.Helper()
	library := &library{log: gamelog.New(s.Games)}
	group, ctx := errgroup.WithContext(context.Background())
	group.SetLimit(64)
	for n := range games {
		group.Go(func() error {
			created, err := library.create(ctx, variant, n)
			if err != nil {
				return err
			}
			listing := directory.Of(created.Tip.State, n%1000)
			listing.Score = int32(n % 100_000)
			listing.Players = nil // otherwise, one player's list would contain all games
			return s.Lists.Write(ctx, []store.Listing{listing}, 0)
		})
	}
	require.NoError(b, group.Wait())
}

// BenchmarkLists compares reading a page of live games with a minimal handler that returns a
// message of the same size and runs only the Redis commands that find and read the games.
func BenchmarkLists(b *testing.B) {
	ctx := context.Background()
	server := startRedis(b)
	fillLists(b, storetest.OnRedis(b, server.Addr()), "classic", liveGames)
	client := redistest.NewClient(b, server.Addr())
	ours := pb.NewGameServiceClient(dial(b, serve(b, server.URL())))
	handlers := &bareGames{}
	bare := pb.NewGameServiceClient(dial(b, serveBare(b, handlers)))
	for _, order := range []struct {
		by  pb.OrderBy
		key string
	}{
		{pb.OrderBy_ORDER_BY_RECENT, "games:recent:active:*"},
		{pb.OrderBy_ORDER_BY_SCORE, "games:score:*"},
		{pb.OrderBy_ORDER_BY_WATCHERS, "games:watchers:*"},
	} {
		b.Run(order.by.String(), func(b *testing.B) {
			request := &pb.ListGamesRequest{Status: pb.GameStatus_GAME_STATUS_ACTIVE, OrderBy: order.by}
			sample, err := ours.ListGames(ctx, request)
			require.NoError(b, err)
			require.Len(b, sample.GetGames(), onPage)
			place := 0
			handlers.listGames = func(ctx context.Context) (*pb.ListGamesResponse, error) {
				first := int64(place%pages) * onPage
				place++
				ids, err := client.ZRevRange(ctx, order.key, first, first+onPage-1).Result()
				if err != nil {
					return nil, err
				}
				_, err = client.Pipelined(ctx, func(p redis.Pipeliner) error {
					for _, id := range ids {
						p.HMGet(ctx, "game:{"+id+"}:meta", "last", "time", "head", "watchers")
					}
					return nil
				})
				return sample, err
			}
			ratio.Compare(b, "µs", ratio.AtMost(1.5), pagesOf(b, ours, order.by),
				micros(reads, func() time.Duration {
					return took(b, func() error { _, err := bare.ListGames(ctx, request); return err })
				}))
		})
	}
}

// pagesOf measures reads of the first few pages of live games, in turn.
func pagesOf(b *testing.B, games pb.GameServiceClient, by pb.OrderBy) ratio.Side {
	b.Helper()
	token, turn := "", 0
	return micros(reads, func() time.Duration {
		return took(b, func() error {
			answer, err := games.ListGames(context.Background(), &pb.ListGamesRequest{
				Status: pb.GameStatus_GAME_STATUS_ACTIVE, OrderBy: by, PageToken: token,
			})
			if token = answer.GetNextPageToken(); turn%pages == pages-1 {
				token = ""
			}
			turn++
			return err
		})
	})
}

// BenchmarkListsOnSQLite compares reading a page of live games from a server backed by SQLite with
// reading one from a server backed by Redis.
func BenchmarkListsOnSQLite(b *testing.B) {
	redis, file := startRedis(b), filepath.Join(b.TempDir(), "store.db")
	fillLists(b, storetest.OnRedis(b, redis.Addr()), "classic", liveGames)
	s, err := sqlite.Open(sqlite.Options{Path: file})
	require.NoError(b, err)
	fillLists(b, s, "classic", liveGames)
	require.NoError(b, s.Close())
	onRedis := pb.NewGameServiceClient(dial(b, serve(b, redis.URL())))
	onSQLite := pb.NewGameServiceClient(dial(b, serve(b, "sqlite:"+file)))
	for _, by := range []pb.OrderBy{pb.OrderBy_ORDER_BY_RECENT, pb.OrderBy_ORDER_BY_SCORE, pb.OrderBy_ORDER_BY_WATCHERS} {
		b.Run(by.String(), func(b *testing.B) {
			ratio.Compare(b, "µs", ratio.AtMost(1.5), pagesOf(b, onSQLite, by), pagesOf(b, onRedis, by))
		})
	}
}
