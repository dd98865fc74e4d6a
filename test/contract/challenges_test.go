package contract

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

const (
	daily   = pb.ChallengeKind_CHALLENGE_KIND_DAILY
	race    = pb.ChallengeKind_CHALLENGE_KIND_RACE
	link    = pb.ChallengeKind_CHALLENGE_KIND_LINK
	rematch = pb.ChallengeKind_CHALLENGE_KIND_REMATCH

	raceWaiting   = pb.ChallengeStatus_CHALLENGE_STATUS_WAITING
	raceScheduled = pb.ChallengeStatus_CHALLENGE_STATUS_SCHEDULED
	challengeOpen = pb.ChallengeStatus_CHALLENGE_STATUS_OPEN
	challengeOver = pb.ChallengeStatus_CHALLENGE_STATUS_CLOSED
)

// startAt starts a server with an in-memory store whose clock starts at the given hour in UTC.
func startAt(t testing.TB, hour int, changes ...change) (*testServer, *servertest.Clock) {
	t.Helper()
	clock := servertest.ClockAt(hour)
	return start(t, server.Memory, append(changes, func(c *server.Config) { c.StoreNow = clock.Now })...), clock
}

// challenge creates a challenge.
func (s *testServer) challenge(t testing.TB, p player, request *pb.CreateChallengeRequest) *pb.Challenge {
	t.Helper()
	created, err := s.CreateChallenge(p.ctx, request)
	require.NoError(t, err)
	return created.GetChallenge()
}

// readChallenge returns a challenge as seen by the player.
func (s *testServer) readChallenge(t testing.TB, p player, id string) *pb.GetChallengeResponse {
	t.Helper()
	got, err := s.GetChallenge(p.ctx, &pb.GetChallengeRequest{ChallengeId: id})
	require.NoError(t, err)
	return got
}

// today returns today's daily game.
func (s *testServer) today(t testing.TB, p player) *pb.GetChallengeResponse {
	t.Helper()
	got, err := s.GetChallenge(p.ctx, &pb.GetChallengeRequest{Daily: &pb.DailyRequest{}})
	require.NoError(t, err)
	return got
}

// attempt creates or finds the player's attempt at a challenge.
func (s *testServer) attempt(t testing.TB, p player, challengeID string) *pb.Game {
	t.Helper()
	return s.create(t, p, &pb.CreateGameRequest{ChallengeId: challengeID})
}

// standings returns the first page of a challenge's standings.
func (s *testServer) standings(t testing.TB, id string) []*pb.Standing {
	t.Helper()
	listed, err := s.ListStandings(s.anyone, &pb.ListStandingsRequest{ChallengeId: id})
	require.NoError(t, err)
	assert.Len(t, listed.GetStandings(), int(listed.GetTotal()))
	return listed.GetStandings()
}

