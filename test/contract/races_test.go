package contract

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// shortRace returns a request for the shortest race.
func shortRace() *pb.CreateChallengeRequest {
	return &pb.CreateChallengeRequest{Kind: race, Variant: "classic", Limit: durationpb.New(10 * time.Second)}
}

// enterRace adds a player to the roster of a race, or changes whether the player is ready.
func (s *testServer) enterRace(t testing.TB, p player, id string, ready bool) *pb.Challenge {
	t.Helper()
	joined, err := s.JoinChallenge(p.ctx, &pb.JoinChallengeRequest{ChallengeId: id, Ready: ready})
	require.NoError(t, err)
	return joined.GetChallenge()
}

// entrantOf returns the player's entry on the roster of a race.
func entrantOf(c *pb.Challenge, p player) *pb.Entrant {
	for _, e := range c.GetEntrants() {
		if e.GetPlayer().GetId() == p.GetId() {
			return e
		}
	}
	return nil
}

// Ensure that a race works as the contract specifies, from filling its roster to the end of its
// players' games.
func TestRace(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	each(t, func(t *testing.T, s *testServer) {
		ada, bob, eve := s.player(t), s.player(t), s.player(t)
		c := s.challenge(t, ada, &pb.CreateChallengeRequest{Kind: race, Variant: "classic", Limit: durationpb.New(time.Hour)})
		id := c.GetId()
		require.Equal(t, raceWaiting, c.GetStatus())
		assert.Equal(t, ada.GetName(), entrantOf(c, ada).GetPlayer().GetName())
		assert.Equal(t, time.Hour, c.GetLimit().AsDuration())
		s.hiddenRace(t, ada, id, entrantOf(c, ada).GetGameId(), false)

		c = s.enterRace(t, bob, id, false)
		game := entrantOf(c, bob).GetGameId()
		left, err := s.LeaveChallenge(bob.ctx, &pb.LeaveChallengeRequest{ChallengeId: id})
		require.NoError(t, err)
		assert.Len(t, left.GetChallenge().GetEntrants(), 1)
		c = s.enterRace(t, bob, id, true)
		assert.Equal(t, game, entrantOf(c, bob).GetGameId(), "a player who rejoins has the same game")
		assert.True(t, entrantOf(c, bob).GetReady())
		added, err := s.JoinChallenge(ada.ctx, &pb.JoinChallengeRequest{ChallengeId: id, Bot: "greedy"})
		require.NoError(t, err)
		assert.Equal(t, raceWaiting, added.GetChallenge().GetStatus(), "ada is not ready")
		bot := added.GetChallenge().GetEntrants()[2]
		assert.Equal(t, "greedy", bot.GetBot())
		s.hiddenRace(t, eve, id, bot.GetGameId(), false)
		_, err = s.CreateGame(eve.ctx, &pb.CreateGameRequest{ChallengeId: id})
		wantReason(t, err, pb.ReasonNotEntered)

		gone := entrantOf(s.enterRace(t, eve, id, false), eve).GetGameId()
		_, err = s.LeaveChallenge(eve.ctx, &pb.LeaveChallengeRequest{ChallengeId: id})
		require.NoError(t, err)

		c = s.enterRace(t, ada, id, true)
		opens, closes := c.GetOpenTime().AsTime(), c.GetCloseTime().AsTime()
		assert.Equal(t, time.Hour, closes.Sub(opens))
		again, err := s.StartChallenge(ada.ctx, &pb.StartChallengeRequest{ChallengeId: id})
		require.NoError(t, err)
		assert.Equal(t, opens, again.GetChallenge().GetOpenTime().AsTime())
		_, err = s.JoinChallenge(eve.ctx, &pb.JoinChallengeRequest{ChallengeId: id})
		wantReason(t, err, pb.ReasonChallengeStarted)
		_, err = s.LeaveChallenge(bob.ctx, &pb.LeaveChallengeRequest{ChallengeId: id})
		wantReason(t, err, pb.ReasonChallengeStarted)

		mine := entrantOf(c, ada).GetGameId()
		s.raceOpens(t, id)
		g := s.attempt(t, ada, id)
		assert.Equal(t, mine, g.GetId())
		foreign := s.get(t, game)
		assert.True(t, proto.Equal(g.GetPosition(), foreign.GetPosition()), "the same first board")
		version, position := g.GetVersion(), g.GetPosition()
		for position.GetScores()[0] == 0 {
			event := s.move(t, ada, mine, version, position)
			assert.False(t, event.GetTime().AsTime().Before(opens))
			version, position = event.GetVersion(), event.GetPosition()
		}
		lines := s.standings(t, id)
		require.Len(t, lines, 3)
		assert.False(t, lines[0].GetFinished())
		s.score(t, bob, foreign)
		eventually(t, "the bot has moved", func() bool { return s.get(t, bot.GetGameId()).GetVersion() > 3 })
		listed, err := s.ListGames(s.anyone, &pb.ListGamesRequest{})
		require.NoError(t, err)
		var ids []string
		for _, g := range listed.GetGames() {
			ids = append(ids, g.GetId())
		}
		assert.NotEmpty(t, ids, "races are public")
		assert.NotContains(t, ids, gone, "nobody can play the game of a player who left before the start")

		assert.Empty(t, s.resign(t, ada, mine).GetSeed())
		over := s.get(t, mine)
		assert.Equal(t, pb.Result_REASON_RESIGNED, over.GetResult().GetReason())
		assert.Equal(t, position.GetScores(), over.GetPosition().GetScores(), "the player keeps the points")
		eventually(t, "the standings show that both players have finished", func() bool {
			finished := 0
			for _, line := range s.standings(t, id) {
				if line.GetFinished() && line.GetPlayer() != nil {
					finished++
				}
			}
			return finished == 2
		})
		assert.Empty(t, s.readChallenge(t, ada, id).GetChallenge().GetSeed(), "the race is open")
	}, func(c *server.Config) { c.BotPace = 50 * time.Millisecond })
}

