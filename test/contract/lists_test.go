package contract

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

const (
	active   = pb.GameStatus_GAME_STATUS_ACTIVE
	finished = pb.GameStatus_GAME_STATUS_FINISHED
	waiting  = pb.GameStatus_GAME_STATUS_WAITING
	anyStage = pb.GameStatus_GAME_STATUS_UNSPECIFIED
)

// list reads all pages of a list.
func (s *testServer) list(t testing.TB, who player, request *pb.ListGamesRequest) []*pb.Game {
	t.Helper()
	request = proto.Clone(request).(*pb.ListGamesRequest)
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

// Ensure that each list contains exactly the games that belong to it, for every caller.
func TestListGames(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	each(t, func(t *testing.T, s *testServer) {
		a, b, nobody := s.player(t), s.player(t), player{}
		var games []*pb.Game // the games in their final state
		for _, owner := range []player{a, b} {
			for _, variant := range []string{"classic", "classic", "twos"} {
				for _, private := range []bool{false, true} {
					for _, over := range []bool{false, true} {
						g := s.create(t, owner, &pb.CreateGameRequest{Variant: variant, Private: private})
						s.moves(t, owner, g, 3)
						if over {
							s.resign(t, owner, g.GetId())
						}
						games = append(games, s.get(t, g.GetId()))
					}
				}
			}
		}
		slices.SortStableFunc(games, func(x, y *pb.Game) int {
			return y.GetUpdateTime().AsTime().Compare(x.GetUpdateTime().AsTime())
		})
		t.Run("by status, variant and player", func(t *testing.T) {
			for _, status := range []pb.GameStatus{anyStage, waiting, active, finished} {
				for _, variant := range []string{"", "classic", "twos", "chess"} {
					for _, of := range []string{"", a.GetId(), b.GetId(), newID(), "me"} {
						for _, who := range []player{a, b, nobody} {
							if of == "me" && who.ctx == nil {
								continue
							}
							id := of
							if of == "me" {
								id = who.GetId()
							}
							var want []string
							for _, g := range games {
								owner := g.GetSeats()[0].GetPlayer().GetId()
								if (status == anyStage || g.GetStatus() == status) && (variant == "" || g.GetVariant() == variant) &&
									(id == "" || owner == id) && (!g.GetPrivate() || id != "" && who.Player != nil && owner == who.GetId()) {
									want = append(want, g.GetId())
								}
							}
							got := s.list(t, who, &pb.ListGamesRequest{Status: status, Variant: variant, PlayerId: of, PageSize: 5})
							require.ElementsMatch(t, want, ids(got), "%v %q of %q for %v", status, variant, of, who.GetId())
							for _, p := range []player{a, b} {
								if p.GetId() != id {
									continue
								}
								byName := &pb.ListGamesRequest{
									Status: status, Variant: variant, PlayerName: strings.ToUpper(p.GetName()), PageSize: 5,
								}
								require.Equal(t, ids(got), ids(s.list(t, who, byName)), "%v", byName)
							}
						}
					}
				}
			}
		})
		t.Run("by score and by watchers", func(t *testing.T) {
			for _, variant := range []string{"", "classic", "twos", "3x3", "chess"} {
				for _, order := range []pb.OrderBy{pb.OrderBy_ORDER_BY_SCORE, pb.OrderBy_ORDER_BY_WATCHERS} {
					var want []string
					for _, g := range games {
						if g.GetStatus() == active && !g.GetPrivate() && (variant == "" || g.GetVariant() == variant) {
							want = append(want, g.GetId())
						}
					}
					slices.Sort(want)
					// In these orders, games change position until the lists have caught up, so a
					// game can fall between two pages.
					eventually(t, fmt.Sprintf("%q %v", variant, order), func() bool {
						got := ids(s.list(t, a, &pb.ListGamesRequest{Status: active, Variant: variant, OrderBy: order, PageSize: 2}))
						slices.Sort(got)
						return slices.Equal(want, got)
					})
				}
			}
		})
		t.Run("nothing for an unknown variant or player", func(t *testing.T) {
			for _, request := range []*pb.ListGamesRequest{
				{Variant: "*"},
				{Variant: "\x00"},
				{Variant: "classic:"},
				{PlayerId: "no id"},
				{PlayerId: "*"},
				{PlayerId: "\x00"},
				{PlayerId: strings.Repeat("a", 3_000)},
				{PlayerId: a.GetName()},
				{PlayerName: "Unknown"},
				{PlayerName: a.GetId()},
				{PlayerName: "me"},
				{PlayerName: " " + a.GetName()},
				{PlayerName: "no name\x00"},
				{PlayerName: strings.Repeat("a", 3_000)},
			} {
				require.Empty(t, s.list(t, a, request), "%v", request)
			}
		})
		t.Run("the most recent first by default", func(t *testing.T) {
			recent := &pb.ListGamesRequest{OrderBy: pb.OrderBy_ORDER_BY_RECENT}
			require.ElementsMatch(t, ids(s.list(t, a, &pb.ListGamesRequest{})), ids(s.list(t, a, recent)), "the default")
		})
		t.Run("complete games", func(t *testing.T) {
			for _, g := range s.list(t, a, &pb.ListGamesRequest{PlayerId: "me"}) {
				assert.True(t, proto.Equal(s.get(t, g.GetId()), g))
			}
		})
		t.Run("finished games in order immediately", func(t *testing.T) {
			// The server updates the list of finished games before it responds to the call that
			// ends a game.
			listed := s.list(t, nobody, &pb.ListGamesRequest{Status: finished})
			assert.True(t, slices.IsSortedFunc(listed, func(x, y *pb.Game) int {
				return y.GetUpdateTime().AsTime().Compare(x.GetUpdateTime().AsTime())
			}))
		})
	})
}

// Ensure that lists reflect changes to games and to spectator counts within a second.
func TestListGames_Orders(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		games := map[string]*pb.Game{}
		for i := range 6 {
			g := s.game(t, p, "classic")
			s.moves(t, p, g, 2*(i*5%6)+1)
			games[g.GetId()] = s.get(t, g.GetId())
			for range i % 3 {
				s.watch(t, s.anyone, &pb.WatchRequest{GameId: g.GetId()}).game(t)
			}
		}
		order := func(by pb.OrderBy) []*pb.Game {
			return s.list(t, p, &pb.ListGamesRequest{Status: active, OrderBy: by, PageSize: 4})
		}
		sorted := func(by pb.OrderBy, key func(*pb.Game) int64) {
			t.Helper()
			eventually(t, by.String(), func() bool {
				var keys []int64
				for _, g := range order(by) {
					keys = append(keys, -key(g))
				}
				return len(keys) == len(games) && slices.IsSorted(keys)
			})
		}
		sorted(pb.OrderBy_ORDER_BY_RECENT, func(g *pb.Game) int64 { return g.GetUpdateTime().AsTime().UnixMilli() })
		sorted(pb.OrderBy_ORDER_BY_SCORE, func(g *pb.Game) int64 { return int64(g.GetPosition().GetScores()[0]) })
		// Lists use the counts that the servers last reported to each other.
		eventually(t, "all watchers are counted", func() bool {
			total := int32(0)
			for _, g := range order(pb.OrderBy_ORDER_BY_WATCHERS) {
				total += g.GetWatchers()
			}
			return total == 6
		})
		sorted(pb.OrderBy_ORDER_BY_WATCHERS, func(g *pb.Game) int64 { return int64(g.GetWatchers()) })

		// A finished game is not in any list of active games.
		for id := range games {
			s.resign(t, p, id)
		}
		for _, by := range []pb.OrderBy{pb.OrderBy_ORDER_BY_RECENT, pb.OrderBy_ORDER_BY_SCORE, pb.OrderBy_ORDER_BY_WATCHERS} {
			assert.Empty(t, order(by))
		}
	})
}