// Ensure that each configured variant has one daily game per day with its own tiles, that the
// commitment of the next one is published in advance, that a player has one attempt at it, and that
// the server counts the consecutive days, each once for all variants. TestFairness shows how it closes.
func TestDaily(t *testing.T) {
	t.Parallel()
	s, clock := startAt(t, 12, func(c *server.Config) { c.Daily = "classic,vt100" })
	p := s.player(t)
	commitments := map[string]bool{}
	for _, want := range []int32{1, 2, 3} {
		for _, variant := range []string{"classic", "vt100"} {
			got, err := s.GetChallenge(p.ctx, &pb.GetChallengeRequest{Daily: &pb.DailyRequest{Variant: variant}})
			require.NoError(t, err)
			c, next := got.GetChallenge(), got.GetNext()
			assert.Equal(t, daily, c.GetKind())
			assert.Equal(t, variant, c.GetVariant())
			assert.Equal(t, challengeOpen, c.GetStatus())
			assert.Equal(t, raceScheduled, next.GetStatus())
			assert.Equal(t, clock.Now().UTC().Format(time.DateOnly), c.GetDate())
			assert.Equal(t, 24*time.Hour, c.GetCloseTime().AsTime().Sub(c.GetOpenTime().AsTime()))
			commitments[string(c.GetSeedCommitment())], commitments[string(next.GetSeedCommitment())] = true, true
			for _, request := range []*pb.GetChallengeRequest{
				{ChallengeId: c.GetId()}, {Daily: &pb.DailyRequest{Variant: variant, Date: c.GetDate()}},
			} {
				again, err := s.GetChallenge(s.anyone, request)
				require.NoError(t, err)
				same(t, c, again.GetChallenge())
			}
			_, err = s.CreateGame(p.ctx, &pb.CreateGameRequest{ChallengeId: next.GetId()})
			assert.Equal(t, map[string]string{
				"challenge_id": next.GetId(), "open_time": next.GetOpenTime().AsTime().Format("2006-01-02T15:04:05.000Z"),
			}, wantReason(t, err, pb.ReasonChallengeNotOpen))
			g := s.attempt(t, p, c.GetId())
			assert.Equal(t, c.GetSeedCommitment(), g.GetSeedCommitment())
			same(t, g, s.attempt(t, p, c.GetId()))
			assert.Empty(t, s.score(t, p, g).GetSeed(), "a seed before the end of the day")
		}
		later := clock.Now().UTC().AddDate(0, 0, 2).Format(time.DateOnly)
		s.refuses(t, s.anyone, &pb.GetChallengeRequest{Daily: &pb.DailyRequest{Date: later}}, pb.ReasonChallengeNotFound)
		today := s.today(t, p)
		assert.Equal(t, "classic", today.GetChallenge().GetVariant(), "the first variant is the default")
		assert.Equal(t, want, today.GetAttempt().GetDayStreak())
		assert.Equal(t, finished, today.GetAttempt().GetStatus())
		assert.Equal(t, today.GetChallenge().GetCloseTime().AsTime(), today.GetAttempt().GetDeadline().AsTime())
		assert.Equal(t, []string{"classic", "vt100"}, today.GetDailyVariants())
		_, err := s.GetGame(s.anyone, &pb.GetGameRequest{GameId: today.GetAttempt().GetGameId()})
		assert.Equal(t, map[string]string{
			"challenge_id": today.GetChallenge().GetId(),
			"close_time":   today.GetChallenge().GetCloseTime().AsTime().Format("2006-01-02T15:04:05.000Z"),
		}, wantReason(t, err, pb.ReasonChallengeOpen))
		record := s.profile(t, p).GetDaily()
		assert.Equal(t, [2]int32{want, want}, [2]int32{record.GetStreak(), record.GetLongestStreak()})
		require.Len(t, record.GetResults(), 2*int(want), "one for each variant")
		same(t, &pb.DailyResult{
			Day: today.GetChallenge().GetDate(), Variant: "classic", ChallengeId: today.GetChallenge().GetId(),
			Score: today.GetAttempt().GetScore(),
		}, record.GetResults()[2*want-2])
		listed, err := s.ListStandings(s.anyone, &pb.ListStandingsRequest{ChallengeId: today.GetChallenge().GetId()})
		require.NoError(t, err)
		lines, spread := listed.GetStandings(), listed.GetDistribution()
		require.Len(t, lines, 1)
		require.Len(t, spread, int(min(12, lines[0].GetScore()+1)))
		assert.EqualValues(t, 1, spread[len(spread)-1])
		assert.Equal(t, today.GetAttempt().GetScore(), lines[0].GetScore())
		clock.Pass(24 * time.Hour)
	}
	assert.Len(t, commitments, 8, "every daily game has its own seed, and the next one's is known")
	s.refuses(t, s.anyone, &pb.GetRankRequest{Variant: "classic", PlayerId: p.GetId()}, pb.ReasonNoScore)
	clock.Pass(58 * 24 * time.Hour)
	record := s.profile(t, p).GetDaily()
	assert.Equal(t, [2]int32{0, 3}, [2]int32{record.GetStreak(), record.GetLongestStreak()})
	assert.Len(t, record.GetResults(), 2, "those of the last 60 days")
}