// Ensure that a race opens and closes exactly at its times, that its boards are hidden until it
// opens, and that it reveals its seed when it has closed.
func TestRace_Times(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	s, clock := startAt(t, 12, func(c *server.Config) { c.BotPace = 0 })
	clock.stop()
	ada, bob, eve := s.player(t), s.player(t), s.player(t)
	id := s.challenge(t, ada, shortRace()).GetId()
	_, err := s.JoinChallenge(ada.ctx, &pb.JoinChallengeRequest{ChallengeId: id, Bot: "greedy"})
	require.NoError(t, err)
	s.enterRace(t, bob, id, true)
	c := s.enterRace(t, ada, id, true)
	mine, game := entrantOf(c, ada).GetGameId(), entrantOf(c, bob).GetGameId()
	assert.Equal(t, raceScheduled, c.GetStatus())
	opens, closes := c.GetOpenTime().AsTime(), c.GetCloseTime().AsTime()
	assert.True(t, clock.now().Before(opens))
	assert.Equal(t, 10*time.Second, closes.Sub(opens))

	clock.passTo(opens.Add(-time.Millisecond))
	s.hiddenRace(t, bob, id, game, true)
	clock.passTo(opens)
	assert.Equal(t, challengeOpen, s.readChallenge(t, eve, id).GetChallenge().GetStatus())
	given := s.score(t, bob, s.get(t, game))
	g := s.attempt(t, ada, id)
	version, position := g.GetVersion(), g.GetPosition()
	for at := opens; at.Before(closes); at = at.Add(2 * time.Second) { // A longer pause would be an outage.
		clock.passTo(at)
		event := s.move(t, ada, mine, version, position)
		assert.Equal(t, at, event.GetTime().AsTime())
		version, position = event.GetVersion(), event.GetPosition()
	}
	clock.passTo(closes.Add(-time.Millisecond))
	event := s.move(t, ada, mine, version, position)
	version, position = event.GetVersion(), event.GetPosition()

	clock.passTo(closes)
	assert.Equal(t, challengeOver, s.readChallenge(t, ada, id).GetChallenge().GetStatus())
	_, err = s.Move(ada.ctx, slide(mine, version, position.GetTwenty48().GetLegalMoves()[0]))
	wantReason(t, err, pb.ReasonGameOver)
	clock.resume() // the server's background work retries only as this clock advances
	eventually(t, "the seed is public", func() bool {
		return len(s.readChallenge(t, eve, id).GetChallenge().GetSeed()) > 0 && s.get(t, mine).GetStatus() == finished
	})
	over := s.get(t, mine)
	assert.Equal(t, pb.Result_REASON_TIMED_OUT, over.GetResult().GetReason())
	assert.Equal(t, position.GetScores(), over.GetPosition().GetScores(), "the player keeps the points")
	assert.Len(t, over.GetSeed(), 32)
	assert.False(t, over.GetUpdateTime().AsTime().Before(closes))
	assert.Equal(t, given.GetPosition().GetScores(), s.get(t, game).GetPosition().GetScores())
	watching := s.watch(t, s.anyone, from(game, 0))
	for range given.GetVersion() - 1 {
		watching.event(t)
	}
	assert.Equal(t, over.GetSeed(), watching.event(t).GetSeed())
	s.raceHasEnded(t, id)
	s.checkRaceStandings(t, id, ada)
}

