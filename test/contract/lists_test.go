package contract

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

const (
	active   = pb.GameStatus_GAME_STATUS_ACTIVE
	finished = pb.GameStatus_GAME_STATUS_FINISHED
	waiting  = pb.GameStatus_GAME_STATUS_WAITING
	anyStage = pb.GameStatus_GAME_STATUS_UNSPECIFIED

	byRecent   = pb.OrderBy_ORDER_BY_RECENT
	byScore    = pb.OrderBy_ORDER_BY_SCORE
	byWatchers = pb.OrderBy_ORDER_BY_WATCHERS
)

// list reads all pages of a list.
func (s *testServer) list(t testing.TB, who player, request *pb.ListGamesRequest) []*pb.Game {
	t.Helper()
	request = proto.CloneOf(request)
	ctx := s.anyone
	if who.ctx != nil {
		ctx = who.ctx
	}
	var games []*pb.Game
	for {
		page, err := s.ListGames(ctx, request)
		require.NoError(t, err)
		games = append(games, page.GetGames()...)
		if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
			return games
		}
		require.NotEmpty(t, page.GetGames(), "a page with a token must not be empty")
	}
}

func ids(games []*pb.Game) []string {
	ids := make([]string, len(games))
	for i, g := range games {
		ids[i] = g.GetId()
	}
	return ids
}

func (s *testServer) rank(p player, variant string, window pb.Window) (*pb.Entry, error) {
	ranked, err := s.GetRank(s.anyone, &pb.GetRankRequest{Variant: variant, Window: window, PlayerId: p.GetId()})
	return ranked.GetEntry(), err
}

// Ensure that each list contains exactly the games that belong to it, for every caller.
func TestListGames(t *testing.T) {
	t.Parallel()
	s := serve(t, patientBots)
	a, b, nobody := s.player(t), s.player(t), player{}
	games := map[string]string{} // ids by name
	for _, owner := range []struct {
		name string
		p    player
	}{{"a", a}, {"b", b}} {
		for _, request := range []*pb.CreateGameRequest{{Variant: "classic"}, {Variant: "twos"}, {Variant: "classic", Private: true}} {
			for _, over := range []bool{false, true} {
				g := s.create(t, owner.p, request)
				name := strings.Join([]string{owner.name, request.GetVariant(), map[bool]string{true: "private"}[request.GetPrivate()]}, " ")
				if over {
					s.resign(t, owner.p, g.GetId())
					name += " over"
				}
				games[g.GetId()] = name
			}
		}
	}
	hall := s.table(t, a, openSeat, openSeat, botSeat("greedy")).GetId()
	games[hall] = "a tribolo"
	has := func(parts ...string) func(string) bool {
		return func(name string) bool {
			for _, part := range parts {
				if without, not := strings.CutPrefix(part, "-"); strings.Contains(" "+name+" ", " "+without+" ") == not {
					return false
				}
			}
			return true
		}
	}
	none := has("nothing")
	for _, tt := range []struct {
		who     player
		request *pb.ListGamesRequest
		want    func(name string) bool
	}{
		{nobody, &pb.ListGamesRequest{}, has("-private")},
		{a, &pb.ListGamesRequest{}, has("-private")},
		{a, &pb.ListGamesRequest{Status: active}, has("-private", "-over", "-tribolo")},
		{a, &pb.ListGamesRequest{Status: finished}, has("-private", "over")},
		{a, &pb.ListGamesRequest{Status: waiting}, has("tribolo")},
		{a, &pb.ListGamesRequest{Status: waiting, Variant: "tribolo"}, has("tribolo")},
		{a, &pb.ListGamesRequest{Status: active, Variant: "classic"}, has("-private", "-over", "classic")},
		{a, &pb.ListGamesRequest{Variant: "twos"}, has("-private", "twos")},
		{a, &pb.ListGamesRequest{PlayerId: "me"}, has("a")},
		{a, &pb.ListGamesRequest{PlayerId: a.GetId(), Status: finished}, has("a", "over")},
		{a, &pb.ListGamesRequest{PlayerId: b.GetId(), Variant: "classic"}, has("b", "classic", "-private")},
		{b, &pb.ListGamesRequest{PlayerId: a.GetId(), Status: waiting}, has("tribolo")},
		{b, &pb.ListGamesRequest{PlayerId: b.GetId(), Status: waiting}, none},
		{nobody, &pb.ListGamesRequest{PlayerId: a.GetId()}, has("a", "-private")},
		{nobody, &pb.ListGamesRequest{PlayerName: strings.ToUpper(a.GetName()), Status: active}, has("a", "-private", "-over", "-tribolo")},
		{a, &pb.ListGamesRequest{PlayerName: a.GetName()}, has("a")},
		{a, &pb.ListGamesRequest{Status: active, OrderBy: byWatchers, Variant: "twos"}, has("twos", "-over")},
		{a, &pb.ListGamesRequest{Status: active, OrderBy: byScore}, has("-private", "-over", "-tribolo")},
		{a, &pb.ListGamesRequest{Variant: "chess"}, none},
		{a, &pb.ListGamesRequest{Variant: "*"}, none},
		{a, &pb.ListGamesRequest{PlayerId: newID()}, none},
		{a, &pb.ListGamesRequest{PlayerId: "\x00"}, none},
		{a, &pb.ListGamesRequest{PlayerId: a.GetName()}, none},
		{a, &pb.ListGamesRequest{PlayerName: "me"}, none},
		{a, &pb.ListGamesRequest{PlayerName: a.GetId()}, none},
		{a, &pb.ListGamesRequest{PlayerName: strings.Repeat("a", 3_000)}, none},
	} {
		var want []string
		for id, name := range games {
			if tt.want(name) {
				want = append(want, id)
			}
		}
		tt.request.PageSize = 4
		// Lists in these orders may be behind the games.
		waittest.Until(t, fmt.Sprint(tt.request), func() bool {
			got := ids(s.list(t, tt.who, tt.request))
			if tt.request.GetOrderBy() == 0 {
				require.ElementsMatch(t, want, got, "%v for %v", tt.request, tt.who.Player)
			}
			return len(want) == len(got)
		})
	}
	for _, g := range s.list(t, a, &pb.ListGamesRequest{PlayerId: "me"}) {
		same(t, s.get(t, g.GetId()), g)
	}
	s.join(t, b, hall)
	assert.Contains(t, ids(s.list(t, nobody, &pb.ListGamesRequest{PlayerId: b.GetId(), Status: waiting})), hall)
	s.join(t, a, hall)
	assert.Empty(t, s.list(t, nobody, &pb.ListGamesRequest{Status: waiting}))
}

