package contract

import (
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

var windows = []pb.Window{
	pb.Window_WINDOW_UNSPECIFIED, pb.Window_WINDOW_ALL_TIME, pb.Window_WINDOW_WEEK, pb.Window_WINDOW_DAY,
}

// today returns the windows that a test can check: the daily and weekly windows only if no new day
// has started since the test began.
func today(began time.Time) []pb.Window {
	if time.Now().UTC().YearDay() != began.UTC().YearDay() {
		return windows[:2]
	}
	return windows
}

func (s *testServer) rank(t testing.TB, p player, variant string, window pb.Window) (*pb.Entry, error) {
	t.Helper()
	ranked, err := s.GetRank(s.anyone, &pb.GetRankRequest{Variant: variant, Window: window, PlayerId: p.GetId()})
	return ranked.GetEntry(), err
}

// Ensure that a player is on a leaderboard once, with the best score, immediately after the
// game ends.
func TestScores_Best(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	each(t, func(t *testing.T, s *testServer) {
		began := time.Now()
		p := s.player(t)
		var best *pb.Event
		highest := int32(-1)
		for range 6 {
			g := s.game(t, p, "twos")
			s.moves(t, p, g, 12)
			end := s.resign(t, p, g.GetId())
			score := end.GetResult().GetScores()[0]
			if score > highest {
				best, highest = end, score
			}
			for _, window := range today(began) {
				entry, err := s.rank(t, p, "twos", window)
				require.NoError(t, err)
				want := &pb.Entry{
					Rank: 1, Player: &pb.Player{Id: p.GetId(), Name: p.GetName()}, Score: highest,
					GameId: best.GetGameId(), Time: best.GetTime(),
				}
				assert.True(t, proto.Equal(want, entry), "%v: %v", window, entry)
				listed, err := s.ListScores(s.anyone, &pb.ListScoresRequest{Variant: "twos", Window: window})
				require.NoError(t, err)
				assert.EqualValues(t, 1, listed.GetTotal())
				assert.Len(t, listed.GetEntries(), 1)
				assert.True(t, proto.Equal(want, listed.GetEntries()[0]))
				assert.Empty(t, listed.GetNextPageToken())
			}
		}
		_, err := s.rank(t, p, "classic", pb.Window_WINDOW_ALL_TIME)
		wantReason(t, err, pb.ReasonNoScore)

		// A game that ends without legal moves also counts immediately.
		all := s.moves(t, p, s.game(t, p, "3x3"), math.MaxInt32)
		stuck := all[len(all)-1]
		require.Equal(t, pb.Result_REASON_NO_MOVES, stuck.GetResult().GetReason())
		entry, err := s.rank(t, p, "3x3", pb.Window_WINDOW_ALL_TIME)
		require.NoError(t, err)
		assert.Equal(t, stuck.GetResult().GetScores()[0], entry.GetScore())
	})
}

// Ensure that no leaderboard contains private games, games in which a program moved or has a seat,
// or scores of 0.
func TestScores_Unranked(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		score := func(t *testing.T, p player, g *pb.Game, byBot int) {
			t.Helper()
			version, at := g.GetVersion(), g.GetPosition()
			ranked := g.GetRanked()
			for i := 0; at.GetScores()[0] == 0 || i < 4; i++ {
				request := slide(g.GetId(), version, at.GetTwenty48().GetLegalMoves()[0])
				request.ByBot = i == byBot
				moved, err := s.Move(p.ctx, request)
				require.NoError(t, err)
				event := moved.GetEvent()
				again, err := s.Move(p.ctx, request)
				require.NoError(t, err)
				assert.True(t, proto.Equal(event, again.GetEvent()))
				assert.Equal(t, i == byBot, event.GetMoved().GetByBot())
				ranked = ranked && i != byBot
				assert.Equal(t, ranked, event.GetRanked(), "no longer ranked after a program's move")
				version, at = event.GetVersion(), event.GetPosition()
			}
			end := s.resign(t, p, g.GetId())
			assert.Equal(t, ranked, end.GetRanked())
			assert.Equal(t, ranked, s.get(t, g.GetId()).GetRanked())
			_, err := s.rank(t, p, g.GetVariant(), 0)
			if ranked {
				require.NoError(t, err)
			} else {
				wantReason(t, err, pb.ReasonNoScore)
			}
		}
		p := s.player(t)
		t.Run("private games", func(t *testing.T) {
			score(t, p, s.create(t, p, &pb.CreateGameRequest{Variant: "classic", Private: true}), -1)
		})
		t.Run("games with moves of a program", func(t *testing.T) {
			score(t, p, s.game(t, p, "classic"), 2)
			score(t, p, s.game(t, p, "classic"), 0)
		})
		t.Run("games of a bot", func(t *testing.T) {
			bot := s.account(t, &pb.CreatePlayerRequest{Name: "A program", Bot: true})
			g := s.game(t, bot, "classic")
			assert.False(t, g.GetRanked())
			assert.True(t, g.GetSeats()[0].GetPlayer().GetBot())
			score(t, bot, g, -1)
		})

		t.Run("games without points", func(t *testing.T) {
			nothing := s.resign(t, p, s.game(t, p, "classic").GetId())
			assert.True(t, nothing.GetRanked())
			_, err := s.rank(t, p, "classic", 0)
			wantReason(t, err, pb.ReasonNoScore)
			listed, err := s.ListScores(s.anyone, &pb.ListScoresRequest{Variant: "classic"})
			require.NoError(t, err)
			assert.Empty(t, listed.GetEntries())
			assert.Zero(t, listed.GetTotal())
		})

		t.Run("games played by hand count", func(t *testing.T) {
			score(t, p, s.game(t, p, "classic"), -1)
		})
	})
}