// Ensure that a list counts as more reads if the server has to skip hundreds of games to fill a
// page, so that such lists cannot occupy the server.
func TestListGames_Skips(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		for n := range 220 { // by many addresses, because each call counts as a read
			_, err := s.CreateGame(passedOn(p.ctx, fmt.Sprint("198.51.100.", n)), &pb.CreateGameRequest{Variant: "classic"})
			require.NoError(t, err)
		}
		list := func(status pb.GameStatus) error {
			_, err := s.ListGames(t.Context(), &pb.ListGamesRequest{PlayerId: p.GetId(), Status: status})
			return err
		}
		for range 20 {
			require.NoError(t, list(active))
		}
		// If each counted as one read, the lists would not exceed the burst of 100. The limit is so low,
		// and there are several at once, so that it is also reached on a slow machine.
		var accepted atomic.Int32
		var group errgroup.Group
		for range 8 {
			group.Go(func() error {
				for accepted.Load() < 60 {
					if err := list(waiting); err != nil {
						return err
					}
					accepted.Add(1)
				}
				return nil
			})
		}
		refused := wantReason(t, group.Wait(), pb.ReasonRateLimited)
		assert.Equal(t, "reads_per_address_per_second", refused["limit_name"])
	}, func(c *server.Config) {
		c.Limits.ReadsPerAddressPerSecond, c.Limits.NewGamesPerMinute, c.Limits.OpenGamesPerPlayer = 10, 0, 0
		c.Limits.NewGamesPerAddressPerMinute, c.Proxies = 0, "127.0.0.1"
	})
}