// Ensure that a race opens and closes by the store's own clock. How many moves the player makes in
// that time does not matter.
func TestRace_StoreClock_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	if testing.Short() {
		t.Skip("takes as long as a race")
	}
	each(t, func(t *testing.T, s *testServer) {
		ada, bob := s.player(t), s.player(t)
		id := s.challenge(t, ada, shortRace()).GetId()
		_, err := s.JoinChallenge(ada.ctx, &pb.JoinChallengeRequest{ChallengeId: id, Bot: "greedy"})
		require.NoError(t, err)
		s.enterRace(t, bob, id, true)
		c := s.enterRace(t, ada, id, true)
		mine := entrantOf(c, ada).GetGameId()
		var g *pb.Game
		eventually(t, "the board is visible", func() bool {
			got, err := s.GetGame(s.anyone, &pb.GetGameRequest{GameId: mine})
			g = got.GetGame()
			return err == nil
		})
		var last time.Time
		for range 10 {
			legal := g.GetPosition().GetTwenty48().GetLegalMoves()
			if len(legal) == 0 {
				break // The race is over.
			}
			moved, err := s.Move(ada.ctx, slide(mine, g.GetVersion(), legal[0]))
			if err != nil {
				wantReason(t, err, pb.ReasonGameOver)
				break
			}
			last = moved.GetEvent().GetTime().AsTime()
			assert.False(t, last.Before(c.GetOpenTime().AsTime()))
			g.Version, g.Position = moved.GetEvent().GetVersion(), moved.GetEvent().GetPosition()
		}
		s.raceHasEnded(t, id)
		c = s.readChallenge(t, ada, id).GetChallenge()
		assert.Equal(t, challengeOver, c.GetStatus())
		assert.Len(t, c.GetSeed(), 32)
		assert.True(t, last.Before(c.GetCloseTime().AsTime()))
		over := s.get(t, mine)
		assert.Equal(t, pb.Result_REASON_TIMED_OUT, over.GetResult().GetReason())
		assert.Equal(t, g.GetPosition().GetScores(), over.GetPosition().GetScores())
		assert.False(t, over.GetUpdateTime().AsTime().Before(c.GetCloseTime().AsTime()))
		s.checkRaceStandings(t, id, ada)
	})
}

// raceOpens waits until a race is open.
func (s *testServer) raceOpens(t testing.TB, id string) {
	t.Helper()
	eventually(t, "the race is open", func() bool {
		got, err := s.GetChallenge(s.anyone, &pb.GetChallengeRequest{ChallengeId: id})
		require.NoError(t, err)
		return got.GetChallenge().GetStatus() == challengeOpen
	})
}

// raceHasEnded waits until a race has revealed its seed and all attempts at it have ended.
func (s *testServer) raceHasEnded(t testing.TB, id string) {
	t.Helper()
	eventually(t, "the race and all attempts have ended", func() bool {
		for _, line := range s.standings(t, id) {
			if !line.GetFinished() {
				return false
			}
		}
		got, err := s.GetChallenge(s.anyone, &pb.GetChallengeRequest{ChallengeId: id})
		require.NoError(t, err)
		return len(got.GetChallenge().GetSeed()) > 0
	})
}

