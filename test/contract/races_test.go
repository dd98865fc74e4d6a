package contract

import (
	"io"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
	"github.com/gridstand/gridstand/server/limits"
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

// raceNow enters a player into a race with others.
func (s *testServer) raceNow(t testing.TB, p player) *pb.Challenge {
	t.Helper()
	entered, err := s.RaceNow(p.ctx, &pb.RaceNowRequest{})
	require.NoError(t, err)
	require.NotNil(t, entrantOf(entered.GetChallenge(), p))
	return entered.GetChallenge()
}

// addBot adds a bot to the roster of a race and returns its entry.
func (s *testServer) addBot(t testing.TB, p player, request *pb.JoinChallengeRequest) *pb.Entrant {
	t.Helper()
	joined, err := s.JoinChallenge(p.ctx, request)
	require.NoError(t, err)
	entrants := joined.GetChallenge().GetEntrants()
	return entrants[len(entrants)-1]
}

// raceWithBots creates a race with the given number of bots, and returns the ids of their games.
func (s *testServer) raceWithBots(t *testing.T, p player, bots int) (id string, gameIDs []string) {
	t.Helper()
	id = s.challenge(t, p, &pb.CreateChallengeRequest{Kind: race, Variant: "classic", Limit: durationpb.New(time.Hour)}).GetId()
	for range bots {
		gameIDs = append(gameIDs, s.addBot(t, p, &pb.JoinChallengeRequest{ChallengeId: id, Bot: "random"}).GetGameId())
	}
	return id, gameIDs
}

// startRace starts a race, or does it again.
func (s *testServer) startRace(t testing.TB, p player, id string) *pb.Challenge {
	t.Helper()
	started, err := s.StartChallenge(p.ctx, &pb.StartChallengeRequest{ChallengeId: id})
	require.NoError(t, err)
	return started.GetChallenge()
}

// leaveRace removes a player, or the bot with the given game, from the roster of a race.
func (s *testServer) leaveRace(t testing.TB, p player, id, gameID string) *pb.Challenge {
	t.Helper()
	left, err := s.LeaveChallenge(p.ctx, &pb.LeaveChallengeRequest{ChallengeId: id, GameId: gameID})
	require.NoError(t, err)
	return left.GetChallenge()
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

// Ensure that a race opens exactly at its time, that each entrant has the same tiles and one game, and
// that it reveals its seed when it has closed. TestFairness shows what it hides.
func TestRace(t *testing.T) {
	t.Parallel()
	s, clock := startAt(t, 12, func(c *server.Config) { c.BotPace = 0 })
	clock.Stop()
	ada, bob, eve := s.player(t), s.player(t), s.player(t)
	c := s.challenge(t, ada, shortRace())
	id := c.GetId()
	require.Equal(t, raceWaiting, c.GetStatus())
	bot := s.addBot(t, ada, &pb.JoinChallengeRequest{ChallengeId: id, Bot: "greedy"})
	assert.Equal(t, "greedy", bot.GetBot())
	s.refuses(t, eve.ctx, &pb.CreateGameRequest{ChallengeId: id}, pb.ReasonNotEntered)
	game := entrantOf(s.enterRace(t, bob, id, false), bob).GetGameId()
	assert.Len(t, s.enterRace(t, bob, id, false).GetEntrants(), 3, "bob has entered already")
	assert.Len(t, s.leaveRace(t, bob, id, "").GetEntrants(), 2)
	c = s.enterRace(t, bob, id, true)
	assert.Equal(t, game, entrantOf(c, bob).GetGameId(), "a player who rejoins has the same game")
	assert.Equal(t, raceWaiting, c.GetStatus(), "ada is not ready")
	assert.Nil(t, c.GetStartTime(), "nobody entered it with RaceNow")

	c = s.enterRace(t, ada, id, true)
	assert.Equal(t, raceScheduled, c.GetStatus())
	opens, closes := c.GetOpenTime().AsTime(), c.GetCloseTime().AsTime()
	assert.Equal(t, 10*time.Second, closes.Sub(opens))
	clock.Pass(time.Millisecond)
	assert.Equal(t, opens, s.startRace(t, ada, id).GetOpenTime().AsTime())
	s.refuses(t, eve.ctx, &pb.JoinChallengeRequest{ChallengeId: id}, pb.ReasonChallengeStarted)
	s.refuses(t, bob.ctx, &pb.LeaveChallengeRequest{ChallengeId: id}, pb.ReasonChallengeStarted)
	clock.PassTo(opens.Add(-time.Millisecond))
	s.refuses(t, bob.ctx, &pb.CreateGameRequest{ChallengeId: id}, pb.ReasonChallengeNotOpen)
	clock.PassTo(opens)
	assert.Equal(t, challengeOpen, s.readChallenge(t, eve, id).GetChallenge().GetStatus())
	g, foreign := s.attempt(t, ada, id), s.get(t, game)
	same(t, g.GetPosition(), foreign.GetPosition())
	given := s.score(t, bob, foreign)
	assert.Empty(t, given.GetSeed(), "the race is open")
	moved := s.move(t, ada, g.GetId(), g.GetVersion(), g.GetPosition())
	assert.Equal(t, opens, moved.GetTime().AsTime())
	end := s.resign(t, ada, g.GetId())
	_, err := s.Move(ada.ctx, slide(g.GetId(), end.GetVersion(), moved.GetPosition().GetTwenty48().GetLegalMoves()[0]))
	wantReason(t, err, pb.ReasonGameOver)
	clock.Resume() // The bot's attempt ends in a moment, or at the close.
	waittest.Until(t, "the seed is public and all attempts have ended", func() bool {
		running := slices.ContainsFunc(s.standings(t, id), func(line *pb.Standing) bool { return !line.GetFinished() })
		return len(s.readChallenge(t, eve, id).GetChallenge().GetSeed()) > 0 && !running
	})
	assert.Equal(t, challengeOver, s.readChallenge(t, ada, id).GetChallenge().GetStatus())
	over := s.get(t, g.GetId())
	assert.Equal(t, end.GetPosition().GetScores(), over.GetPosition().GetScores(), "the player keeps the points")
	assert.Len(t, over.GetSeed(), 32)
	for _, line := range s.standings(t, id) {
		events := s.verified(t, line.GetGameId())
		last := events[len(events)-1].GetPosition()
		assert.Equal(t, last.GetScores()[0], line.GetScore())
		assert.Equal(t, last.GetMoveCount(), line.GetMoveCount())
		if line.GetMoveCount() > 0 {
			assert.Equal(t, slices.Max(last.GetTwenty48().GetTiles()), line.GetLargestTile())
		}
	}
}

// Ensure that players who want a race get into the same one in place of its bot, that it starts by itself
// while one of them watches it, and that it is listed only as long as one of them does.
func TestRaceNow(t *testing.T) {
	t.Parallel()
	s, clock := startAt(t, 12)
	clock.Stop()
	ada, bob, eve := s.player(t), s.player(t), s.player(t)
	listed := func(id string) bool {
		all, err := s.ListChallenges(t.Context(), &pb.ListChallengesRequest{Kind: race})
		require.NoError(t, err)
		return slices.ContainsFunc(all.GetChallenges(), func(c *pb.Challenge) bool { return c.GetId() == id })
	}
	c := s.raceNow(t, ada)
	assert.Equal(t, "greedy", c.GetEntrants()[1].GetBot())
	assert.Nil(t, c.GetStartTime())
	stream, err := s.WatchChallenge(ada.ctx, &pb.WatchChallengeRequest{ChallengeId: c.GetId()})
	require.NoError(t, err)

	both := s.raceNow(t, bob)
	require.Equal(t, c.GetId(), both.GetId())
	require.Len(t, both.GetEntrants(), 2)
	starts := both.GetStartTime().AsTime()
	assert.WithinDuration(t, clock.Now().Add(15*time.Second), starts, time.Second)
	clock.Pass(time.Second)
	for _, later := range []*pb.Challenge{s.raceNow(t, eve), s.leaveRace(t, eve, c.GetId(), ""), s.raceNow(t, eve)} {
		assert.Equal(t, starts, later.GetStartTime().AsTime(), "a third player who comes or leaves changes nothing")
	}
	clock.PassTo(starts)
	started := until(t, stream, inStatus(raceScheduled)).GetChallenge()
	assert.Len(t, started.GetEntrants(), 3)
	assert.Nil(t, started.GetStartTime())

	fay := s.player(t)
	alone := s.raceNow(t, fay)
	assert.NotEqual(t, c.GetId(), alone.GetId(), "the race has started")
	assert.True(t, listed(alone.GetId()))
	guest := s.player(t)
	for _, bots := range []int{1, 0} { // The first guest replaces the bot, which does not return.
		assert.NotNil(t, s.enterRace(t, guest, alone.GetId(), false).GetStartTime(), "by its link, %d bots", bots)
		assert.Nil(t, s.leaveRace(t, guest, alone.GetId(), "").GetStartTime())
	}
	clock.Pass(40 * time.Second)
	assert.False(t, listed(alone.GetId()), "fay does not watch it")
	_, err = s.WatchChallenge(fay.ctx, &pb.WatchChallengeRequest{ChallengeId: alone.GetId()})
	require.NoError(t, err)
	waittest.Until(t, "fay's race is listed again", func() bool { return listed(alone.GetId()) })
}

// Ensure that a race closes and reveals its seed as soon as all its attempts are over, that all
// entrants who then ask for another one get the same, and that no other player can create it.
func TestRace_Again(t *testing.T) {
	t.Parallel()
	s, clock := startAt(t, 12)
	ada, bob, eve := s.player(t), s.player(t), s.player(t)
	first := s.challenge(t, ada, &pb.CreateChallengeRequest{Kind: race, Variant: "classic", Limit: durationpb.New(time.Hour), Private: true}).GetId()
	after := func(id string) *pb.CreateChallengeRequest {
		return &pb.CreateChallengeRequest{Kind: race, PreviousChallengeId: id, RequestId: newID()}
	}
	play := func(id string) {
		s.enterRace(t, bob, id, true)
		c := s.enterRace(t, ada, id, true)
		closes := c.GetCloseTime().AsTime()
		clock.PassTo(c.GetOpenTime().AsTime())
		for i, p := range []player{ada, bob} {
			assert.Equal(t, challengeOpen, s.readChallenge(t, ada, id).GetChallenge().GetStatus(), "%d are playing", 2-i)
			s.resign(t, p, s.attempt(t, p, id).GetId())
		}
		waittest.Until(t, "the race is closed", func() bool {
			c = s.readChallenge(t, ada, id).GetChallenge()
			return c.GetStatus() == challengeOver
		})
		assert.Len(t, c.GetSeed(), 32)
		assert.True(t, c.GetCloseTime().AsTime().Before(closes))
	}
	s.refuses(t, ada.ctx, after(first), pb.ReasonChallengeNotOpen)
	play(first)
	s.refuses(t, eve.ctx, after(first), pb.ReasonNotEntered)
	c := s.challenge(t, ada, after(first))
	second := c.GetId()
	clock.Pass(25 * time.Hour) // Other races that wait have expired.
	again := s.challenge(t, bob, after(first))
	assert.Equal(t, second, again.GetId())
	assert.Equal(t, c.GetSeedCommitment(), again.GetSeedCommitment())
	assert.NotEqual(t, first, second)
	assert.Equal(t, "classic", c.GetVariant())
	assert.Equal(t, time.Hour, c.GetLimit().AsDuration())
	assert.True(t, c.GetPrivate())
	assert.Equal(t, raceWaiting, c.GetStatus())
	play(second)
	third := s.challenge(t, bob, after(first))
	assert.Equal(t, raceWaiting, third.GetStatus(), "the second race is closed")
	assert.Equal(t, third.GetId(), s.challenge(t, ada, after(second)).GetId())
	ignored := after(second)
	ignored.RequestId = "ignored"
	assert.Equal(t, third.GetId(), s.challenge(t, ada, ignored).GetId())
	for _, change := range []func(*pb.CreateChallengeRequest){
		func(r *pb.CreateChallengeRequest) { r.Kind = link },
		func(r *pb.CreateChallengeRequest) { r.Variant = "classic" },
		func(r *pb.CreateChallengeRequest) { r.Limit = durationpb.New(time.Minute) },
		func(r *pb.CreateChallengeRequest) { r.GameId = newID() },
	} {
		request := after(first)
		change(request)
		s.refuses(t, ada.ctx, request, "previous_challenge_id")
	}
}

// Ensure that the request_id of a race that has expired cannot create another one for the same attempts, not
// even by a second call, and that the refused race is not listed for others.
func TestRace_Expired(t *testing.T) {
	t.Parallel()
	s, clock := startAt(t, 12)
	ada, request := s.player(t), shortRace()
	request.RequestId = newID()
	s.challenge(t, ada, request)
	clock.Pass(25 * time.Hour)
	for range 2 {
		s.refuses(t, ada.ctx, request, "request_id")
	}
	listed, err := s.ListChallenges(t.Context(), &pb.ListChallengesRequest{Kind: race})
	require.NoError(t, err)
	assert.Empty(t, listed.GetChallenges())
}

// Ensure that the race after one against bots has the same bots, and that the one that stood in for a
// player leaves that race, too, when a player comes.
func TestRace_AgainWithBots(t *testing.T) {
	t.Parallel()
	s, clock := startAt(t, 12)
	ada, bob := s.player(t), s.player(t)
	bots := func(c *pb.Challenge) (names []string) {
		for _, e := range c.GetEntrants() {
			if e.GetBot() != "" {
				assert.True(t, e.GetReady())
				names = append(names, e.GetBot())
			}
		}
		return names
	}
	first := s.raceNow(t, ada).GetId()
	s.addBot(t, ada, &pb.JoinChallengeRequest{ChallengeId: first, Bot: "rote"})
	clock.PassTo(s.enterRace(t, ada, first, true).GetOpenTime().AsTime())
	next := s.challenge(t, ada, &pb.CreateChallengeRequest{Kind: race, PreviousChallengeId: first})
	assert.Equal(t, []string{"greedy", "rote"}, bots(next))
	assert.Equal(t, []string{"rote"}, bots(s.enterRace(t, bob, next.GetId(), false)))
	assert.Equal(t, raceWaiting, s.enterRace(t, bob, next.GetId(), true).GetStatus(), "ada is not ready")
	assert.NotEqual(t, raceWaiting, s.enterRace(t, ada, next.GetId(), true).GetStatus())
}

// Ensure that only players who are allowed to change a roster can, that a repeated call that adds a bot
// returns the same bot, and that bots alone cannot race.
func TestRace_Roster(t *testing.T) {
	t.Parallel()
	s := serve(t)
	ada, bob, eve := s.player(t), s.player(t), s.player(t)
	id := s.challenge(t, ada, shortRace()).GetId()
	bot := func(p player, name string) error {
		_, err := s.JoinChallenge(p.ctx, &pb.JoinChallengeRequest{ChallengeId: id, Bot: name})
		return err
	}
	assert.Equal(t, raceWaiting, s.enterRace(t, ada, id, true).GetStatus(), "a single entrant cannot start")
	s.enterRace(t, ada, id, false)
	s.refuses(t, bob.ctx, &pb.StartChallengeRequest{ChallengeId: id}, pb.ReasonNotCreator)
	wantReason(t, bot(bob, "greedy"), pb.ReasonNotCreator)
	wantField(t, bot(ada, "nobody"), "bot")
	// A request_id may be used again for another bot, also after the first one has left.
	request := &pb.JoinChallengeRequest{ChallengeId: id, Bot: "rote", RequestId: newID()}
	first := s.addBot(t, ada, request)
	same(t, first, s.addBot(t, ada, request))
	other := s.addBot(t, ada, &pb.JoinChallengeRequest{ChallengeId: id, Bot: "greedy", RequestId: request.GetRequestId()})
	assert.Len(t, s.leaveRace(t, ada, id, other.GetGameId()).GetEntrants(), 2)
	entered := entrantOf(s.enterRace(t, bob, id, false), bob)
	for range 5 {
		require.NoError(t, bot(ada, "random"))
	}
	wantReason(t, bot(ada, "random"), pb.ReasonChallengeFull)
	s.refuses(t, eve.ctx, &pb.JoinChallengeRequest{ChallengeId: id}, pb.ReasonChallengeFull)
	s.refuses(t, bob.ctx, &pb.LeaveChallengeRequest{ChallengeId: id, GameId: first.GetGameId()}, pb.ReasonNotCreator)
	s.leaveRace(t, ada, id, first.GetGameId())
	s.leaveRace(t, eve, id, "")
	for _, other := range []string{s.game(t, ada, "classic").GetId(), entered.GetGameId()} {
		assert.Len(t, s.leaveRace(t, ada, id, other).GetEntrants(), 7, "it is not the game of a bot")
	}
	s.enterRace(t, bob, id, true)
	assert.NotNil(t, s.leaveRace(t, ada, id, "").GetOpenTime(), "everyone else is ready")

	bots, _ := s.raceWithBots(t, ada, 2)
	s.leaveRace(t, ada, bots, "")
	s.refuses(t, ada.ctx, &pb.StartChallengeRequest{ChallengeId: bots}, pb.ReasonTooFewEntrants)
}

// Ensure that bots which a client adds to a race and removes again count as new games, and that those
// which a full race refuses do not.
func TestRace_TooManyBots(t *testing.T) {
	t.Parallel()
	s := serve(t, patientBots, func(c *server.Config) { c.Limits[limits.NewGamesPerMinute] = 8 })
	eve := s.player(t)
	race, bots := s.raceWithBots(t, eve, 7)
	s.refuses(t, eve.ctx, &pb.JoinChallengeRequest{ChallengeId: race, Bot: "greedy"}, pb.ReasonChallengeFull)
	for _, bot := range bots {
		s.leaveRace(t, eve, race, bot)
	}
	s.refuses(t, eve.ctx, &pb.JoinChallengeRequest{ChallengeId: race, Bot: "greedy"}, pb.ReasonRateLimited)
}

// snapshotReader reads the stream of a challenge. Recv returns io.EOF if the server announced that
// the stream has ended.
type snapshotReader interface {
	Recv() (*pb.WatchChallengeResponse, error)
}

// watchRace opens the stream of a challenge after the snapshot with the given etag.
func (s *testServer) watchRace(t testing.TB, id, etag string) snapshotReader {
	t.Helper()
	if s.protocol == sse {
		return snapshots{s.events(t, s.anyone, "/c/"+id+"/events", "Last-Event-ID: "+etag)}
	}
	stream, err := s.WatchChallenge(s.anyone, &pb.WatchChallengeRequest{ChallengeId: id, Etag: etag})
	require.NoError(t, err)
	return stream
}

// watchRaces opens the stream of a challenge through every door.
func (s *testServer) watchRaces(t testing.TB, id, etag string) map[string]snapshotReader {
	t.Helper()
	all := map[string]snapshotReader{}
	for _, door := range doors {
		all[door] = s.over(t, door).watchRace(t, id, etag)
	}
	return all
}

// until reads snapshots until it finds one for which is returns true, and returns that snapshot.
func until(t testing.TB, stream snapshotReader, is func(m *pb.WatchChallengeResponse) bool) *pb.WatchChallengeResponse {
	t.Helper()
	for {
		m, err := stream.Recv()
		require.NoError(t, err)
		if is(m) {
			return m
		}
	}
}

func inStatus(status pb.ChallengeStatus) func(*pb.WatchChallengeResponse) bool {
	return func(m *pb.WatchChallengeResponse) bool { return m.GetChallenge().GetStatus() == status }
}

// Ensure that over every protocol a stream follows a race from the roster through the points to the
// end, when it ends, that it resumes after the client's last snapshot, and that it shows no seed
// before the end.
func TestWatchChallenge(t *testing.T) {
	t.Parallel()
	s, clock := startAt(t, 12)
	ada, bob := s.player(t), s.player(t)
	id := s.challenge(t, ada, &pb.CreateChallengeRequest{Kind: race, Variant: "classic", Limit: durationpb.New(time.Hour)}).GetId()
	streams := s.watchRaces(t, id, "")
	etag := ""
	for door, stream := range streams {
		m, err := stream.Recv()
		require.NoError(t, err, door)
		assert.Equal(t, raceWaiting, m.GetChallenge().GetStatus(), door)
		assert.Len(t, m.GetStandings(), 1, door)
		require.NotEmpty(t, m.GetEtag(), door)
		etag = m.GetEtag()
	}
	resumed := s.watchRaces(t, id, etag)
	inQuery := snapshots{s.events(t, s.anyone, "/c/"+id+"/events?etag="+etag)}
	resumed["the query, as by a page"] = inQuery
	s.enterRace(t, bob, id, true)
	for door, stream := range resumed {
		m, err := stream.Recv()
		require.NoError(t, err, door)
		assert.Len(t, m.GetChallenge().GetEntrants(), 2, "%s: the client already has the first snapshot", door)
	}
	opens := s.enterRace(t, ada, id, true).GetOpenTime().AsTime()
	for _, stream := range streams {
		until(t, stream, inStatus(raceScheduled))
	}
	clock.PassTo(opens)
	for _, stream := range streams {
		m := until(t, stream, inStatus(challengeOpen))
		assert.False(t, m.GetNow().AsTime().Before(opens))
	}
	mine := s.attempt(t, ada, id)
	s.moves(t, ada, mine, 8)
	for door, stream := range streams {
		m := until(t, stream, func(m *pb.WatchChallengeResponse) bool { return m.GetStandings()[0].GetScore() > 0 })
		assert.Equal(t, ada.GetId(), m.GetStandings()[0].GetPlayer().GetId(), door)
		assert.EqualValues(t, 1, m.GetStandings()[0].GetRank(), door)
	}
	s.resign(t, ada, mine.GetId())
	s.resign(t, bob, s.attempt(t, bob, id).GetId())
	final := ""
	for door, stream := range streams {
		last := until(t, stream, inStatus(challengeOver))
		for {
			m, err := stream.Recv()
			if err != nil {
				require.ErrorIs(t, err, io.EOF, door)
				break
			}
			last = m
		}
		assert.Len(t, last.GetChallenge().GetSeed(), 32, door)
		require.Len(t, last.GetStandings(), 2, door)
		assert.True(t, last.GetStandings()[0].GetFinished() && last.GetStandings()[1].GetFinished(), door)
		assert.True(t, final == "" || final == last.GetEtag(), "%s: equal content has an equal etag", door)
		final = last.GetEtag()
	}
	for door, stream := range s.watchRaces(t, id, final) {
		_, err := stream.Recv()
		assert.ErrorIs(t, err, io.EOF, door)
	}
}

// Ensure that a race can be started and watched if an entrant's game is in quarantine, which is logged as an
// error only by the server that found the damage.
func TestWatchChallenge_Damaged(t *testing.T) {
	t.Parallel()
	s := start(t, newStore(t, true))
	ada, bob := s.player(t), s.player(t)
	id := s.challenge(t, ada, shortRace()).GetId()
	game := entrantOf(s.enterRace(t, bob, id, false), bob).GetGameId()
	require.NoError(t, operator(t, s.store).Quarantine(t.Context(), game))
	s.refuses(t, bob.ctx, &pb.GetGameRequest{GameId: game}, pb.ReasonGameDamaged)
	s.startRace(t, ada, id)
	m, err := s.watchRace(t, id, "").Recv()
	require.NoError(t, err)
	require.Len(t, m.GetStandings(), 2)
	for n, line := range s.standings(t, id) {
		same(t, line, m.GetStandings()[n])
	}
}

// Ensure that watchers of one server see what happens on another, also if their stream resumes there,
// and that standings omit a player whom an operator has hidden.
func TestWatchChallenge_OtherServer(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	ada, bob := a.player(t), a.player(t)
	id := a.challenge(t, ada, &pb.CreateChallengeRequest{Kind: link, Variant: "classic"}).GetId()
	total := func(n int32) func(*pb.WatchChallengeResponse) bool {
		return func(m *pb.WatchChallengeResponse) bool { return m.GetTotal() == n }
	}
	here, there := a.watchRace(t, id, ""), b.watchRace(t, id, "")
	until(t, here, total(0))
	until(t, there, total(0))
	g := a.attempt(t, ada, id)
	_, err := b.GetGame(b.with(ada.token), &pb.GetGameRequest{GameId: g.GetId()})
	require.NoError(t, err)
	end := a.score(t, ada, g)
	m := until(t, here, total(1))
	resumed := b.watchRace(t, id, m.GetEtag())
	m = until(t, there, total(1))
	assert.Equal(t, end.GetResult().GetScores()[0], m.GetStandings()[0].GetScore())
	a.score(t, bob, a.attempt(t, bob, id))
	until(t, resumed, total(2))
	m = until(t, there, total(2))
	assert.Equal(t, m.GetEtag(), until(t, here, total(2)).GetEtag(), "equal content has an equal etag on every server")

	_, _, err = operator(t, a.store).Hide(t.Context(), ada.GetId())
	require.NoError(t, err)
	listed, err := b.ListChallenges(b.anyone, &pb.ListChallengesRequest{})
	require.NoError(t, err)
	assert.Empty(t, listed.GetChallenges(), "the creator is hidden")
	b.refuses(t, b.with(ada.token), &pb.ListStandingsRequest{ChallengeId: id, PlayerId: "me"}, pb.ReasonNoScore)
}
