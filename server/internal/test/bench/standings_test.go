//go:build slow

package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/ratio"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// attempts is the number of players in the standings and on the leaderboard.
const attempts = 10_000

// BenchmarkStandings compares the standings of a daily game with the leaderboard of its
// variant, which has the same number of entries, both directly in the store and over gRPC.
func BenchmarkStandings(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) {
		path := filepath.Join(b.TempDir(), "store.db")
		file, err := sqlite.Open(sqlite.Options{Path: path})
		require.NoError(b, err)
		daily := fillStandings(b, file)
		comparePages(b, file.Boards, daily)
		require.NoError(b, file.Close())
		compareStandings(b, serve(b, "sqlite:"+path), daily)
	})
	b.Run("redis", func(b *testing.B) {
		server := startRedis(b, "--appendonly", "yes", "--appendfsync", "always")
		s := storetest.OnRedis(b, server.Addr())
		daily := fillStandings(b, s)
		comparePages(b, s.Boards, daily)
		compareStandings(b, serve(b, server.URL()), daily)
	})
}

// standings returns the leaderboard that holds a challenge's standings.
func standings(challengeID string) store.Board {
	return store.Board{Variant: board.Variant, Window: "challenge-" + challengeID}
}

// fillStandings creates today's daily game, and writes the same results to its standings and to
// the variant's board. It returns the daily game's ID.
func fillStandings(b *testing.B, s *store.Store) string {
	b.Helper()
	dailies := challenge.New(challenge.Config{
		Store: s.Challenges, Log: gamelog.New(s.Games), Dailies: []string{board.Variant}, Keep: 24 * time.Hour,
	})
	daily, _, now, err := dailies.Daily(b.Context(), board.Variant, "")
	require.NoError(b, err)
	expiring := standings(daily.ID)
	expiring.Expires = now.Add(24 * time.Hour).Truncate(time.Second)
	fillStore(b, s, attempts, anyScore, board, expiring)
	createAccounts(b, s)
	return daily.ID
}

func comparePages(b *testing.B, boards store.Boards, challengeID string) {
	compare := func(name string, call func(board store.Board) error) {
		b.Run(name, func(b *testing.B) {
			side := func(board store.Board) ratio.Side {
				return micros(reads, func() time.Duration { return took(b, func() error { return call(board) }) })
			}
			ratio.Compare(b, "µs", ratio.AtMost(1.5), side(standings(challengeID)), side(board))
		})
	}
	ctx := context.Background()
	compare("page", func(board store.Board) error {
		page, err := boards.Page(ctx, board, rand.Int64N(attempts-onPage), onPage)
		if err == nil && (len(page.Entries) != onPage || page.Total != attempts) {
			return fmt.Errorf("%d of %d entries", len(page.Entries), page.Total)
		}
		return err
	})
	compare("rank", func(board store.Board) error {
		rank, err := boards.Rank(ctx, board, ranked(rand.IntN(attempts)), 0)
		if err == nil && !rank.Found {
			return errors.New("a player is missing")
		}
		return err
	})
}

// compareStandings compares the calls that clients use to show standings with those for
// leaderboards.
func compareStandings(b *testing.B, addr, challengeID string) {
	ctx, conn := context.Background(), dial(b, addr)
	challenges, scores := pb.NewChallengeServiceClient(conn), pb.NewLeaderboardServiceClient(conn)
	pages := func(b *testing.B, list func(token string) (next string, err error)) ratio.Side {
		token, turn := "", 0
		return micros(reads, func() time.Duration {
			return took(b, func() (err error) {
				if token, err = list(token); turn%pages == pages-1 {
					token = ""
				}
				turn++
				return err
			})
		})
	}
	b.Run("ListStandings", func(b *testing.B) {
		ratio.Compare(b, "µs", ratio.AtMost(1.5), pages(b, func(token string) (string, error) {
			answer, err := challenges.ListStandings(ctx, &pb.ListStandingsRequest{ChallengeId: challengeID, PageToken: token})
			return answer.GetNextPageToken(), err
		}), pages(b, func(token string) (string, error) {
			answer, err := scores.ListScores(ctx, &pb.ListScoresRequest{Variant: board.Variant, PageToken: token})
			return answer.GetNextPageToken(), err
		}))
	})
	ranks := func(b *testing.B, rank func(playerID string) error) ratio.Side {
		return micros(reads, func() time.Duration {
			return took(b, func() error { return rank(ranked(rand.IntN(known))) })
		})
	}
	b.Run("ListStandings of a player", func(b *testing.B) {
		ratio.Compare(b, "µs", ratio.AtMost(1.5), ranks(b, func(playerID string) error {
			_, err := challenges.ListStandings(ctx, &pb.ListStandingsRequest{ChallengeId: challengeID, PlayerId: playerID})
			return err
		}), ranks(b, func(playerID string) error {
			_, err := scores.GetRank(ctx, &pb.GetRankRequest{Variant: board.Variant, PlayerId: playerID})
			return err
		}))
	})
}