// Ensure that the earlier of two equal scores ranks first, and keeps its rank if the player
// reaches the score again.
func TestScores_Equal(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		// In the variant twos, the first merge always merges two 2s, for two points.
		two := func(p player) *pb.Event {
			g := s.game(t, p, "twos")
			version, at := g.GetVersion(), g.GetPosition()
			for at.GetScores()[0] == 0 {
				event := s.move(t, p, g.GetId(), version, at)
				version, at = event.GetVersion(), event.GetPosition()
			}
			return s.resign(t, p, g.GetId())
		}
		var players []player
		var ends []*pb.Event
		for len(players) < 5 {
			p := s.player(t)
			end := two(p)
			// Skip a player whose slide merged two pairs, and one whose game ended at the same
			// time as the previous player's, because their order is undefined.
			if end.GetResult().GetScores()[0] != 2 || len(ends) > 0 && proto.Equal(end.GetTime(), ends[len(ends)-1].GetTime()) {
				continue
			}
			players, ends = append(players, p), append(ends, end)
		}
		for _, p := range players {
			two(p) // A player whose new score is higher is skipped below.
		}
		for _, window := range windows[:2] {
			var ranks []int32
			for i, p := range players {
				entry, err := s.rank(t, p, "twos", window)
				require.NoError(t, err)
				if entry.GetScore() == 2 {
					ranks = append(ranks, entry.GetRank())
					assert.Equal(t, ends[i].GetGameId(), entry.GetGameId(), "the first of equal scores counts")
				}
			}
			assert.True(t, slices.IsSorted(ranks), "%v", ranks)
		}
	})
}

// Ensure that GetRank and ListScores refuse invalid requests as the contract specifies.
func TestScores_Refusals(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		s.finish(t, p, "classic")
		for _, n := range []int32{-1, 4, 99} {
			_, err := s.ListScores(s.anyone, &pb.ListScoresRequest{Variant: "classic", Window: pb.Window(n)})
			wantField(t, err, "window")
			_, err = s.GetRank(s.anyone, &pb.GetRankRequest{Variant: "classic", Window: pb.Window(n), PlayerId: p.GetId()})
			wantField(t, err, "window")
		}
		for _, n := range []int32{-1, -1 << 31} {
			_, err := s.ListScores(s.anyone, &pb.ListScoresRequest{Variant: "classic", PageSize: n})
			wantField(t, err, "page_size")
			_, err = s.GetRank(s.anyone, &pb.GetRankRequest{Variant: "classic", PlayerId: p.GetId(), Neighbors: n})
			wantField(t, err, "neighbors")
		}
		for _, window := range windows {
			_, err := s.GetRank(s.anyone, &pb.GetRankRequest{Variant: "3x3", Window: window, PlayerId: p.GetId()})
			wantReason(t, err, pb.ReasonNoScore)
			_, err = s.GetRank(s.anyone, &pb.GetRankRequest{Variant: "classic", Window: window, PlayerId: newID()})
			wantReason(t, err, pb.ReasonPlayerNotFound)
			_, err = s.GetRank(s.anyone, &pb.GetRankRequest{Variant: "chess", Window: window, PlayerId: p.GetId()})
			wantReason(t, err, pb.ReasonVariantNotFound)
		}
		mine, err := s.GetRank(p.ctx, &pb.GetRankRequest{Variant: "classic", PlayerId: "me"})
		require.NoError(t, err)
		assert.Equal(t, p.GetId(), mine.GetEntry().GetPlayer().GetId())
		assert.Empty(t, mine.GetNeighbors())
		_, err = s.GetRank(s.player(t).ctx, &pb.GetRankRequest{Variant: "classic", PlayerId: "me"})
		wantReason(t, err, pb.ReasonNoScore)
	})
}

