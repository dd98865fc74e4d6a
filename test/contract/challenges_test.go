package contract

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
	"github.com/gridstand/gridstand/server/limits"
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

// storeClock is a store's clock, which a test can move forward and stop.
type storeClock struct {
	ahead   atomic.Int64
	stopped atomic.Pointer[time.Time]
}

func (c *storeClock) now() time.Time {
	from := time.Now()
	if at := c.stopped.Load(); at != nil {
		from = *at
	}
	return from.Add(time.Duration(c.ahead.Load()))
}

// stop makes the clock stand still until resume, except when the test moves it forward.
func (c *storeClock) stop() {
	at := time.Now()
	c.stopped.Store(&at)
}

func (c *storeClock) resume() {
	c.pass(time.Until(*c.stopped.Load()))
	c.stopped.Store(nil)
}

func (c *storeClock) pass(d time.Duration) { c.ahead.Add(int64(d)) }

// passTo moves the stopped clock forward to the given time.
func (c *storeClock) passTo(at time.Time) { c.pass(at.Sub(c.now())) }

// startAt starts a server with an in-memory store whose clock starts at the given hour in UTC.
func startAt(t testing.TB, hour int, changes ...change) (*testServer, *storeClock) {
	t.Helper()
	clock := &storeClock{}
	midnight := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
	clock.pass(time.Until(midnight.Add(time.Duration(hour) * time.Hour)))
	return start(t, server.Memory, append(changes, func(c *server.Config) { c.StoreNow = clock.now })...), clock
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

// score plays an attempt until it has points, and resigns.
func (s *testServer) score(t testing.TB, p player, g *pb.Game) *pb.Event {
	t.Helper()
	version, position := g.GetVersion(), g.GetPosition()
	for position.GetScores()[0] == 0 {
		event := s.move(t, p, g.GetId(), version, position)
		version, position = event.GetVersion(), event.GetPosition()
	}
	return s.resign(t, p, g.GetId())
}

// standings returns the first page of a challenge's standings.
func (s *testServer) standings(t testing.TB, id string) []*pb.Standing {
	t.Helper()
	listed, err := s.ListStandings(s.anyone, &pb.ListStandingsRequest{ChallengeId: id})
	require.NoError(t, err)
	assert.Len(t, listed.GetStandings(), int(listed.GetTotal()))
	return listed.GetStandings()
}

// Ensure that there is one daily game per day, and that the commitment of the next one is
// published in advance.
func TestGetChallenge_Daily(t *testing.T) {
	t.Parallel()
	s, clock := startAt(t, 12)
	p := s.player(t)
	first := s.today(t, p)
	c := first.GetChallenge()
	assert.Equal(t, daily, c.GetKind())
	assert.Equal(t, "classic", c.GetVariant())
	assert.Equal(t, challengeOpen, c.GetStatus())
	assert.Equal(t, clock.now().UTC().Format(time.DateOnly), c.GetDate())
	assert.Equal(t, 24*time.Hour, c.GetCloseTime().AsTime().Sub(c.GetOpenTime().AsTime()))
	assert.WithinDuration(t, clock.now(), first.GetNow().AsTime(), time.Minute)
	assert.Nil(t, first.GetAttempt())
	next := first.GetNext()
	assert.Equal(t, raceScheduled, next.GetStatus())
	assert.NotEqual(t, c.GetSeedCommitment(), next.GetSeedCommitment())
	for _, request := range []*pb.GetChallengeRequest{
		{ChallengeId: c.GetId()},
		{Daily: &pb.DailyRequest{Variant: "classic"}},
		{Daily: &pb.DailyRequest{Date: c.GetDate()}},
	} {
		got, err := s.GetChallenge(s.anyone, request)
		require.NoError(t, err)
		assert.True(t, proto.Equal(c, got.GetChallenge()), "%v", request)
	}
	_, err := s.CreateGame(p.ctx, &pb.CreateGameRequest{ChallengeId: next.GetId()})
	assert.Equal(t, map[string]string{
		"challenge_id": next.GetId(), "open_time": next.GetOpenTime().AsTime().Format("2006-01-02T15:04:05.000Z"),
	}, wantReason(t, err, pb.ReasonChallengeNotOpen))

	clock.pass(12 * time.Hour)
	second := s.today(t, p)
	assert.Equal(t, next.GetId(), second.GetChallenge().GetId())
	assert.Equal(t, next.GetSeedCommitment(), second.GetChallenge().GetSeedCommitment())
	closed := s.readChallenge(t, p, c.GetId()).GetChallenge()
	assert.Equal(t, challengeOver, closed.GetStatus())
	_, err = s.CreateGame(p.ctx, &pb.CreateGameRequest{ChallengeId: c.GetId()})
	wantReason(t, err, pb.ReasonChallengeClosed)

	for _, days := range []int{-9, 3} {
		date := c.GetOpenTime().AsTime().AddDate(0, 0, days).Format(time.DateOnly)
		_, err := s.GetChallenge(p.ctx, &pb.GetChallengeRequest{Daily: &pb.DailyRequest{Date: date}})
		wantReason(t, err, pb.ReasonChallengeNotFound)
		wantMessage(t, err, "there is no daily game on this day, or it has expired")
	}
	_, err = s.GetChallenge(p.ctx, &pb.GetChallengeRequest{Daily: &pb.DailyRequest{Variant: "vt100"}})
	wantReason(t, err, pb.ReasonChallengeNotFound)
	wantMessage(t, err, "this variant has no daily game")
	_, err = s.GetChallenge(p.ctx, &pb.GetChallengeRequest{ChallengeId: newID()})
	wantReason(t, err, pb.ReasonChallengeNotFound)
	for field, request := range map[string]*pb.GetChallengeRequest{
		"challenge_id": {},
		"daily.date":   {Daily: &pb.DailyRequest{Date: "today"}},
	} {
		_, err := s.GetChallenge(p.ctx, request)
		wantField(t, err, field)
	}
	_, err = s.GetChallenge(p.ctx, &pb.GetChallengeRequest{ChallengeId: c.GetId(), Daily: &pb.DailyRequest{}})
	wantField(t, err, "challenge_id")
}

// Ensure that each of several variants has its own daily game, with its own tiles, and that the
// commitments of their next ones are published in advance.
func TestGetChallenge_DailyVariants(t *testing.T) {
	t.Parallel()
	skipShort(t)
	s, clock := startAt(t, 12, func(c *server.Config) { c.Daily = "classic,vt100" })
	p := s.player(t)
	of := func(variant string) *pb.GetChallengeResponse {
		t.Helper()
		got, err := s.GetChallenge(s.anyone, &pb.GetChallengeRequest{Daily: &pb.DailyRequest{Variant: variant}})
		require.NoError(t, err)
		assert.Equal(t, variant, got.GetChallenge().GetVariant())
		assert.Equal(t, variant, got.GetNext().GetVariant())
		assert.Equal(t, challengeOpen, got.GetChallenge().GetStatus())
		assert.Equal(t, raceScheduled, got.GetNext().GetStatus())
		return got
	}
	classic, vt100 := of("classic"), of("vt100")
	commitments := map[string]bool{}
	for _, c := range []*pb.Challenge{classic.GetChallenge(), classic.GetNext(), vt100.GetChallenge(), vt100.GetNext()} {
		assert.Len(t, c.GetSeedCommitment(), 32)
		commitments[string(c.GetSeedCommitment())] = true
	}
	assert.Len(t, commitments, 4, "every daily game has its own seed")
	assert.Equal(t, classic.GetChallenge().GetId(), s.today(t, p).GetChallenge().GetId(), "the first variant is the default")
	for _, c := range []*pb.Challenge{classic.GetChallenge(), vt100.GetChallenge()} {
		g := s.attempt(t, p, c.GetId())
		assert.Equal(t, c.GetVariant(), g.GetVariant())
		assert.Equal(t, c.GetSeedCommitment(), g.GetSeedCommitment())
	}

	clock.pass(12 * time.Hour)
	for _, before := range []*pb.GetChallengeResponse{classic, vt100} {
		now := of(before.GetNext().GetVariant()).GetChallenge()
		assert.Equal(t, before.GetNext().GetId(), now.GetId())
		assert.Equal(t, before.GetNext().GetSeedCommitment(), now.GetSeedCommitment())
	}
}

// Ensure that attempts at a daily game are hidden as the contract specifies, and that reads and
// streams include the seed once the game has closed.
func TestDaily_Embargo(t *testing.T) {
	t.Parallel()
	s, clock := startAt(t, 12)
	ada, bob, eve := s.player(t), s.player(t), s.player(t)
	c := s.today(t, ada).GetChallenge()
	g, other := s.attempt(t, ada, c.GetId()), s.attempt(t, bob, c.GetId())
	assert.Equal(t, c.GetId(), g.GetChallengeId())
	assert.Equal(t, c.GetSeedCommitment(), g.GetSeedCommitment())
	assert.True(t, g.GetRanked())
	assert.True(t, proto.Equal(g.GetPosition(), other.GetPosition()), "the same first board")
	assert.True(t, proto.Equal(g, s.attempt(t, ada, c.GetId())), "one attempt")

	hidden := func(t *testing.T, p player) {
		t.Helper()
		_, err := s.GetGame(p.ctx, &pb.GetGameRequest{GameId: g.GetId()})
		assert.Equal(t, map[string]string{
			"challenge_id": c.GetId(), "close_time": c.GetCloseTime().AsTime().Format("2006-01-02T15:04:05.000Z"),
		}, wantReason(t, err, pb.ReasonChallengeOpen))
		wantReason(t, s.watch(t, p.ctx, from(g.GetId(), 0)).refused(t), pb.ReasonChallengeOpen)
		_, err = s.Move(p.ctx, slide(g.GetId(), 1, pb.Direction_DIRECTION_UP))
		if p.Player == nil {
			wantReason(t, err, pb.ReasonBadToken)
			return
		}
		wantReason(t, err, pb.ReasonNotSeated)
		_, err = s.JoinGame(p.ctx, &pb.JoinGameRequest{GameId: g.GetId()})
		wantReason(t, err, pb.ReasonSeatTaken)
	}
	listed := func(t *testing.T, p player, of player) int {
		t.Helper()
		answer, err := s.ListGames(p.ctx, &pb.ListGamesRequest{PlayerId: of.GetId()})
		require.NoError(t, err)
		return len(answer.GetGames())
	}
	anyone := player{ctx: s.anyone}
	var end *pb.Event
	t.Run("an attempt is hidden while it is played, and its seed after it", func(t *testing.T) {
		hidden(t, anyone)
		hidden(t, eve)
		hidden(t, bob)
		watching := s.watch(t, ada.ctx, from(g.GetId(), 0))
		end = s.score(t, ada, g)
		assert.Empty(t, end.GetSeed(), "a seed before the end of the day")
		for range end.GetVersion() {
			assert.Empty(t, watching.event(t).GetSeed())
		}
		watching.end(t)
		hidden(t, anyone)
		hidden(t, bob)
	})
	s.score(t, bob, other)
	t.Run("players who have finished see other attempts, but no seed", func(t *testing.T) {
		for _, p := range []player{ada, bob} { // Bob has also finished.
			got, err := s.GetGame(p.ctx, &pb.GetGameRequest{GameId: g.GetId()})
			require.NoError(t, err)
			assert.Empty(t, got.GetGame().GetSeed())
		}
		hidden(t, eve)
		assert.Equal(t, 1, listed(t, ada, ada))
		assert.Zero(t, listed(t, bob, ada))
		assert.Zero(t, listed(t, anyone, ada))
		all, err := s.ListGames(ada.ctx, &pb.ListGamesRequest{})
		require.NoError(t, err)
		assert.Empty(t, all.GetGames())
		_, err = s.CreateChallenge(bob.ctx, &pb.CreateChallengeRequest{Kind: rematch, GameId: g.GetId()})
		assert.Equal(t, map[string]string{
			"challenge_id": c.GetId(), "close_time": c.GetCloseTime().AsTime().Format("2006-01-02T15:04:05.000Z"),
		}, wantReason(t, err, pb.ReasonSeedHidden))
	})
	t.Run("the standings list both attempts", func(t *testing.T) {
		lines := s.standings(t, c.GetId())
		require.Len(t, lines, 2)
		first, err := s.GetGame(bob.ctx, &pb.GetGameRequest{GameId: lines[0].GetGameId()})
		require.NoError(t, err)
		best := first.GetGame().GetPosition()
		assert.Equal(t, slices.Max(best.GetTwenty48().GetTiles()), lines[0].GetLargestTile())
		assert.Equal(t, best.GetMoveCount(), lines[0].GetMoveCount())
		assert.EqualValues(t, 1, lines[0].GetRank())
		assert.True(t, lines[0].GetFinished())
		own, err := s.ListStandings(bob.ctx, &pb.ListStandingsRequest{ChallengeId: c.GetId(), PlayerId: "me", Neighbors: 1})
		require.NoError(t, err)
		assert.Len(t, own.GetStandings(), 2)
		assert.EqualValues(t, 2, own.GetTotal())
		mine := s.readChallenge(t, bob, c.GetId()).GetAttempt()
		assert.Equal(t, other.GetId(), mine.GetGameId())
		assert.Equal(t, finished, mine.GetStatus())
		assert.EqualValues(t, 1, mine.GetDayStreak())
		assert.Equal(t, c.GetCloseTime().AsTime(), mine.GetDeadline().AsTime())
		board, err := s.ListScores(s.anyone, &pb.ListScoresRequest{Variant: "classic"})
		require.NoError(t, err)
		assert.Empty(t, board.GetEntries())
	})
	clock.pass(12 * time.Hour)
	t.Run("everyone sees attempts and the seed after the game has closed", func(t *testing.T) {
		for _, p := range []player{anyone, ada, eve} {
			got, err := s.GetGame(p.ctx, &pb.GetGameRequest{GameId: g.GetId()})
			require.NoError(t, err)
			seed := got.GetGame().GetSeed()
			assert.Len(t, seed, 32)
			watching := s.watch(t, p.ctx, from(g.GetId(), 0))
			var last *pb.Event
			for range end.GetVersion() {
				last = watching.event(t)
			}
			watching.end(t)
			assert.Equal(t, seed, last.GetSeed())
			assert.Equal(t, 1, listed(t, p, ada))
		}
		assert.Len(t, s.readChallenge(t, ada, c.GetId()).GetChallenge().GetSeed(), 32)
		_, err := s.CreateChallenge(bob.ctx, &pb.CreateChallengeRequest{Kind: rematch, GameId: g.GetId()})
		require.NoError(t, err)
	})
}

// Ensure that the server counts the consecutive days on which a player plays the daily game.
func TestDaily_Streak(t *testing.T) {
	t.Parallel()
	skipShort(t)
	s, clock := startAt(t, 12)
	p := s.player(t)
	for _, want := range []int32{1, 2, 3} {
		c := s.today(t, p).GetChallenge()
		s.attempt(t, p, c.GetId())
		assert.Equal(t, want, s.readChallenge(t, p, c.GetId()).GetAttempt().GetDayStreak())
		clock.pass(24 * time.Hour)
	}
	clock.pass(24 * time.Hour)
	c := s.today(t, p).GetChallenge()
	s.attempt(t, p, c.GetId())
	assert.EqualValues(t, 1, s.today(t, p).GetAttempt().GetDayStreak())
}

// Ensure that a player's attempt at a challenge by link ends when its time runs out, and still
// counts.
func TestLink_Limit(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	s, clock := startAt(t, 12)
	p := s.player(t)
	c := s.challenge(t, p, &pb.CreateChallengeRequest{Kind: link, Variant: "vt100", Limit: durationpb.New(time.Minute)})
	assert.Equal(t, 7*24*time.Hour, c.GetCloseTime().AsTime().Sub(c.GetOpenTime().AsTime()))
	g := s.attempt(t, p, c.GetId())
	version, position := g.GetVersion(), g.GetPosition()
	for position.GetScores()[0] == 0 {
		event := s.move(t, p, g.GetId(), version, position)
		version, position = event.GetVersion(), event.GetPosition()
	}
	deadline := s.readChallenge(t, p, c.GetId()).GetAttempt().GetDeadline().AsTime()
	assert.Equal(t, g.GetCreateTime().AsTime().Add(time.Minute), deadline)
	clock.pass(time.Minute)
	_, err := s.Move(p.ctx, slide(g.GetId(), version, position.GetTwenty48().GetLegalMoves()[0]))
	wantReason(t, err, pb.ReasonGameOver)
	eventually(t, "the attempt has ended", func() bool {
		return s.readChallenge(t, p, c.GetId()).GetAttempt().GetStatus() == finished
	})
	got, err := s.GetGame(p.ctx, &pb.GetGameRequest{GameId: g.GetId()})
	require.NoError(t, err)
	assert.Equal(t, pb.Result_REASON_TIMED_OUT, got.GetGame().GetResult().GetReason())
	var lines []*pb.Standing
	eventually(t, "the attempt counts", func() bool {
		lines = s.standings(t, c.GetId())
		return len(lines) > 0
	})
	assert.Equal(t, position.GetScores()[0], lines[0].GetScore())
	assert.Equal(t, p.GetId(), lines[0].GetPlayer().GetId())
}

// Ensure that attempts do not count if a program made a move in them, or if the
// account belongs to a program.
func TestStandings_Programs(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		cheat, person := s.player(t), s.player(t)
		robot := s.account(t, &pb.CreatePlayerRequest{Name: "Robot", Bot: true})
		c := s.challenge(t, cheat, &pb.CreateChallengeRequest{Kind: link, Variant: "classic", Private: true})
		for _, p := range []player{cheat, robot} {
			g := s.attempt(t, p, c.GetId())
			request := slide(g.GetId(), 1, g.GetPosition().GetTwenty48().GetLegalMoves()[0])
			request.ByBot = true
			moved, err := s.Move(p.ctx, request)
			require.NoError(t, err)
			assert.False(t, moved.GetEvent().GetRanked())
			g.Version, g.Position = moved.GetEvent().GetVersion(), moved.GetEvent().GetPosition()
			s.score(t, p, g)
		}
		s.score(t, person, s.attempt(t, person, c.GetId()))
		eventually(t, "the person's attempt counts", func() bool { return len(s.standings(t, c.GetId())) > 0 })
		lines := s.standings(t, c.GetId())
		require.Len(t, lines, 1)
		assert.Equal(t, person.GetId(), lines[0].GetPlayer().GetId())
		for _, p := range []player{cheat, robot} {
			_, err := s.ListStandings(p.ctx, &pb.ListStandingsRequest{ChallengeId: c.GetId(), PlayerId: "me"})
			wantReason(t, err, pb.ReasonNoScore)
		}
	})
}

// Ensure that a player has only one attempt at a challenge, no matter how often and on which
// server they request it.
func TestAttempt_One(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	free := func(c *server.Config) { c.Limits = limits.Limits{} }
	servers := []*testServer{start(t, redis.URL(), free), start(t, redis.URL(), free), start(t, redis.URL(), free)}
	s := servers[0]
	p := s.player(t)
	c := s.challenge(t, p, &pb.CreateChallengeRequest{Kind: link, Variant: "classic"})
	const calls = 1000
	ids := make(chan string, calls)
	for i := range calls {
		go func() {
			created, err := servers[i%len(servers)].CreateGame(p.ctx, &pb.CreateGameRequest{ChallengeId: c.GetId()})
			if !assert.NoError(t, err) {
				ids <- ""
				return
			}
			ids <- created.GetGame().GetId()
		}()
	}
	found := map[string]int{}
	for range calls {
		found[<-ids]++
	}
	assert.Len(t, found, 1)
	listed, err := s.ListGames(p.ctx, &pb.ListGamesRequest{PlayerId: "me"})
	require.NoError(t, err)
	require.Len(t, listed.GetGames(), 1)
	assert.Contains(t, found, listed.GetGames()[0].GetId())
}