// Ensure that a race closes and reveals its seed as soon as all its attempts are over.
func TestRace_AllOver(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	each(t, func(t *testing.T, s *testServer) {
		ada, bob := s.player(t), s.player(t)
		c := s.challenge(t, ada, &pb.CreateChallengeRequest{Kind: race, Variant: "classic", Limit: durationpb.New(time.Hour)})
		id := c.GetId()
		s.enterRace(t, bob, id, true)
		closes := s.enterRace(t, ada, id, true).GetCloseTime().AsTime()
		watching, err := s.WatchChallenge(s.anyone, &pb.WatchChallengeRequest{ChallengeId: id})
		require.NoError(t, err)
		s.raceOpens(t, id)
		resign := func(p player) {
			_, err := s.Resign(p.ctx, &pb.ResignRequest{GameId: s.attempt(t, p, id).GetId()})
			require.NoError(t, err)
		}
		resign(ada)
		c = s.readChallenge(t, ada, id).GetChallenge()
		assert.Equal(t, challengeOpen, c.GetStatus(), "bob is playing")
		assert.Equal(t, closes, c.GetCloseTime().AsTime())
		assert.Empty(t, c.GetSeed())
		resign(bob)
		eventually(t, "the race is closed", func() bool {
			c = s.readChallenge(t, ada, id).GetChallenge()
			return c.GetStatus() == challengeOver
		})
		assert.Len(t, c.GetSeed(), 32)
		assert.True(t, c.GetCloseTime().AsTime().Before(closes))
		for _, e := range c.GetEntrants() {
			g := s.get(t, e.GetGameId())
			assert.Equal(t, c.GetSeed(), g.GetSeed())
			assert.True(t, g.GetUpdateTime().AsTime().Before(c.GetCloseTime().AsTime()))
		}
		var last *pb.WatchChallengeResponse
		for {
			next, err := watching.Recv()
			if err != nil {
				require.ErrorIs(t, err, io.EOF)
				break
			}
			last = next
		}
		assert.Equal(t, challengeOver, last.GetChallenge().GetStatus())
		assert.Equal(t, c.GetSeed(), last.GetChallenge().GetSeed())
	})
}

// Ensure that all entrants of a race who ask for another one get the same, until it is closed, and
// that no other player can create it.
func TestRace_Again(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		ada, bob, eve := s.player(t), s.player(t), s.player(t)
		request := shortRace()
		request.Limit, request.Private = durationpb.New(time.Hour), true
		first := s.challenge(t, ada, request).GetId()
		after := func(id string) *pb.CreateChallengeRequest {
			return &pb.CreateChallengeRequest{Kind: race, PreviousChallengeId: id, RequestId: newID()}
		}
		play := func(id string) {
			s.enterRace(t, bob, id, true)
			s.enterRace(t, ada, id, true)
			s.raceOpens(t, id)
			for _, p := range []player{ada, bob} {
				s.resign(t, p, s.attempt(t, p, id).GetId())
			}
			eventually(t, "the race is closed", func() bool {
				return s.readChallenge(t, ada, id).GetChallenge().GetStatus() == challengeOver
			})
		}
		_, err := s.CreateChallenge(ada.ctx, after(first))
		wantReason(t, err, pb.ReasonChallengeNotOpen)
		play(first)

		_, err = s.CreateChallenge(eve.ctx, after(first))
		wantReason(t, err, pb.ReasonNotEntered)
		next := make([]*pb.Challenge, 2)
		var group errgroup.Group
		for i, p := range []player{ada, bob} {
			group.Go(func() error {
				created, err := s.CreateChallenge(p.ctx, after(first))
				next[i] = created.GetChallenge()
				return err
			})
		}
		require.NoError(t, group.Wait())
		second := next[0].GetId()
		assert.Equal(t, second, next[1].GetId())
		assert.NotEqual(t, first, second)
		c := s.readChallenge(t, ada, second).GetChallenge()
		assert.Len(t, c.GetEntrants(), 1)
		assert.Equal(t, "classic", c.GetVariant())
		assert.Equal(t, time.Hour, c.GetLimit().AsDuration())
		assert.True(t, c.GetPrivate())
		assert.Equal(t, raceWaiting, c.GetStatus())
		s.enterRace(t, ada, second, false)

		play(second)
		third := s.challenge(t, bob, after(first))
		assert.Equal(t, raceWaiting, third.GetStatus(), "the second race is closed")
		assert.Equal(t, third.GetId(), s.challenge(t, ada, after(second)).GetId())

		tiles := s.challenge(t, ada, &pb.CreateChallengeRequest{Kind: link, Variant: "classic"})
		_, err = s.CreateChallenge(ada.ctx, after(tiles.GetId()))
		wantField(t, err, "previous_challenge_id")
		_, err = s.CreateChallenge(ada.ctx, after(newID()))
		wantReason(t, err, pb.ReasonChallengeNotFound)
		for _, change := range []func(*pb.CreateChallengeRequest){
			func(r *pb.CreateChallengeRequest) { r.Kind = link },
			func(r *pb.CreateChallengeRequest) { r.Variant = "classic" },
			func(r *pb.CreateChallengeRequest) { r.Limit = durationpb.New(time.Minute) },
			func(r *pb.CreateChallengeRequest) { r.Private = true },
			func(r *pb.CreateChallengeRequest) { r.GameId = newID() },
		} {
			request := after(first)
			change(request)
			_, err = s.CreateChallenge(ada.ctx, request)
			wantField(t, err, "previous_challenge_id")
		}
	})
}

