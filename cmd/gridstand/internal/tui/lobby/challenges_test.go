package lobby

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// openWith opens the lobby on a server that has races and a daily game. a is the user's
// attempt at the daily game, or nil.
func openWith(t *testing.T, guest bool, a *pb.Attempt, races ...*pb.Challenge) *tuitest.Driver {
	t.Helper()
	p, d := open(t, func(env *ui.Env) {
		if guest {
			env.Me, env.WatchOnly = "", "Add a key to play."
		}
		server := env.Server.(*tuitest.Server)
		inner := server.OnLists
		server.OnLists = func(me, variant string, w pb.Window) (ui.Lists, error) {
			l, err := inner(me, variant, w)
			l.Races = races
			return l, err
		}
		server.OnChallenge = func(*pb.GetChallengeRequest) (*pb.GetChallengeResponse, error) {
			return &pb.GetChallengeResponse{Challenge: tuitest.DailyGame(), Attempt: a}, nil
		}
	})
	d.Until("the daily game", func() bool { return p.daily != nil })
	return d
}

// Ensure that the lobby shows the user's result in the daily game, and that d plays it or shows its standings
// to a guest.
func TestDaily(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		guest bool
		a     *pb.Attempt
		want  string
		route ui.Route
	}{
		"new":      {want: `d play .* the same tiles for everyone  next in`, route: ui.Route{Daily: &pb.DailyRequest{Variant: "classic"}}},
		"running":  {a: &pb.Attempt{Score: 1024}, want: `d continue .* 1,024 points so far  next in`, route: ui.Route{Daily: &pb.DailyRequest{Variant: "classic"}}},
		"finished": {a: &pb.Attempt{Status: pb.GameStatus_GAME_STATUS_FINISHED, Score: 12345, DayStreak: 5}, want: `d result .* 12,345 points  next in`, route: ui.Route{Daily: &pb.DailyRequest{Variant: "classic"}}},
		"guest":    {guest: true, want: "d ranking", route: ui.Route{Challenge: tuitest.DailyGame().GetId()}},
	} {
		d := openWith(t, tt.guest, tt.a)
		assert.Regexp(t, tt.want, d.Screen(), name)
		d.Press("d")
		assert.Equal(t, ui.OpenMsg{Route: tt.route}, d.Leave(), name)
	}
}

// Ensure that races are listed among the live games and can be joined, reopened or watched,
// and that closed races and the attempts at listed races are not listed.
func TestRaces(t *testing.T) {
	t.Parallel()
	joinable, mine, closed := tuitest.WaitingRace(), tuitest.WaitingRace(), tuitest.Race()
	joinable.Entrants = joinable.GetEntrants()[1:]
	mine.Id, mine.CreateTime = "mine", timestamppb.New(tuitest.Noon.Add(-time.Second))
	closed.Id, closed.Status = "closed", pb.ChallengeStatus_CHALLENGE_STATUS_CLOSED
	for name, tt := range map[string]struct {
		guest bool
		keys  []string
		want  ui.Route
	}{
		"join":        {keys: []string{"down", "enter"}, want: ui.Route{Enter: tuitest.ChallengeID}},
		"reopen":      {keys: []string{"enter"}, want: ui.Route{Enter: "mine"}},
		"watch":       {guest: true, keys: []string{"down", "enter"}, want: ui.Route{Challenge: tuitest.ChallengeID}},
		"take a seat": {keys: []string{"down", "down", "enter"}, want: ui.Route{Join: waitingID}},
	} {
		d := openWith(t, tt.guest, nil, joinable, mine, closed)
		d.Press(tt.keys...)
		assert.Equal(t, ui.OpenMsg{Route: tt.want}, d.Leave(), name)
	}

	d := openWith(t, false, nil, joinable)
	assert.Contains(t, d.Screen(), "places left")
	assert.NotContains(t, d.Screen(), "0 players here", "the lobby does not know how many")

	attempt := tuitest.Game(tuitest.Board(4, 4))
	attempt.ChallengeId = tuitest.ChallengeID
	rows := races([]*pb.Challenge{joinable, closed}, nil)
	require.Len(t, rows, 1)
	live := []*pb.Game{attempt}
	assert.Empty(t, withoutAttempts(live, rows))
	assert.Equal(t, []*pb.Game{attempt}, live, "the lists still have the attempt")
	running := raceGame(tuitest.Race(), []*pb.Game{attempt, tuitest.Game(tuitest.Board(4, 4))})
	assert.Equal(t, pb.GameStatus_GAME_STATUS_ACTIVE, running.GetStatus())
	assert.Len(t, running.GetSeats(), 3)
	assert.True(t, moving(running, tuitest.Noon), "its players move, though it opened 40 s ago")
	assert.Equal(t, attempt.GetPosition().GetScores()[0], gamestate.HighestScore(running))
	assert.Equal(t, attempt.GetPosition().GetMoveCount(), running.GetPosition().GetMoveCount(), "else the preview says that it has none")
	assert.False(t, moving(raceGame(tuitest.Race(), nil), tuitest.Noon))
	lobby := &page{env: tuitest.Env(nil), lists: ui.Lists{Races: []*pb.Challenge{tuitest.Race()}}}
	idle := other(idleID, "vt100", gamestate.LiveTime, 512)
	assert.Equal(t, "idle", lobby.mineState(idle).Text)
	idle.Private = true
	assert.Equal(t, "private, idle", lobby.mineState(idle).Text)
	assert.Equal(t, "race, 2:20 left", lobby.mineState(attempt).Text)
	attempt.ChallengeId = tuitest.DailyGame().GetId()
	assert.Equal(t, "attempt", lobby.mineState(attempt).Text)
}