// Ensure that lists in each order follow the games, that they count exactly the public games that are
// being played, and that a player's most recently moved game is first.
func TestListGames_Orders(t *testing.T) {
	t.Parallel()
	s := serve(t)
	p := s.player(t)
	s.create(t, p, &pb.CreateGameRequest{Variant: "classic", Private: true})
	s.table(t, p, callerSeat, openSeat, botSeat("greedy"))
	s.raceWithBots(t, p, 1) // It waits.
	var games []*pb.Game
	for i := range 3 {
		games = append(games, s.game(t, p, "classic"))
		s.moves(t, p, games[i], 3*(i*2%3)+1)
		for range i * 2 % 3 {
			s.watch(t, s.anyone, &pb.WatchRequest{GameId: games[i].GetId()}).game(t)
		}
	}
	s.moves(t, p, s.get(t, games[1].GetId()), 1)
	for by, key := range map[pb.OrderBy]func(g *pb.Game) int64{
		byRecent:   func(g *pb.Game) int64 { return g.GetUpdateTime().AsTime().UnixMilli() },
		byScore:    func(g *pb.Game) int64 { return int64(g.GetPosition().GetScores()[0]) },
		byWatchers: func(g *pb.Game) int64 { return int64(g.GetWatchers()) },
	} {
		waittest.Until(t, by.String(), func() bool {
			listed := s.list(t, p, &pb.ListGamesRequest{Status: active, OrderBy: by, PageSize: 2})
			watchers := int32(0)
			for _, g := range listed {
				watchers += g.GetWatchers()
			}
			return len(listed) == 3 && (watchers == 3 || by != byWatchers) &&
				slices.IsSortedFunc(listed, func(x, y *pb.Game) int { return cmp.Compare(key(y), key(x)) })
		})
	}
	moving := func(n int, first string) {
		t.Helper()
		waittest.Until(t, fmt.Sprintf("%d games are being played, %q most recently", n, first), func() bool {
			listed, err := s.ListGames(s.anyone, &pb.ListGamesRequest{PlayerName: p.GetName(), Status: active, PageSize: 1})
			require.NoError(t, err)
			return int(listed.GetMovingGames()) == n && slices.Equal(ids(listed.GetGames()), strings.Fields(first))
		})
	}
	moving(3, games[1].GetId())
	for _, g := range games {
		s.resign(t, p, g.GetId())
	}
	moving(0, "")
}