// hiddenRace requires that an attempt at a race that is not open cannot be read, and that trying to
// move reveals nothing to its player.
func (s *testServer) hiddenRace(t testing.TB, p player, id, gameID string, started bool) {
	t.Helper()
	want := map[string]string{"challenge_id": id}
	if started {
		c := s.readChallenge(t, p, id).GetChallenge()
		want["open_time"] = c.GetOpenTime().AsTime().Format("2006-01-02T15:04:05.000Z")
	}
	_, err := s.GetGame(p.ctx, &pb.GetGameRequest{GameId: gameID})
	assert.Equal(t, want, wantReason(t, err, pb.ReasonChallengeNotOpen))
	wantReason(t, s.watch(t, p.ctx, from(gameID, 0)).refused(t), pb.ReasonChallengeNotOpen)
	reason := pb.ReasonNotSeated
	if e := entrantOf(s.readChallenge(t, p, id).GetChallenge(), p); e.GetGameId() == gameID {
		reason = pb.ReasonGameNotStarted
		_, err = s.CreateGame(p.ctx, &pb.CreateGameRequest{ChallengeId: id})
		assert.Equal(t, want, wantReason(t, err, pb.ReasonChallengeNotOpen))
		_, err = s.JoinGame(p.ctx, &pb.JoinGameRequest{GameId: gameID})
		wantReason(t, err, pb.ReasonChallengeNotOpen)
		_, err = s.Resign(p.ctx, &pb.ResignRequest{GameId: gameID})
		assert.Equal(t, want, wantReason(t, err, reason))
		wantMessage(t, err, "the challenge is not open yet")
	} else {
		want = nil
	}
	for d := pb.Direction_DIRECTION_UP; d <= pb.Direction_DIRECTION_RIGHT; d++ {
		_, err := s.Move(p.ctx, slide(gameID, 1, d))
		assert.Equal(t, want, wantReason(t, err, reason))
	}
	for _, request := range []*pb.ListGamesRequest{{}, {PlayerId: "me"}} {
		listed, err := s.ListGames(p.ctx, request)
		require.NoError(t, err)
		assert.Empty(t, listed.GetGames())
	}
	for _, line := range s.standings(t, id) {
		assert.Zero(t, line.GetLargestTile())
	}
}

// checkRaceStandings compares a race's standings, page by page, with its games.
func (s *testServer) checkRaceStandings(t testing.TB, id string, p player) {
	t.Helper()
	lines := s.standings(t, id)
	request := &pb.ListStandingsRequest{ChallengeId: id, PageSize: 2}
	first, err := s.ListStandings(s.anyone, request)
	require.NoError(t, err)
	request.PageToken = first.GetNextPageToken()
	second, err := s.ListStandings(s.anyone, request)
	require.NoError(t, err)
	assert.Empty(t, second.GetNextPageToken())
	paged := append(first.GetStandings(), second.GetStandings()...)
	require.Len(t, paged, len(lines))
	for i, line := range lines {
		assert.True(t, proto.Equal(line, paged[i]))
		assert.EqualValues(t, i+1, line.GetRank())
		assert.True(t, i == 0 || line.GetScore() <= lines[i-1].GetScore())
		g := s.get(t, line.GetGameId())
		assert.Equal(t, g.GetPosition().GetScores()[0], line.GetScore())
		assert.Equal(t, g.GetPosition().GetMoveCount(), line.GetMoveCount())
		assert.Contains(t, g.GetPosition().GetTwenty48().GetTiles(), line.GetLargestTile())
		if line.GetPlayer().GetId() == p.GetId() {
			own, err := s.ListStandings(p.ctx, &pb.ListStandingsRequest{ChallengeId: id, PlayerId: "me"})
			require.NoError(t, err)
			require.Len(t, own.GetStandings(), 1)
			assert.True(t, proto.Equal(line, own.GetStandings()[0]))
			assert.EqualValues(t, len(lines), own.GetTotal())
		}
	}
	_, err = s.ListStandings(s.anyone, &pb.ListStandingsRequest{ChallengeId: id, PlayerId: newID()})
	wantReason(t, err, pb.ReasonNoScore)
}