// Ensure that a player's attempt at a challenge by link ends when its time runs out, still counts,
// and is kept while the challenge is open, so that the player cannot make a second one, and that an
// expired challenge has no standings.
func TestLink(t *testing.T) {
	t.Parallel()
	s, clock := startAt(t, 12, func(c *server.Config) { c.KeepFinished = time.Hour })
	p := s.player(t)
	c := s.challenge(t, p, &pb.CreateChallengeRequest{Kind: link, Variant: "vt100", Limit: durationpb.New(time.Minute)})
	assert.Equal(t, 7*24*time.Hour, c.GetCloseTime().AsTime().Sub(c.GetOpenTime().AsTime()))
	g := s.attempt(t, p, c.GetId())
	last := s.moves(t, p, g, 8)[7]
	deadline := s.readChallenge(t, p, c.GetId()).GetAttempt().GetDeadline().AsTime()
	assert.Equal(t, g.GetCreateTime().AsTime().Add(time.Minute), deadline)
	clock.Pass(time.Minute)
	_, err := s.Move(p.ctx, slide(g.GetId(), last.GetVersion(), last.GetPosition().GetTwenty48().GetLegalMoves()[0]))
	wantReason(t, err, pb.ReasonGameOver)
	var lines []*pb.Standing
	waittest.Until(t, "the attempt counts", func() bool {
		lines = s.standings(t, c.GetId())
		return len(lines) > 0
	})
	assert.Equal(t, last.GetPosition().GetScores()[0], lines[0].GetScore())
	assert.Equal(t, p.GetId(), lines[0].GetPlayer().GetId())
	clock.Pass(6 * 24 * time.Hour)
	again := s.attempt(t, p, c.GetId())
	assert.Equal(t, g.GetId(), again.GetId())
	assert.Equal(t, pb.Result_REASON_TIMED_OUT, again.GetResult().GetReason())
	assert.Len(t, s.standings(t, c.GetId()), 1)
	clock.Pass(24*time.Hour + 2*time.Hour)
	s.refuses(t, p.ctx, &pb.ListStandingsRequest{ChallengeId: c.GetId(), PlayerId: "me"}, pb.ReasonChallengeNotFound)
}

// Ensure that a rematch has the same tiles as its game and hides nothing.
func TestRematch(t *testing.T) {
	t.Parallel()
	s := serve(t)
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
	waittest.Until(t, "the attempt is listed", func() bool {
		games := s.list(t, player{}, &pb.ListGamesRequest{Status: finished, PlayerId: bob.GetId()})
		return len(games) == 1 && len(games[0].GetSeed()) == 32
	})
	waittest.Until(t, "the attempt counts", func() bool { return len(s.standings(t, c.GetId())) == 1 })

	c = s.challenge(t, bob, &pb.CreateChallengeRequest{Kind: rematch, GameId: g.GetId(), Private: true})
	attempt = s.attempt(t, ada, c.GetId())
	unlisted := attempt.GetId()
	assert.NotContains(t, ids(s.list(t, bob, &pb.ListGamesRequest{PlayerId: ada.GetId()})), unlisted, "an attempt at a private challenge")
	waittest.Until(t, "the player's own list has it", func() bool {
		return slices.Contains(ids(s.list(t, ada, &pb.ListGamesRequest{PlayerId: "me"})), unlisted)
	})
	s.score(t, ada, attempt)
	c = s.challenge(t, bob, &pb.CreateChallengeRequest{Kind: rematch, GameId: unlisted})
	assert.True(t, c.GetPrivate(), "a list would reveal the private challenge")
}

// Ensure that challenges are listed in pages, newest first, without private ones and daily
// games.
func TestListChallenges(t *testing.T) {
	t.Parallel()
	s := serve(t)
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
	var all []string
	for _, c := range made {
		all = append(all, c.GetId())
	}
	list := func(kind pb.ChallengeKind, size int32) (ids []string) {
		request := &pb.ListChallengesRequest{Kind: kind, PageSize: size}
		for more := true; more; more = request.PageToken != "" {
			page, err := s.ListChallenges(s.anyone, request)
			require.NoError(t, err)
			require.True(t, ids == nil || len(page.GetChallenges()) > 0, "the page before was the last")
			for _, c := range page.GetChallenges() {
				ids = append(ids, c.GetId())
			}
			request.PageToken = page.GetNextPageToken()
		}
		return ids
	}
	for _, size := range []int32{0, 1, 2} {
		assert.Equal(t, all, list(0, size))
		assert.Len(t, list(link, size), 3)
		assert.Len(t, list(race, size), 1)
		assert.Empty(t, list(daily, size))
	}
}
