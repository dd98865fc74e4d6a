package contract

import (
	"cmp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// Ensure that the error for an invalid field of a new challenge names the field.
func TestCreateChallenge_Fields(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		over := s.finish(t, p, "classic").GetGameId()
		jumps := s.create(t, p, &pb.CreateGameRequest{Variant: "tribolo"}).GetId()
		s.resign(t, p, jumps)
		limit := durationpb.New(time.Minute)
		for name, test := range map[string]struct {
			request *pb.CreateChallengeRequest
			field   string
		}{
			"no kind":            {&pb.CreateChallengeRequest{Variant: "classic"}, "kind"},
			"daily":              {&pb.CreateChallengeRequest{Kind: daily, Variant: "classic"}, "kind"},
			"unknown kind":       {&pb.CreateChallengeRequest{Kind: 258, Variant: "classic", Limit: limit}, "kind"},
			"no variant":         {&pb.CreateChallengeRequest{Kind: link}, "variant"},
			"three seats":        {&pb.CreateChallengeRequest{Kind: link, Variant: "tribolo"}, "variant"},
			"race without limit": {&pb.CreateChallengeRequest{Kind: race, Variant: "classic"}, "limit"},
			"short race":         {&pb.CreateChallengeRequest{Kind: race, Variant: "classic", Limit: durationpb.New(9 * time.Second)}, "limit"},
			"long race":          {&pb.CreateChallengeRequest{Kind: race, Variant: "classic", Limit: durationpb.New(61 * time.Minute)}, "limit"},
			"short attempt":      {&pb.CreateChallengeRequest{Kind: link, Variant: "classic", Limit: durationpb.New(time.Second)}, "limit"},
			"no duration":        {&pb.CreateChallengeRequest{Kind: link, Variant: "classic", Limit: &durationpb.Duration{Seconds: 1, Nanos: -1}}, "limit"},
			"race on a game":     {&pb.CreateChallengeRequest{Kind: race, Variant: "classic", Limit: limit, GameId: over}, "game_id"},
			"rematch of nothing": {&pb.CreateChallengeRequest{Kind: rematch}, "game_id"},
			"rematch of tribolo": {&pb.CreateChallengeRequest{Kind: rematch, GameId: jumps}, "game_id"},
			"rematch, variant":   {&pb.CreateChallengeRequest{Kind: rematch, GameId: over, Variant: "classic"}, "variant"},
			"rematch, limit":     {&pb.CreateChallengeRequest{Kind: rematch, GameId: over, Limit: limit}, "limit"},
			"request id":         {&pb.CreateChallengeRequest{Kind: link, Variant: "classic", RequestId: "?"}, "request_id"},
		} {
			if !sayable(test.request) {
				continue
			}
			t.Log(name)
			_, err := s.CreateChallenge(p.ctx, test.request)
			wantField(t, err, test.field)
		}
		_, err := s.CreateChallenge(p.ctx, &pb.CreateChallengeRequest{Kind: link, Variant: "chess"})
		wantReason(t, err, pb.ReasonVariantNotFound)
		_, err = s.CreateChallenge(p.ctx, &pb.CreateChallengeRequest{Kind: rematch, GameId: newID()})
		wantReason(t, err, pb.ReasonGameNotFound)
		_, err = s.CreateChallenge(p.ctx, &pb.CreateChallengeRequest{Kind: rematch, GameId: s.game(t, p, "classic").GetId()})
		wantReason(t, err, pb.ReasonSeedHidden)
		c := s.challenge(t, p, &pb.CreateChallengeRequest{Kind: link, Variant: "classic"})
		for field, request := range map[string]*pb.CreateGameRequest{
			"variant": {Variant: "classic"}, "private": {Private: true}, "turn_limit": {TurnLimit: limit},
			"request_id": {RequestId: newID()}, "seats": {Seats: []*pb.SeatRequest{callerSeat}},
		} {
			request.ChallengeId = c.GetId()
			_, err := s.CreateGame(p.ctx, request)
			wantField(t, err, field)
		}
		_, err = s.CreateGame(p.ctx, &pb.CreateGameRequest{ChallengeId: newID()})
		wantReason(t, err, pb.ReasonChallengeNotFound)
		_, err = s.CreateGame(p.ctx, &pb.CreateGameRequest{ChallengeId: "?"})
		wantReason(t, err, pb.ReasonChallengeNotFound)
	})
}