// Ensure that pages cover a list while it changes, that a token works only for its own list and the
// caller who received it, on any server, and that any other token is refused.
func TestPages(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	p, q := a.player(t), a.player(t)
	want := []string{}
	for i := range 8 {
		want = append(want, a.finish(t, []player{p, q}[i%2], "classic").GetGameId())
	}
	var listed []string
	games := &pb.ListGamesRequest{Status: finished, PageSize: 3}
	scores := &pb.ListScoresRequest{Variant: "classic", PageSize: 1}
	var gameToken, scoreToken string
	for n := 0; n == 0 || games.PageToken != ""; n++ {
		s := []*testServer{a, b}[n%2]
		page, err := s.ListGames(s.anyone, games)
		require.NoError(t, err)
		listed = append(listed, ids(page.GetGames())...)
		a.finish(t, p, "classic") // The new game precedes all earlier games in the list.
		gameToken, games.PageToken = cmp.Or(page.GetNextPageToken(), gameToken), page.GetNextPageToken()
	}
	assert.ElementsMatch(t, want, listed)
	first, err := a.ListScores(a.anyone, scores)
	require.NoError(t, err)
	scoreToken = first.GetNextPageToken()
	scores.PageToken = scoreToken
	second, err := b.ListScores(b.anyone, scores)
	require.NoError(t, err)
	assert.EqualValues(t, 2, second.GetEntries()[0].GetRank())

	try := func(ctx context.Context, request *pb.ListGamesRequest, token string) error {
		request.PageToken = token
		_, err := a.ListGames(ctx, request)
		return err
	}
	own := func() *pb.ListGamesRequest { return &pb.ListGamesRequest{Status: finished} }
	require.NoError(t, try(a.anyone, own(), gameToken))
	for _, other := range []*pb.ListGamesRequest{
		{},
		{Status: active},
		{Status: finished, Variant: "classic"},
		{Status: finished, PlayerId: p.GetId()},
		{Status: active, OrderBy: byScore},
		{Variant: "chess"},
		{PlayerId: "nobody"},
	} {
		wantField(t, try(a.anyone, other, gameToken), "page_token")
	}
	wantField(t, try(p.ctx, own(), gameToken), "page_token")
	wantField(t, try(a.anyone, own(), scoreToken), "page_token")
	for _, other := range []*pb.ListScoresRequest{{Variant: "classic", Window: pb.Window_WINDOW_DAY}, {Variant: "twos"}} {
		other.PageToken = scoreToken
		a.refuses(t, a.anyone, other, "page_token")
	}
	wantField(t, try(a.anyone, own(), gameToken+"A"), "page_token")
}

// Ensure that a player is on a leaderboard once, with the best score, immediately after the game
// ends, and that no leaderboard contains private games, games in which a program moved or has a
// human's seat, or scores of 0.
func TestScores(t *testing.T) {
	t.Parallel()
	s, _ := startAt(t, 12, func(c *server.Config) { c.BotPace = 0 }) // no day ends during the test
	p, robot := s.player(t), s.account(t, &pb.CreatePlayerRequest{Name: "A program", Bot: true})
	none := func(p player, variant string) {
		t.Helper()
		s.refuses(t, s.anyone, &pb.GetRankRequest{Variant: variant, PlayerId: p.GetId()}, pb.ReasonNoScore)
	}
	s.score(t, p, s.create(t, p, &pb.CreateGameRequest{Variant: "twos", Private: true}))
	none(p, "twos")
	s.finish(t, robot, "twos")
	none(robot, "twos")
	s.resign(t, p, s.game(t, p, "twos").GetId())
	none(p, "twos")
	byBot := s.game(t, p, "twos")
	request := slide(byBot.GetId(), 1, byBot.GetPosition().GetTwenty48().GetLegalMoves()[0])
	request.ByBot = true
	moved, err := s.Move(p.ctx, request)
	require.NoError(t, err)
	assert.True(t, moved.GetEvent().GetMoved().GetByBot())
	assert.False(t, moved.GetEvent().GetRanked())
	assert.False(t, s.score(t, p, s.get(t, byBot.GetId())).GetRanked())
	none(p, "twos")

	best := &pb.Entry{}
	for n := range 4 {
		g := s.game(t, p, "twos")
		s.moves(t, p, g, []int{8, 16, 4, 12}[n])
		end := s.resign(t, p, g.GetId())
		if score := end.GetResult().GetScores()[0]; score > best.GetScore() {
			best = &pb.Entry{Rank: 1, Player: &pb.Player{Id: p.GetId(), Name: p.GetName()}, Score: score, GameId: g.GetId(), Time: end.GetTime()}
		}
		for window := range pb.Window_name {
			entry, err := s.rank(p, "twos", pb.Window(window))
			require.NoError(t, err)
			same(t, best, entry)
			listed, err := s.ListScores(s.anyone, &pb.ListScoresRequest{Variant: "twos", Window: pb.Window(window)})
			require.NoError(t, err)
			require.Len(t, listed.GetEntries(), 1)
			same(t, best, listed.GetEntries()[0])
			assert.EqualValues(t, 1, listed.GetTotal())
		}
	}

	g, score := (*pb.Game)(nil), int32(0)
	for score == 0 { // A game without points does not count.
		g = s.table(t, p, seats("caller", "greedy", "original")...)
		end := s.alone(t, p, g)
		require.Equal(t, pb.Result_REASON_NO_MOVES, end.GetResult().GetReason())
		score = end.GetResult().GetScores()[0]
	}
	waittest.Until(t, "the score counts", func() bool { // A bot may have made the last move.
		entry, _ := s.rank(p, "tribolo", 0)
		return entry.GetScore() == score && entry.GetGameId() == g.GetId()
	})
}