// Ensure that a list is in order and repairs itself after a slow server has overwritten a game's
// score in the list with an older one. Such a game must not stay in the wrong place until its next
// move.
func TestListGames_LateServer(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	s := start(t, redis.URL())
	client := redistest.NewClient(t, redis.Addr())
	p := s.player(t)
	var g *pb.Game
	for n := range 3 {
		g = s.game(t, p, "classic")
		s.moves(t, p, g, 12-4*n)
	}
	g = s.get(t, g.GetId())
	const key = "games:score:classic"
	right := func() bool {
		rank, err := client.ZScore(t.Context(), key, g.GetId()).Result()
		return err == nil && int32(rank) == g.GetPosition().GetScores()[0]
	}
	eventually(t, "the last move is listed", right)
	stale := goredis.Z{Score: 1 << 20, Member: g.GetId()}
	require.NoError(t, client.ZAdd(t.Context(), key, stale).Err())

	listed, err := s.ListGames(s.anyone, &pb.ListGamesRequest{Status: active, Variant: "classic", OrderBy: pb.OrderBy_ORDER_BY_SCORE})
	require.NoError(t, err)
	require.Len(t, listed.GetGames(), 3)
	assert.True(t, slices.IsSortedFunc(listed.GetGames(), func(x, y *pb.Game) int {
		return cmp.Compare(y.GetPosition().GetScores()[0], x.GetPosition().GetScores()[0])
	}))
	eventually(t, "the list is repaired", right)
}

// Ensure that unsupported combinations and invalid values are field errors.
func TestListGames_Fields(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		var wrong []*pb.ListGamesRequest
		for _, order := range []pb.OrderBy{pb.OrderBy_ORDER_BY_SCORE, pb.OrderBy_ORDER_BY_WATCHERS} {
			for _, status := range []pb.GameStatus{anyStage, waiting, finished} {
				wrong = append(wrong, &pb.ListGamesRequest{OrderBy: order, Status: status})
			}
			wrong = append(wrong,
				&pb.ListGamesRequest{OrderBy: order, Status: active, PlayerId: "me"},
				&pb.ListGamesRequest{OrderBy: order, Status: active, PlayerId: p.GetId()},
				&pb.ListGamesRequest{OrderBy: order, Status: active, PlayerId: newID(), Variant: "classic"},
			)
			_, err := s.ListGames(p.ctx, &pb.ListGamesRequest{OrderBy: order, Status: active, PlayerName: p.GetName()})
			wantField(t, err, "player_name")
		}
		_, err := s.ListGames(p.ctx, &pb.ListGamesRequest{PlayerId: "me", PlayerName: p.GetName()})
		wantField(t, err, "player_name")
		for _, request := range wrong {
			_, err := s.ListGames(p.ctx, request)
			require.Error(t, err, "%v", request)
			field := refusalOf(t, err).fields
			require.True(t, slices.Equal(field, []string{"order_by"}) || slices.Equal(field, []string{"player_id"}), "%v", err)
		}
		for _, n := range []int32{-1, 4, 99} {
			_, err := s.ListGames(s.anyone, &pb.ListGamesRequest{Status: pb.GameStatus(n)})
			wantField(t, err, "status")
			_, err = s.ListGames(s.anyone, &pb.ListGamesRequest{OrderBy: pb.OrderBy(n)})
			wantField(t, err, "order_by")
		}
		for _, request := range []*pb.ListGamesRequest{{PageSize: -1}, {PageSize: -1 << 31}, {PageSize: -1, Variant: "chess"}} {
			_, err := s.ListGames(s.anyone, request)
			wantField(t, err, "page_size")
		}
	})
}