// Ensure that a repeated request returns the challenge that the first one created, and that the
// limits on new games apply to challenges.
func TestCreateChallenge_Again(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		p, other := s.player(t), s.player(t)
		request := shortRace()
		request.RequestId = newID()
		c := s.challenge(t, p, request)
		assert.True(t, proto.Equal(c, s.challenge(t, p, request)))
		assert.NotEqual(t, c.GetId(), s.challenge(t, other, request).GetId())
		request.Private = true
		_, err := s.CreateChallenge(p.ctx, request)
		wantField(t, err, "request_id")
		s.game(t, p, "classic")
		_, err = s.CreateChallenge(p.ctx, &pb.CreateChallengeRequest{Kind: link, Variant: "classic"})
		wantReason(t, err, pb.ReasonRateLimited)
		_, err = s.JoinChallenge(p.ctx, &pb.JoinChallengeRequest{ChallengeId: c.GetId(), Bot: "greedy"})
		wantReason(t, err, pb.ReasonRateLimited)
	}, func(c *server.Config) { c.Limits.NewGamesPerMinute = 2 })
}

// Ensure that concurrent calls with the same request_id never return a challenge that the
// caller did not ask for.
func TestCreateChallenge_Concurrently(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		ada, requestID := s.player(t), newID()
		var group sync.WaitGroup
		for n := range 16 {
			group.Go(func() {
				private := n%2 == 0
				created, err := s.CreateChallenge(ada.ctx, &pb.CreateChallengeRequest{Kind: link, Variant: "classic", Private: private, RequestId: requestID})
				if err != nil {
					assert.Equal(t, codes.InvalidArgument, status.Code(err))
					return
				}
				assert.Equal(t, private, created.GetChallenge().GetPrivate())
			})
		}
		group.Wait()
	})
}

// Ensure that a rematch has the same tiles as its game and hides nothing.
func TestRematch(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		ada, bob := s.player(t), s.player(t)
		g := s.game(t, ada, "5x5")
		end := s.score(t, ada, g)
		c := s.challenge(t, bob, &pb.CreateChallengeRequest{Kind: rematch, GameId: g.GetId()})
		assert.Equal(t, "5x5", c.GetVariant())
		assert.Equal(t, challengeOpen, c.GetStatus())
		assert.Equal(t, end.GetSeed(), c.GetSeed())
		assert.Equal(t, g.GetId(), c.GetTarget().GetGameId())
		assert.Equal(t, ada.GetId(), c.GetTarget().GetPlayer().GetId())
		assert.Equal(t, end.GetPosition().GetScores()[0], c.GetTarget().GetScore())
		attempt := s.attempt(t, bob, c.GetId())
		assert.True(t, proto.Equal(g.GetPosition(), attempt.GetPosition()), "the same first board")
		assert.Equal(t, attempt.GetId(), s.get(t, attempt.GetId()).GetId(), "anyone may read it")
		assert.Equal(t, end.GetSeed(), s.score(t, bob, attempt).GetSeed())
		eventually(t, "the attempt is listed", func() bool {
			listed, err := s.ListGames(s.anyone, &pb.ListGamesRequest{Status: finished, PlayerId: bob.GetId()})
			require.NoError(t, err)
			return len(listed.GetGames()) == 1 && len(listed.GetGames()[0].GetSeed()) == 32
		})
		eventually(t, "the attempt counts", func() bool { return len(s.standings(t, c.GetId())) == 1 })

		c = s.challenge(t, bob, &pb.CreateChallengeRequest{Kind: rematch, GameId: g.GetId(), Private: true})
		unlisted := s.attempt(t, ada, c.GetId()).GetId()
		listed, err := s.ListGames(bob.ctx, &pb.ListGamesRequest{PlayerId: ada.GetId()})
		require.NoError(t, err)
		for _, g := range listed.GetGames() {
			assert.NotEqual(t, unlisted, g.GetId(), "an attempt at a private challenge")
		}
		eventually(t, "the player's own list has it", func() bool {
			listed, err := s.ListGames(ada.ctx, &pb.ListGamesRequest{PlayerId: "me"})
			require.NoError(t, err)
			return slices.ContainsFunc(listed.GetGames(), func(g *pb.Game) bool { return g.GetId() == unlisted })
		})
	})
}