// Ensure that the size of a roster is limited, and that only players who are allowed to change it
// can.
func TestRace_Roster(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		ada, bob, eve := s.player(t), s.player(t), s.player(t)
		c := s.challenge(t, ada, shortRace())
		id := c.GetId()
		start := func(p player) error {
			_, err := s.StartChallenge(p.ctx, &pb.StartChallengeRequest{ChallengeId: id})
			return err
		}
		bot := func(p player, name string) error {
			_, err := s.JoinChallenge(p.ctx, &pb.JoinChallengeRequest{ChallengeId: id, Bot: name})
			return err
		}
		wantReason(t, start(ada), pb.ReasonTooFewEntrants)
		assert.Equal(t, raceWaiting, s.enterRace(t, ada, id, true).GetStatus(), "a single entrant cannot start")
		s.enterRace(t, ada, id, false)
		wantReason(t, start(bob), pb.ReasonNotCreator)
		wantReason(t, bot(bob, "greedy"), pb.ReasonNotCreator)
		wantField(t, bot(ada, "nobody"), "bot")
		s.enterRace(t, bob, id, false)
		for range 6 {
			require.NoError(t, bot(ada, "random"))
		}
		wantReason(t, bot(ada, "random"), pb.ReasonChallengeFull)
		assert.Len(t, s.readChallenge(t, ada, id).GetChallenge().GetEntrants(), 8)
		_, err := s.JoinChallenge(eve.ctx, &pb.JoinChallengeRequest{ChallengeId: id})
		wantReason(t, err, pb.ReasonChallengeFull)
		s.enterRace(t, bob, id, true)
		c = s.readChallenge(t, ada, id).GetChallenge()
		assert.Len(t, c.GetEntrants(), 8)
		leave := func(p player, gameID string) error {
			_, err := s.LeaveChallenge(p.ctx, &pb.LeaveChallengeRequest{ChallengeId: id, GameId: gameID})
			return err
		}
		wantReason(t, leave(bob, c.GetEntrants()[3].GetGameId()), pb.ReasonNotCreator)
		require.NoError(t, leave(ada, c.GetEntrants()[3].GetGameId()))
		require.NoError(t, leave(eve, ""))
		require.NoError(t, leave(ada, s.game(t, ada, "classic").GetId()), "a game outside the race")
		assert.Len(t, s.readChallenge(t, ada, id).GetChallenge().GetEntrants(), 7)
		lines := s.standings(t, id)
		assert.Len(t, lines, 7)
		require.NoError(t, leave(ada, ""))
		c = s.readChallenge(t, ada, id).GetChallenge()
		assert.NotNil(t, c.GetOpenTime(), "everyone else is ready")

		bots := s.challenge(t, ada, shortRace()).GetId()
		for range 2 {
			_, err = s.JoinChallenge(ada.ctx, &pb.JoinChallengeRequest{ChallengeId: bots, Bot: "greedy"})
			require.NoError(t, err)
		}
		_, err = s.LeaveChallenge(ada.ctx, &pb.LeaveChallengeRequest{ChallengeId: bots})
		require.NoError(t, err)
		_, err = s.StartChallenge(ada.ctx, &pb.StartChallengeRequest{ChallengeId: bots})
		wantReason(t, err, pb.ReasonTooFewEntrants)
		assert.ErrorContains(t, err, "a player", "there are two entrants already")

		tiles := s.challenge(t, ada, &pb.CreateChallengeRequest{Kind: link, Variant: "classic"})
		_, err = s.JoinChallenge(bob.ctx, &pb.JoinChallengeRequest{ChallengeId: tiles.GetId()})
		wantField(t, err, "challenge_id")
		_, err = s.LeaveChallenge(bob.ctx, &pb.LeaveChallengeRequest{ChallengeId: tiles.GetId()})
		wantField(t, err, "challenge_id")
		_, err = s.StartChallenge(ada.ctx, &pb.StartChallengeRequest{ChallengeId: tiles.GetId()})
		wantField(t, err, "challenge_id")
		_, err = s.StartChallenge(ada.ctx, &pb.StartChallengeRequest{ChallengeId: newID()})
		wantReason(t, err, pb.ReasonChallengeNotFound)
		_, err = s.StartChallenge(ada.ctx, &pb.StartChallengeRequest{})
		wantField(t, err, "challenge_id")
	})
}

