package app

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that each route makes the right calls, and opens the right page or says why it does not. A
// guest can watch, but not play.
func TestModel_Open(t *testing.T) {
	t.Parallel()
	const play, contest, watching = "*play.page", "*challenge.page", "*watch.page"
	race, waiting, daily := tuitest.Race(), tuitest.WaitingRace(), tuitest.DailyGame()
	unknown := &pb.Challenge{Id: "other", Kind: pb.ChallengeKind_CHALLENGE_KIND_RACE, Status: pb.ChallengeStatus_CHALLENGE_STATUS_WAITING}
	for name, tt := range map[string]struct {
		route ui.Route
		guest bool
		first bool // whether the user has no account yet
		begun bool // whether the user has begun an attempt
		found *pb.Challenge
		fails error // the error of Attempt and Game
		calls []string
		page  string // the type of the page that opens, or "" for a notice
	}{
		"daily":             {route: ui.Route{Daily: &pb.DailyRequest{}}, found: daily, calls: []string{"daily"}, page: contest},
		"daily begun":       {route: ui.Route{Daily: &pb.DailyRequest{}}, found: daily, begun: true, calls: []string{"daily", "attempt"}, page: play},
		"daily of a guest":  {route: ui.Route{Daily: &pb.DailyRequest{}}, guest: true},
		"no daily":          {route: ui.Route{Daily: &pb.DailyRequest{}}, calls: []string{"daily"}},
		"link":              {route: ui.Route{Enter: daily.GetId()}, found: daily, calls: []string{"challenge", "attempt"}, page: play},
		"closed":            {route: ui.Route{Enter: daily.GetId()}, found: daily, fails: client.ErrChallengeClosed, calls: []string{"challenge", "attempt"}, page: contest},
		"refused":           {route: ui.Route{Enter: daily.GetId()}, found: daily, fails: client.ErrRateLimited, calls: []string{"challenge", "attempt"}},
		"race":              {route: ui.Route{Enter: race.GetId()}, found: race, calls: []string{"challenge"}, page: contest},
		"race of a guest":   {route: ui.Route{Enter: race.GetId()}, guest: true, page: contest},
		"race of the user":  {route: ui.Route{Enter: race.GetId()}, found: waiting, calls: []string{"challenge"}, page: contest},
		"race to join":      {route: ui.Route{Enter: "other"}, found: unknown, calls: []string{"challenge", "join ready=false"}, page: contest},
		"new":               {route: ui.Route{NewChallenge: &ui.NewChallenge{}}, found: race, calls: []string{"new"}, page: contest},
		"new, by another":   {route: ui.Route{NewChallenge: &ui.NewChallenge{}}, found: unknown, calls: []string{"new", "join ready=false"}, page: contest},
		"view only":         {route: ui.Route{Challenge: race.GetId()}, page: contest},
		"missing challenge": {route: ui.Route{Enter: "none"}, calls: []string{"challenge"}},
		"game":              {route: ui.Route{Play: tuitest.GameID}, calls: []string{"game"}, page: play},
		"missing game":      {route: ui.Route{Play: tuitest.GameID}, fails: client.ErrGameNotFound, calls: []string{"game"}},
		"game of another":   {route: ui.Route{Join: tuitest.GameID}, calls: []string{"join game"}, page: watching},
		"seat of a guest":   {route: ui.Route{Join: tuitest.GameID}, guest: true},
		"the first game":    {route: ui.Route{New: &ui.NewGame{}}, first: true, calls: []string{"sign in", "new game"}, page: play},
		"TV":                {route: ui.Route{TV: true}, page: watching},
		"wall":              {route: ui.Route{Wall: true}, page: "*watch.wall"},
		"lobby":             {page: "*lobby.page"},
	} {
		t.Log(name)
		var calls []string
		attempt := func(call, id string) (*pb.Game, error) {
			calls = append(calls, call)
			g := tuitest.Game(tuitest.Board(4, 4))
			g.ChallengeId = id
			return g, tt.fails
		}
		m := newModel(t, newFakePage(t.Context()))
		m.env.Server = &tuitest.Server{
			OnGame:    func() (*pb.Game, error) { return attempt("game", "") },
			OnNewGame: func(string, client.GameOptions) (*pb.Game, error) { return attempt("new game", "") },
			OnJoin: func(*int32) (*pb.Game, error) {
				g, err := attempt("join game", "")
				g.Seats[0].GetPlayer().Id = "bob"
				return g, err
			},
			OnChallenge: func(r *pb.GetChallengeRequest) (*pb.GetChallengeResponse, error) {
				if calls = append(calls, "challenge"); r.GetDaily() != nil {
					calls[0] = "daily"
				}
				if tt.found == nil {
					return nil, client.ErrChallengeNotFound
				}
				reply := &pb.GetChallengeResponse{Challenge: tt.found}
				if tt.begun {
					reply.Attempt = &pb.Attempt{}
				}
				return reply, nil
			},
			OnAttempt: func(id string) (*pb.Game, error) { return attempt("attempt", id) },
			OnRace: func(call string) error {
				calls = append(calls, call)
				return client.ErrChallengeStarted
			},
			OnNewChallenge: func() (*pb.Challenge, error) {
				calls = append(calls, "new")
				return tt.found, nil
			},
		}
		if tt.guest {
			m.env.Me, m.env.WatchOnly = "", "Add a key to play."
		}
		if tt.first {
			m.env.Me = ""
			m.env.SignIn = func(context.Context) (string, error) {
				calls = append(calls, "sign in")
				return tuitest.Me, nil
			}
		}
		_, cmd := m.Update(ui.OpenMsg{Route: tt.route})
		if tt.calls != nil {
			require.NotNil(t, cmd)
			m.Update(cmd())
		}
		assert.Equal(t, tt.calls, calls)
		if tt.page == "" {
			assert.Len(t, m.pages, 1)
			assert.NotEmpty(t, m.top().Own().Notice)
			assert.Contains(t, m.View().Content, m.top().Own().Notice)
			continue
		}
		require.Len(t, m.pages, 2)
		assert.Equal(t, tt.page, fmt.Sprintf("%T", m.top()))
		created := tt.route.NewChallenge != nil
		assert.Equal(t, created, m.top().Own().Notice == "Press y to copy the invitation.")
	}
}

// Ensure that the rules of a variant cover the page until a key, but no dialog that the user has opened since,
// that the page does not withdraw them, and that it says why there are none.
func TestRules(t *testing.T) {
	t.Parallel()
	page := newFakePage(t.Context())
	m := newModel(t, page)
	_, cmd := m.Update(ui.OpenMsg{Route: ui.Route{Rules: "classic"}})
	m.Update(cmd())
	page.Withdraw()
	assert.Contains(t, m.View().Content, "Two equal tiles that meet become one", "the user reads it")
	m.Update(tuitest.Key("q"))
	assert.Nil(t, page.Dialog)
	question := &ui.Question{Title: "Sure?"}
	_, cmd = m.Update(ui.OpenMsg{Route: ui.Route{Rules: "classic"}})
	page.Ask(question)
	m.Update(cmd())
	assert.Equal(t, question, page.Dialog)
	page.Withdraw()
	assert.Nil(t, page.Dialog)
	_, cmd = m.Update(ui.OpenMsg{Route: ui.Route{Rules: "unknown"}})
	m.Update(cmd())
	assert.Contains(t, m.View().Content, "The server has no such variant.")
	assert.Empty(t, page.got)
}