// Ensure that challenges are listed in pages, newest first, without private ones and daily
// games.
func TestListChallenges(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		s.today(t, p)
		var made []*pb.Challenge
		for i := range 5 {
			request := &pb.CreateChallengeRequest{Kind: link, Variant: "classic", Private: i == 2}
			if i == 3 {
				request = shortRace()
			}
			if c := s.challenge(t, p, request); !request.GetPrivate() {
				made = append(made, c)
			}
		}
		slices.SortFunc(made, func(a, b *pb.Challenge) int {
			return cmp.Or(b.GetCreateTime().AsTime().Compare(a.GetCreateTime().AsTime()), cmp.Compare(b.GetId(), a.GetId()))
		})
		var links, all []string
		for _, c := range made {
			all = append(all, c.GetId())
			if c.GetKind() == link {
				links = append(links, c.GetId())
			}
		}
		list := func(kind pb.ChallengeKind, size int32) (ids []string) {
			request := &pb.ListChallengesRequest{Kind: kind, PageSize: size}
			for {
				page, err := s.ListChallenges(s.anyone, request)
				require.NoError(t, err)
				for _, c := range page.GetChallenges() {
					ids = append(ids, c.GetId())
				}
				if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
					return ids
				}
				assert.Len(t, page.GetChallenges(), int(size))
			}
		}
		for _, size := range []int32{0, 1, 2} {
			assert.Equal(t, all, list(0, size))
			assert.Equal(t, links, list(link, size))
			assert.Len(t, list(race, size), 1)
			assert.Empty(t, list(daily, size))
		}
		page, err := s.ListChallenges(s.anyone, &pb.ListChallengesRequest{PageSize: 1})
		require.NoError(t, err)
		for field, request := range map[string]*pb.ListChallengesRequest{
			"kind":       {Kind: 9},
			"page_size":  {PageSize: -1},
			"page_token": {Kind: link, PageToken: page.GetNextPageToken()},
		} {
			_, err := s.ListChallenges(s.anyone, request)
			wantField(t, err, field)
		}
		for field, request := range map[string]*pb.ListStandingsRequest{
			"challenge_id": {},
			"page_size":    {ChallengeId: links[0], PageSize: 1, PlayerId: p.GetId()},
			"page_token":   {ChallengeId: links[0], PageToken: page.GetNextPageToken()},
			"neighbors":    {ChallengeId: links[0], PlayerId: p.GetId(), Neighbors: -1},
		} {
			_, err := s.ListStandings(s.anyone, request)
			wantField(t, err, field)
		}
		_, err = s.ListStandings(s.anyone, &pb.ListStandingsRequest{ChallengeId: newID()})
		wantReason(t, err, pb.ReasonChallengeNotFound)
		_, err = s.ListStandings(s.anyone, &pb.ListStandingsRequest{ChallengeId: links[0], PlayerId: p.GetId()})
		wantReason(t, err, pb.ReasonNoScore)
	})
}

// Ensure that the challenges of a hidden player are not listed.
func TestListChallenges_Hidden(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	s := start(t, redis.URL())
	p, hidden := s.player(t), s.player(t)
	c := s.challenge(t, p, &pb.CreateChallengeRequest{Kind: link, Variant: "classic"})
	s.challenge(t, hidden, shortRace())
	_, _, err := operator(t, redis.URL()).Hide(t.Context(), hidden.GetName())
	require.NoError(t, err)
	listed, err := s.ListChallenges(s.anyone, &pb.ListChallengesRequest{})
	require.NoError(t, err)
	require.Len(t, listed.GetChallenges(), 1)
	assert.Equal(t, c.GetId(), listed.GetChallenges()[0].GetId())
}

// Ensure that one address cannot fill the first page of a list, however many accounts it uses,
// and that the pages together still contain every challenge.
func TestListChallenges_Flood(t *testing.T) {
	t.Parallel()
	skipShort(t)
	eachPair(t, func(t *testing.T, a, b *testServer) {
		create := func(address string, request *pb.CreateChallengeRequest) string {
			p := a.player(t)
			p.ctx = passedOn(p.ctx, address)
			return a.challenge(t, p, request).GetId()
		}
		waiting := create("198.51.100.1", shortRace())
		want := []string{waiting}
		for range 45 {
			want = append(want, create("198.51.100.2", shortRace()))
		}
		for _, kind := range []pb.ChallengeKind{race, 0} {
			request := &pb.ListChallengesRequest{Kind: kind, PageSize: 20}
			var listed []string
			for {
				page, err := b.ListChallenges(b.anyone, request)
				require.NoError(t, err)
				require.True(t, slices.IsSortedFunc(page.GetChallenges(), func(a, b *pb.Challenge) int {
					return b.GetCreateTime().AsTime().Compare(a.GetCreateTime().AsTime())
				}))
				for _, c := range page.GetChallenges() {
					listed = append(listed, c.GetId())
				}
				if request.GetPageToken() == "" {
					assert.Len(t, listed, 20)
					assert.Contains(t, listed, waiting, "on the first page")
				}
				if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
					break
				}
			}
			slices.Sort(listed)
			assert.ElementsMatch(t, want, slices.Compact(listed))
		}
	}, func(c *server.Config) { c.Proxies = "127.0.0.1" })
}

// Ensure that the limit on new challenges per address and minute applies to all accounts together
// and only to public challenges.
func TestLimit_NewChallenges(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		create := func(private bool) error {
			_, err := s.CreateChallenge(s.player(t).ctx, &pb.CreateChallengeRequest{Kind: link, Variant: "classic", Private: private})
			return err
		}
		wantQuota(t, 3, func(int) error { return create(false) })
		for range 4 {
			require.NoError(t, create(true))
		}
	}, func(c *server.Config) { c.Limits.NewChallengesPerAddressPerMinute = 3 })
}