// Ensure that the limits on games apply to joining a race, and that getting ready does not
// count.
func TestRace_Limits(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		ada, bob := s.player(t), s.player(t)
		c := s.challenge(t, ada, shortRace())
		s.game(t, bob, "classic")
		_, err := s.JoinChallenge(bob.ctx, &pb.JoinChallengeRequest{ChallengeId: c.GetId()})
		wantReason(t, err, pb.ReasonTooManyGames)
		_, err = s.CreateChallenge(bob.ctx, shortRace())
		wantReason(t, err, pb.ReasonTooManyGames)
		assert.Len(t, s.readChallenge(t, bob, c.GetId()).GetChallenge().GetEntrants(), 1)
		for _, ready := range []bool{true, false, true} {
			s.enterRace(t, ada, c.GetId(), ready)
		}
		own := entrantOf(s.readChallenge(t, ada, c.GetId()).GetChallenge(), ada).GetGameId()
		_, err = s.LeaveChallenge(ada.ctx, &pb.LeaveChallengeRequest{ChallengeId: c.GetId(), GameId: own})
		require.NoError(t, err, "the game is not a bot's")
		_, err = s.CreateGame(ada.ctx, &pb.CreateGameRequest{Variant: "classic"})
		wantReason(t, err, pb.ReasonTooManyGames)
		_, err = s.LeaveChallenge(ada.ctx, &pb.LeaveChallengeRequest{ChallengeId: c.GetId()})
		require.NoError(t, err)
		_, err = s.CreateGame(ada.ctx, &pb.CreateGameRequest{Variant: "classic"})
		wantReason(t, err, pb.ReasonTooManyGames) // Until the race starts, ada can return to her game.
		_, err = s.JoinChallenge(ada.ctx, &pb.JoinChallengeRequest{ChallengeId: c.GetId(), Bot: "greedy"})
		wantReason(t, err, pb.ReasonTooManyGames)
		assert.Len(t, s.enterRace(t, ada, c.GetId(), true).GetEntrants(), 1)
	}, func(c *server.Config) { c.Limits.OpenGamesPerPlayer = 1 })
}

// Ensure that a client cannot create more games than it may have open by adding and removing bots.
func TestRace_BotsComeAndGo(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		ada := s.player(t)
		id := s.challenge(t, ada, shortRace()).GetId()
		for range 2 {
			joined, err := s.JoinChallenge(ada.ctx, &pb.JoinChallengeRequest{ChallengeId: id, Bot: "greedy"})
			require.NoError(t, err)
			added := joined.GetChallenge().GetEntrants()[1]
			_, err = s.LeaveChallenge(ada.ctx, &pb.LeaveChallengeRequest{ChallengeId: id, GameId: added.GetGameId()})
			require.NoError(t, err)
		}
		_, err := s.JoinChallenge(ada.ctx, &pb.JoinChallengeRequest{ChallengeId: id, Bot: "greedy"})
		wantReason(t, err, pb.ReasonTooManyGames)
	}, func(c *server.Config) { c.Limits.OpenGamesPerPlayer = 3 })
}

// raceWithBots creates a race with the given number of bots, and returns the ids of their games.
func (s *testServer) raceWithBots(t *testing.T, p player, bots int) (id string, gameIDs []string) {
	t.Helper()
	request := shortRace()
	request.Limit = durationpb.New(time.Hour)
	id = s.challenge(t, p, request).GetId()
	for range bots {
		joined, err := s.JoinChallenge(p.ctx, &pb.JoinChallengeRequest{ChallengeId: id, Bot: "random"})
		require.NoError(t, err)
		entrants := joined.GetChallenge().GetEntrants()
		gameIDs = append(gameIDs, entrants[len(entrants)-1].GetGameId())
	}
	return id, gameIDs
}

func (s *testServer) startRace(p player, id string) error {
	_, err := s.StartChallenge(p.ctx, &pb.StartChallengeRequest{ChallengeId: id})
	return err
}

