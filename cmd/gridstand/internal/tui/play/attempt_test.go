package play

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// startAttempt opens the page of the user's attempt at a challenge.
func startAttempt(t *testing.T, server *tuitest.Server, c *pb.Challenge, a *pb.Attempt) (*page, *tuitest.Driver) {
	t.Helper()
	server.OnChallenge = func(*pb.GetChallengeRequest) (*pb.GetChallengeResponse, error) {
		return &pb.GetChallengeResponse{Challenge: c, Attempt: a, Now: timestamppb.New(tuitest.Noon)}, nil
	}
	server.Contest = tuitest.NewChallengeStream(tuitest.Snapshot(c, tuitest.Noon, tuitest.RaceStandings()...))
	g := tuitest.Game(tuitest.Board(4, 4))
	g.ChallengeId = c.GetId()
	p, d := start(t, tuitest.Env(server), g)
	d.Until("the challenge", func() bool { return p.contest.Challenge != nil && (!p.contest.Race() || p.contest.Lines != nil) })
	return p, d
}

func end(server *tuitest.Server, d *tuitest.Driver, p *page) {
	server.Stream(tuitest.GameID).Push(client.Update{Event: tuitest.Ended(614, pb.Result_REASON_NO_MOVES)})
	d.Until("the end", p.Over)
}

// Ensure that a race shows the newest of the other boards, that a user who gives up keeps the points, and that the
// link and the result can be copied.
func TestAttempt_Race(t *testing.T) {
	t.Parallel()
	bob := tuitest.Game(tuitest.Board(4, 4))
	bob.Id = "bobbobbobbobbobbobbobbobbo"
	bob.GetPosition().GetTwenty48().Tiles[0] = 8192
	server := &tuitest.Server{}
	server.OnResign = func() (*pb.Event, error) { return nil, client.ErrGameDamaged }
	server.Stream(bob.GetId()).Push(client.Update{Game: bob})
	p, d := startAttempt(t, server, tuitest.Race(), nil)
	d.Until("bob's board", func() bool { return strings.Contains(d.Screen(), "8192") })

	d.Env.Site = "https://play.example"
	d.Press("y").Shows("Sent to the terminal's clipboard:\n https://play.example/c/" + tuitest.ChallengeID)
	d.Env.Site = ""
	d.Press("u").Shows("Moves of an attempt cannot be undone.")
	d.Press("X")
	assert.Empty(t, d.Left)
	d.Press("n").Shows("Your 12,340 points are kept")
	d.Press("y")
	d.Until("the refusal", func() bool { return strings.Contains(d.Screen(), "! "+client.ErrGameDamaged.Error()) })
	server.OnResign = func() (*pb.Event, error) { return tuitest.Ended(614, pb.Result_REASON_RESIGNED), nil }
	d.Press("n", "y")
	d.Until("the end", p.Over)
	assert.Contains(t, d.Screen(), "2nd of 3 so far")
	d.Shows("c result", "s all boards")
	d.Env.Width, d.Env.Height = 50, 18
	d.Shows("12,340 points", "2nd of 3 so far", "1 bob", "2 ada (you)")
	d.Env.Width, d.Env.Height = 80, 24
	d.Press("c").Shows("Sent to the terminal's clipboard:\n Gridstand race of 3 min: 12,340 points, 2nd of 3")
	d.Press("y").Shows("Sent to the terminal's clipboard: gridstand join ")
	assert.Contains(t, p.share(), "Gridstand race of 3 min: 12,340 points, 2nd of 3\n")
	assert.Contains(t, p.share(), "gridstand join "+tuitest.ChallengeID)
	d.Press("n")
	assert.NotNil(t, d.Leave().(ui.ReplaceMsg).Route.NewChallenge)
	p.contest.CloseTime = timestamppb.New(tuitest.Noon)
	assert.NotContains(t, p.share()+d.Screen(), "gridstand join", "players can no longer join")
	assert.NotContains(t, d.Screen(), "Same score")
	p.contest.Lines[0].Score = 12340
	assert.Contains(t, d.Screen(), "A tie: the earlier one wins.")
	p.contest.Lines[1].Score = 12344
	p.contest.Lines[0].Score = 12344
	assert.NotContains(t, d.Screen(), "A tie", "a tie of two others")
	p.contest.Lines[0].Rank, p.contest.Lines[1].Rank = 2, 1
	assert.Contains(t, d.Screen(), "You win")
	p.contest.Lines[0].Score, p.contest.Lines[1].Score = 0, 0
	assert.NotContains(t, strings.ToLower(d.Screen()), "win", "a race without points")
}