// Ensure that pages have the requested size and cover everything, and that all existing
// neighbors are returned. The leaderboard has 205 players, more than fit on the largest page.
func TestPages(t *testing.T) {
	t.Parallel()
	s := start(t, redistest.StartRedis(t).URL())
	began := time.Now()
	const players = 205
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range players / 4 {
				s.finish(t, s.player(t), "restless")
			}
		})
	}
	group.Wait()
	me := s.player(t)
	s.finish(t, me, "restless")
	eventually(t, "the leaderboard has all players", func() bool { // A slow store may record a result after the reply.
		listed, err := s.ListScores(s.anyone, &pb.ListScoresRequest{Variant: "restless"})
		return err == nil && listed.GetTotal() == players
	})

	scores := func(window pb.Window, size int32, token string) *pb.ListScoresResponse {
		listed, err := s.ListScores(s.anyone, &pb.ListScoresRequest{Variant: "restless", Window: window, PageSize: size, PageToken: token})
		require.NoError(t, err)
		assert.EqualValues(t, players, listed.GetTotal(), "the total is the same on every page")
		return listed
	}
	whole := append(scores(0, 200, "").GetEntries(), scores(0, 200, scores(0, 200, "").GetNextPageToken()).GetEntries()...)
	require.Len(t, whole, players)
	for i, entry := range whole {
		assert.EqualValues(t, i+1, entry.GetRank())
		if i > 0 {
			above := whole[i-1]
			assert.True(t, above.GetScore() > entry.GetScore() ||
				above.GetScore() == entry.GetScore() && !above.GetTime().AsTime().After(entry.GetTime().AsTime()))
		}
	}
	for _, window := range today(began) {
		for size, want := range map[int32]int{0: 50, 1: 1, 49: 49, 200: 200, 201: 200, 1 << 30: 200} {
			assert.Len(t, scores(window, size, "").GetEntries(), want, "page size %d", size)
		}
		var all []*pb.Entry
		for token, first := "", true; first || token != ""; first = false {
			page := scores(window, 41, token) // 205 is a multiple of 41
			all, token = append(all, page.GetEntries()...), page.GetNextPageToken()
		}
		require.Len(t, all, players)
		for i := range whole {
			assert.True(t, proto.Equal(whole[i], all[i]))
		}
	}

	for _, at := range []int{0, 1, 60, 102, 150, players - 2, players - 1} {
		for n, limit := range map[int32]int{0: 0, 1: 1, 3: 3, 50: 50, 51: 50, 1 << 30: 50, 1<<31 - 1: 50} {
			ranked, err := s.GetRank(me.ctx, &pb.GetRankRequest{
				Variant: "restless", PlayerId: whole[at].GetPlayer().GetId(), Neighbors: n,
			})
			require.NoError(t, err)
			assert.True(t, proto.Equal(whole[at], ranked.GetEntry()))
			want := append(slices.Clone(whole[max(0, at-limit):at]), whole[at+1:min(players, at+1+limit)]...)
			if assert.Len(t, ranked.GetNeighbors(), len(want)) {
				for i := range want {
					assert.True(t, proto.Equal(want[i], ranked.GetNeighbors()[i]))
				}
			}
		}
	}

	for size, want := range map[int32]int{0: 50, 1: 1, 200: 200, 201: 200, 1000: 200, 1 << 30: 200} {
		listed, err := s.ListGames(s.anyone, &pb.ListGamesRequest{PageSize: size, Variant: "restless"})
		require.NoError(t, err)
		assert.Len(t, listed.GetGames(), want, "page size %d", size)
	}
	for _, size := range []int32{0, 41, 200} {
		games := ids(s.list(t, player{}, &pb.ListGamesRequest{PageSize: size}))
		slices.Sort(games)
		assert.Len(t, slices.Compact(games), players, "a game is listed twice")
	}
}
