package app

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that each route to a challenge makes the right calls, and opens the game or the
// page of the challenge.
func TestModel_Challenges(t *testing.T) {
	t.Parallel()
	race, waiting, daily := tuitest.Race(), tuitest.WaitingRace(), tuitest.DailyGame()
	unknown := &pb.Challenge{Id: "other", Kind: pb.ChallengeKind_CHALLENGE_KIND_RACE, Status: pb.ChallengeStatus_CHALLENGE_STATUS_WAITING}
	for name, tt := range map[string]struct {
		route   ui.Route
		found   *pb.Challenge
		attempt error // the error that Attempt returns
		calls   []string
		page    string // the type of the page that opens, or "" for a notice
	}{
		"daily":             {route: ui.Route{Daily: &pb.DailyRequest{}}, found: daily, calls: []string{"daily", "attempt"}, page: "*play.page"},
		"no daily":          {route: ui.Route{Daily: &pb.DailyRequest{}}, calls: []string{"daily"}},
		"link":              {route: ui.Route{Enter: daily.GetId()}, found: daily, calls: []string{"challenge", "attempt"}, page: "*play.page"},
		"closed":            {route: ui.Route{Enter: daily.GetId()}, found: daily, attempt: client.ErrChallengeClosed, calls: []string{"challenge", "attempt"}, page: "*challenge.page"},
		"refused":           {route: ui.Route{Enter: daily.GetId()}, found: daily, attempt: client.ErrTooManyGames, calls: []string{"challenge", "attempt"}},
		"race":              {route: ui.Route{Enter: race.GetId()}, found: race, calls: []string{"challenge"}, page: "*challenge.page"},
		"race of the user":  {route: ui.Route{Enter: race.GetId()}, found: waiting, calls: []string{"challenge"}, page: "*challenge.page"},
		"race to join":      {route: ui.Route{Enter: "other"}, found: unknown, calls: []string{"challenge", "join"}, page: "*challenge.page"},
		"new":               {route: ui.Route{NewChallenge: &ui.NewChallenge{}}, found: race, calls: []string{"new"}, page: "*challenge.page"},
		"new, by another":   {route: ui.Route{NewChallenge: &ui.NewChallenge{}}, found: unknown, calls: []string{"new", "join"}, page: "*challenge.page"},
		"view only":         {route: ui.Route{Challenge: race.GetId()}, page: "*challenge.page"},
		"missing challenge": {route: ui.Route{Enter: "none"}, calls: []string{"challenge"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls []string
			find := func(call string) (*pb.GetChallengeResponse, error) {
				calls = append(calls, call)
				if tt.found == nil {
					return nil, client.ErrChallengeNotFound
				}
				return &pb.GetChallengeResponse{Challenge: tt.found}, nil
			}
			m := newModel(t, newFakePage(t.Context()))
			m.env.Server = &tuitest.Server{OnChallenges: tuitest.OnChallenges{
				OnChallenge: func(string) (*pb.GetChallengeResponse, error) { return find("challenge") },
				OnDaily:     func(*pb.DailyRequest) (*pb.GetChallengeResponse, error) { return find("daily") },
				OnAttempt: func(id string) (*pb.Game, error) {
					calls = append(calls, "attempt")
					g := tuitest.Game(tuitest.Board(4, 4))
					g.ChallengeId = id
					return g, tt.attempt
				},
				OnJoinRace: func(*pb.JoinChallengeRequest) (*pb.Challenge, error) {
					calls = append(calls, "join")
					return nil, client.ErrChallengeStarted
				},
				OnNewChallenge: func(ui.NewChallenge) (*pb.Challenge, error) {
					calls = append(calls, "new")
					return tt.found, nil
				},
			}}
			_, cmd := m.Update(ui.OpenMsg{Route: tt.route})
			require.NotNil(t, cmd)
			if tt.calls != nil {
				m.Update(cmd())
			}
			assert.Equal(t, tt.calls, calls)
			if tt.page == "" {
				assert.Len(t, m.pages, 1)
				assert.NotEmpty(t, m.notice)
				return
			}
			require.Len(t, m.pages, 2)
			assert.Equal(t, tt.page, fmt.Sprintf("%T", m.top()))
		})
	}
}

// Ensure that a guest can watch a race, but cannot play the daily game.
func TestModel_ChallengesOfGuests(t *testing.T) {
	t.Parallel()
	m := newModel(t, newFakePage(t.Context()))
	m.env.Me, m.env.Guest = "", "Add a key to play."
	assert.Nil(t, send(t, m, ui.OpenMsg{Route: ui.Route{Daily: &pb.DailyRequest{}}}))
	assert.Contains(t, m.View().Content, "Add a key to play.")
	m.Update(ui.OpenMsg{Route: ui.Route{Enter: tuitest.ChallengeID}})
	assert.Len(t, m.pages, 2)
}