// Ensure that a page token works only for its own list, and that any token that a server has not
// issued is refused.
func TestPageTokens(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	each(t, func(t *testing.T, s *testServer) {
		p, q := s.player(t), s.player(t)
		for _, owner := range []player{p, p, p, q, q} {
			s.game(t, owner, "classic")
			s.finish(t, owner, "classic")
		}
		s.finish(t, p, "twos")
		s.finish(t, q, "twos")

		queries := []*pb.ListGamesRequest{
			{},
			{Status: active},
			{Status: finished},
			{Variant: "classic"},
			{Variant: "classic", Status: active},
			{PlayerId: p.GetId()},
			{PlayerName: q.GetName()},
			{Status: active, OrderBy: pb.OrderBy_ORDER_BY_SCORE},
			{Status: active, OrderBy: pb.OrderBy_ORDER_BY_WATCHERS},
			{Status: active, OrderBy: pb.OrderBy_ORDER_BY_SCORE, Variant: "classic"},
		}
		boards := []*pb.ListScoresRequest{
			{Variant: "classic"},
			{Variant: "classic", Window: pb.Window_WINDOW_WEEK},
			{Variant: "classic", Window: pb.Window_WINDOW_DAY},
			{Variant: "twos"},
		}
		games := func(i int, token string) error {
			request := proto.Clone(queries[i]).(*pb.ListGamesRequest)
			request.PageToken, request.PageSize = token, 7 // The page size may differ.
			_, err := s.ListGames(p.ctx, request)
			return err
		}
		scores := func(i int, token string) error {
			request := proto.Clone(boards[i]).(*pb.ListScoresRequest)
			request.PageToken, request.PageSize = token, 7
			_, err := s.ListScores(p.ctx, request)
			return err
		}
		var gameTokens, scoreTokens []string
		for _, q := range queries {
			q = proto.Clone(q).(*pb.ListGamesRequest)
			q.PageSize = 1
			page, err := s.ListGames(p.ctx, q)
			require.NoError(t, err)
			require.NotEmpty(t, page.GetNextPageToken(), "%v", q)
			gameTokens = append(gameTokens, page.GetNextPageToken())
		}
		for _, b := range boards {
			b = proto.Clone(b).(*pb.ListScoresRequest)
			b.PageSize = 1
			page, err := s.ListScores(s.anyone, b)
			require.NoError(t, err)
			require.NotEmpty(t, page.GetNextPageToken(), "%v", b)
			scoreTokens = append(scoreTokens, page.GetNextPageToken())
		}
		t.Run("a token of games works only for its own list", func(t *testing.T) {
			for i := range queries {
				for j, token := range gameTokens {
					if i == j {
						require.NoError(t, games(i, token))
					} else {
						wantField(t, games(i, token), "page_token")
					}
				}
				wantField(t, games(i, scoreTokens[0]), "page_token")
				// A token also works only for the caller who received it: where a page ends
				// depends on which games the caller may see.
				for _, ctx := range []context.Context{s.anyone, q.ctx} {
					request := proto.Clone(queries[i]).(*pb.ListGamesRequest)
					request.PageToken = gameTokens[i]
					_, err := s.ListGames(ctx, request)
					wantField(t, err, "page_token")
				}
			}
		})
		t.Run("a token of scores works only for its own list", func(t *testing.T) {
			for i := range boards {
				for j, token := range scoreTokens {
					if i == j {
						require.NoError(t, scores(i, token))
					} else {
						wantField(t, scores(i, token), "page_token")
					}
				}
				wantField(t, scores(i, gameTokens[0]), "page_token")
			}
		})

		t.Run("an altered token is refused", func(t *testing.T) {
			altered := []string{"a", "=", "AAAA", "\x00", "é", strings.Repeat("A", 44), strings.Repeat("A", 3_000)}
			for _, token := range []string{gameTokens[0], scoreTokens[0]} {
				altered = append(altered, token+"A", token+"=", token[1:], token[:len(token)-1], strings.ToUpper(token), " "+token)
				for i := range token {
					flipped := []byte(token)
					if flipped[i] = 'A'; token[i] == 'A' {
						flipped[i] = 'B'
					}
					altered = append(altered, string(flipped))
				}
			}
			for _, token := range altered {
				wantField(t, games(0, token), "page_token")
				wantField(t, scores(0, token), "page_token")
			}
		})
		t.Run("a token for an unknown variant or player is refused", func(t *testing.T) {
			_, err := s.ListGames(p.ctx, &pb.ListGamesRequest{Variant: "chess", PageToken: gameTokens[0]})
			wantField(t, err, "page_token")
			_, err = s.ListGames(p.ctx, &pb.ListGamesRequest{PlayerId: "nobody", PageToken: gameTokens[0]})
			wantField(t, err, "page_token")
		})
	})
}

// Ensure that games that change between two pages do not make the list repeat or omit
// unchanged games.
func TestListGames_PagesStay(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		var made []string
		for range 12 {
			made = append(made, s.finish(t, p, "classic").GetGameId())
		}
		slices.Reverse(made) // newest first
		request := &pb.ListGamesRequest{Status: finished, PageSize: 5}
		var listed []string
		for i := 0; ; i++ {
			page, err := s.ListGames(s.anyone, request)
			require.NoError(t, err)
			listed = append(listed, ids(page.GetGames())...)
			// Repeating a request returns the same page.
			again, err := s.ListGames(s.anyone, request)
			require.NoError(t, err)
			request.PageToken = page.GetNextPageToken()
			if i > 0 {
				assert.Equal(t, page.GetNextPageToken() == "", again.GetNextPageToken() == "")
				page.NextPageToken, again.NextPageToken = "", "" // Tokens for the same place differ.
				assert.True(t, proto.Equal(page, again))
			}
			if request.PageToken == "" {
				break
			}
			s.finish(t, p, "classic") // The new game precedes all earlier games in the list.
		}
		if len(listed) == len(made) {
			slices.Sort(listed) // The order of games from the same millisecond is undefined.
			slices.Sort(made)
		}
		assert.Equal(t, made, listed)
	})
}