// alone plays a game of Tribolo to its end. The player has all human seats.
func (s *testServer) alone(t testing.TB, p player, g *pb.Game) *pb.Event {
	t.Helper()
	watching := s.watch(t, s.anyone, &pb.WatchRequest{GameId: g.GetId(), AfterVersion: proto.Int32(0), EveryEvent: true})
	for {
		e := watching.event(t)
		if e.GetResult() != nil {
			return e
		}
		if g.GetSeats()[e.GetPosition().GetTurn()].GetPlayer() != nil {
			s.jump(t, p, g.GetId(), e.GetVersion(), e.GetPosition())
		}
	}
}

// Ensure that the pages of a leaderboard and of a challenge's standings cover everything in order, and
// that a player's entry comes with its neighbors.
func TestRanks(t *testing.T) {
	t.Parallel()
	s := serve(t)
	tiles := s.challenge(t, s.player(t), &pb.CreateChallengeRequest{Kind: link, Variant: "classic"}).GetId()
	for range 3 {
		p := s.player(t)
		s.finish(t, p, "restless")
		s.score(t, p, s.attempt(t, p, tiles))
	}
	var board []*pb.Entry
	var lines []*pb.Standing
	var scoresToken, standingsToken string
	for range 2 {
		scores, err := s.ListScores(s.anyone, &pb.ListScoresRequest{Variant: "restless", PageSize: 2, PageToken: scoresToken})
		require.NoError(t, err)
		standings, err := s.ListStandings(s.anyone, &pb.ListStandingsRequest{ChallengeId: tiles, PageSize: 2, PageToken: standingsToken})
		require.NoError(t, err)
		assert.Equal(t, []int32{3, 3}, []int32{scores.GetTotal(), standings.GetTotal()})
		board, scoresToken = append(board, scores.GetEntries()...), scores.GetNextPageToken()
		lines, standingsToken = append(lines, standings.GetStandings()...), standings.GetNextPageToken()
	}
	require.Equal(t, []int{3, 3}, []int{len(board), len(lines)})
	assert.Empty(t, scoresToken+standingsToken)
	for i := range board {
		assert.Equal(t, []int32{int32(i + 1), int32(i + 1)}, []int32{board[i].GetRank(), lines[i].GetRank()})
	}
	ranked, err := s.GetRank(s.anyone, &pb.GetRankRequest{Variant: "restless", PlayerId: board[1].GetPlayer().GetId(), Neighbors: 1})
	require.NoError(t, err)
	same(t, &pb.GetRankResponse{Entry: board[1], Neighbors: []*pb.Entry{board[0], board[2]}}, ranked)
	around, err := s.ListStandings(s.anyone, &pb.ListStandingsRequest{ChallengeId: tiles, PlayerId: lines[1].GetPlayer().GetId(), Neighbors: 1})
	require.NoError(t, err)
	same(t, &pb.ListStandingsResponse{Standings: lines, Total: 3}, around)
}