// Ensure that no move is sent after the time has run out, and that a move that reaches the
// server too late is not retried.
func TestAttempt_TimeOver(t *testing.T) {
	t.Parallel()
	moves := 0
	server := &tuitest.Server{OnMove: func(context.Context, int32, client.Move, bool) (*pb.Event, error) {
		moves++
		return nil, client.ErrGameOver
	}}
	server.OnGame = func() (*pb.Game, error) { return tuitest.Game(tuitest.Board(4, 4)), nil }
	now := tuitest.Noon
	p, d := startAttempt(t, server, tuitest.Race(), nil)
	d.Env.Clock = func() time.Time { return now }
	d.Press("left")
	d.Until("the refusal", func() bool { return p.inFlight == nil && len(p.Notice) > 0 })
	assert.Equal(t, 1, moves, "the server closed the race a little earlier")
	now = tuitest.Noon.Add(140 * time.Second)
	d.Press("left").Shows("Time is up.")
	assert.Equal(t, 1, moves)
}

// Ensure that the result of a daily game shows the user's place once it is in the standings, also
// without points, and that s opens the standings.
func TestAttempt_Daily(t *testing.T) {
	t.Parallel()
	for score, rank := range map[int32]int32{12340: 2, 0: 41} {
		synctest.Test(t, func(t *testing.T) {
			line := tuitest.RaceStandings()[1]
			line.Rank, line.Score = rank, score
			looks := 0
			server := &tuitest.Server{OnStandings: func(*pb.ListStandingsRequest) (*pb.ListStandingsResponse, error) {
				if looks++; looks == 1 {
					return nil, client.ErrNoScore
				}
				return &pb.ListStandingsResponse{Standings: []*pb.Standing{line}, Total: 41}, nil
			}}
			p, d := startAttempt(t, server, tuitest.DailyGame(), &pb.Attempt{DayStreak: 5})
			assert.Contains(t, d.Screen(), "12:00:00 left")
			assert.NotContains(t, d.Screen(), "Others watch")
			over := tuitest.Ended(614, pb.Result_REASON_RESIGNED)
			over.GetPosition().Scores, over.GetResult().Scores = []int32{score}, []int32{score}
			server.Stream(tuitest.GameID).Push(client.Update{Event: over})
			place := describe.Place(rank, 41)
			d.Until("the place", func() bool { return strings.Contains(d.Screen(), place) })
			assert.Contains(t, p.share(), "Gridstand daily 2026-11-20: "+describe.Comma(score)+" points, "+place+", 5 days in a row\n")
			d.Press("n", "b", "s")
			assert.Equal(t, ui.OpenMsg{Route: ui.Route{Challenge: p.contest.ID}}, d.Leave())
		})
	}
}

// Ensure that a rematch can be created from the result of an ordinary game, that pressing
// the key again requests the same rematch, and that the attempt at a rematch shows the
// score to beat.
func TestAttempt_Rematch(t *testing.T) {
	t.Parallel()
	server := &tuitest.Server{}
	p, d := start(t, tuitest.Env(server), tuitest.Game(tuitest.Board(4, 4)))
	d.Press("b")
	assert.Empty(t, d.Left)
	end(server, d, p)
	d.Press("b", "b")
	r := d.Leave().(ui.OpenMsg).Route.NewChallenge.Request
	assert.Equal(t, pb.ChallengeKind_CHALLENGE_KIND_REMATCH, r.GetKind())
	assert.Equal(t, tuitest.GameID, r.GetGameId())
	assert.NotEmpty(t, r.GetRequestId())
	assert.Equal(t, r.GetRequestId(), d.Leave().(ui.OpenMsg).Route.NewChallenge.Request.GetRequestId())

	c := tuitest.Race()
	c.Kind, c.Target = pb.ChallengeKind_CHALLENGE_KIND_REMATCH, &pb.Target{Player: &pb.Player{Name: "bob"}, Score: 12344}
	server = &tuitest.Server{}
	p, d = startAttempt(t, server, c, nil)
	d.Shows("TO BEAT", "12,344")
	end(server, d, p)
	assert.Contains(t, d.Screen(), "4 points behind bob")
	p.Game.GetPosition().Scores = []int32{12345}
	assert.Contains(t, d.Screen(), "beat bob by 1")
}