// Ensure that bots in running races count toward the limits on games with only bots, and that a
// race with too many of them does not start until some are removed.
func TestRace_TooManyBots(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		ada, bob := s.player(t), s.player(t)
		first, _ := s.raceWithBots(t, ada, 2)
		require.NoError(t, s.startRace(ada, first))
		require.NoError(t, s.startRace(ada, first), "a repeated start")

		second, bots := s.raceWithBots(t, bob, 2)
		limit := wantReason(t, s.startRace(bob, second), pb.ReasonRateLimited)
		assert.Equal(t, "bot_games_per_address", limit["limit_name"])
		assert.Nil(t, s.enterRace(t, bob, second, true).GetOpenTime(), "all are ready")
		left, err := s.LeaveChallenge(bob.ctx, &pb.LeaveChallengeRequest{ChallengeId: second, GameId: bots[0]})
		require.NoError(t, err)
		assert.NotNil(t, left.GetChallenge().GetOpenTime(), "the refused bots do not count")

		_, err = s.CreateGame(ada.ctx, &pb.CreateGameRequest{Variant: "classic", Seats: []*pb.SeatRequest{
			{Occupant: &pb.SeatRequest_Bot{Bot: "random"}},
		}})
		wantReason(t, err, pb.ReasonRateLimited)
	}, patientBots, func(c *server.Config) { c.Limits.BotGamesPerAddress = 3 })
}

// Ensure that a bot whose attempt is over no longer counts, even if the race is still open.
func TestRace_BotsDone(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		ada := s.player(t)
		first, _ := s.raceWithBots(t, ada, 2)
		require.NoError(t, s.startRace(ada, first))
		second, _ := s.raceWithBots(t, ada, 2)
		eventually(t, "the bots of the first race make room", func() bool { return s.startRace(ada, second) == nil })
	}, func(c *server.Config) { c.Limits.BotGamesPerStore, c.BotPace = 2, 0 })
}

// Ensure that repeating a call that adds a bot returns the same bot, even on a full roster
// and after the start.
func TestJoinChallenge_BotAgain(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		ada := s.player(t)
		id := s.challenge(t, ada, shortRace()).GetId()
		request := &pb.JoinChallengeRequest{ChallengeId: id, Bot: "greedy", RequestId: newID()}
		join := func() []*pb.Entrant {
			joined, err := s.JoinChallenge(ada.ctx, request)
			require.NoError(t, err)
			return joined.GetChallenge().GetEntrants()
		}
		first := join()
		require.Len(t, first, 2)
		again := join()
		require.Len(t, again, 2)
		assert.True(t, proto.Equal(first[1], again[1]))
		for range 6 {
			_, err := s.JoinChallenge(ada.ctx, &pb.JoinChallengeRequest{ChallengeId: id, Bot: "random"})
			require.NoError(t, err)
		}
		assert.Len(t, join(), 8, "the roster is full")
		_, err := s.StartChallenge(ada.ctx, &pb.StartChallengeRequest{ChallengeId: id})
		require.NoError(t, err)
		assert.Len(t, join(), 8, "the race has started")
		_, err = s.JoinChallenge(ada.ctx, &pb.JoinChallengeRequest{ChallengeId: id, Bot: "greedy", RequestId: newID()})
		wantReason(t, err, pb.ReasonChallengeStarted)
		for _, bot := range []string{"greedy", ""} {
			_, err = s.JoinChallenge(ada.ctx, &pb.JoinChallengeRequest{ChallengeId: id, Bot: bot, RequestId: "short"})
			wantField(t, err, "request_id")
		}
	})
}

// Ensure that a client that reuses the request_id of a bot for another bot gets that bot, even
// after it has removed the first one, and that the race can start. A server that derived the id of
// the bot's game from the request_id alone found the game of the first bot under it, and answered
// with INTERNAL, also when the race was to start.
func TestJoinChallenge_OtherBotSameRequestID(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		ada := s.player(t)
		id, requestID := s.challenge(t, ada, shortRace()).GetId(), newID()
		add := func(bot string) *pb.Entrant {
			joined, err := s.JoinChallenge(ada.ctx, &pb.JoinChallengeRequest{ChallengeId: id, Bot: bot, RequestId: requestID})
			require.NoError(t, err)
			entrants := joined.GetChallenge().GetEntrants()
			added := entrants[len(entrants)-1]
			assert.Equal(t, bot, added.GetBot())
			return added
		}
		add("rote")
		_, err := s.LeaveChallenge(ada.ctx, &pb.LeaveChallengeRequest{ChallengeId: id, GameId: add("greedy").GetGameId()})
		require.NoError(t, err)
		add("random")
		started, err := s.StartChallenge(ada.ctx, &pb.StartChallengeRequest{ChallengeId: id})
		require.NoError(t, err)
		assert.Len(t, started.GetChallenge().GetEntrants(), 3)
	})
}
