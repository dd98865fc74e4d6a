package app

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/challenge"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/lobby"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/play"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/watch"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// target is the game that a route opens or, if there is no game to show, the id of its
// challenge.
type target struct {
	game      client.Game
	challenge string
}

// open opens the page of a route on top of the others or, unless old is nil, in place of the page that has
// these tasks and the pages above it. They stay if the route cannot be opened.
func (m *Model) open(r ui.Route, old *ui.Tasks) tea.Cmd {
	if r.Rules != "" {
		return m.rules(r.Rules)
	}
	if p := m.page(r); p != nil {
		return m.push(p, old)
	}
	return m.request(r, old)
}

// rules shows the rules of a variant over the current page, unless it has a dialog by then.
func (m *Model) rules(id string) tea.Cmd {
	own := m.top().Own()
	return ui.Call(own, m.env.Server.Variants, func(variants []*pb.Variant, err error) tea.Cmd {
		v := ui.Find(variants, func(v *pb.Variant) bool { return v.GetId() == id })
		if err == nil && v == nil {
			err = client.ErrVariantNotFound
		}
		switch {
		case err != nil:
			return own.Fail(err)
		case own.Dialog != nil: // The user has opened another one since.
			return nil
		}
		return own.Ask(lobby.Rules(v))
	})
}

// page returns the page of a route, or nil if the server has to be asked for it.
func (m *Model) page(r ui.Route) ui.Page {
	switch {
	case r.Challenge != "" || r.Enter != "" && m.env.WatchOnly != "":
		return challenge.New(m.ctx, m.env, cmp.Or(r.Challenge, r.Enter), true)
	case r.Play != "" || r.Join != "" || r.New != nil || r.Enter != "" || r.Daily != nil || r.NewChallenge != nil:
		return nil
	case r.TV || r.Wall || r.Follow != nil || len(r.Watch) > 0:
		return watch.New(m.ctx, m.env, r)
	default:
		return lobby.New(m.ctx, m.env)
	}
}

// openTimeout is the time limit for the requests that open a page: the client repeats some until the server answers.
const openTimeout = 15 * time.Second

// request fetches, creates or joins the game or challenge of a route. A user without an
// account plays as a guest, and a user who can only watch is told why. A page has one request at a time.
func (m *Model) request(r ui.Route, old *ui.Tasks) tea.Cmd {
	if m.env.WatchOnly != "" {
		return m.refused(errors.New(m.env.WatchOnly), m.env.WatchOnly)
	}
	from := m.tasks // before the first page
	if len(m.pages) > 0 {
		from = m.top().Own()
	}
	if from.Opening {
		return nil
	}
	from.Opening = true
	server := m.env.Server
	return ui.CallSignedIn(m.tasks, m.env, func(ctx context.Context, me string) (to target, err error) {
		ctx, end := context.WithTimeout(ctx, openTimeout)
		defer end()
		var c *pb.Challenge
		invited := false // The page of the challenge says what it is before the only attempt starts.
		switch {
		case r.New != nil:
			to.game, err = server.NewGame(ctx, *r.New)
		case r.Join != "":
			to.game, err = server.Join(ctx, r.Join, nil)
		case r.Play != "":
			to.game, err = server.Game(ctx, r.Play)
		case r.NewChallenge != nil:
			c, err = server.NewChallenge(ctx, *r.NewChallenge)
		default: // Daily or Enter
			var found *pb.GetChallengeResponse
			found, err = server.GetChallenge(ctx, &pb.GetChallengeRequest{ChallengeId: r.Enter, Daily: r.Daily})
			c, invited = found.GetChallenge(), r.Daily != nil && found.GetAttempt() == nil
		}
		to.challenge = c.GetId()
		// A new race may be another player's, who has created it first.
		if c != nil && err == nil && !invited && (r.NewChallenge == nil || c.GetKind() == pb.ChallengeKind_CHALLENGE_KIND_RACE) {
			to.game, err = enter(ctx, server, c, me)
		}
		if err != nil && ctx.Err() != nil {
			err = client.ErrUnreachable
		}
		return to, err
	}, func(to target, err error) tea.Cmd {
		from.Opening = false
		if from.Ctx.Err() != nil { // The user has left the page. A new game is under My games.
			return nil
		}
		from.Say("")
		return m.opened(r, old, to, err)
	})
}

// enter starts or resumes the user's attempt at a challenge and returns its game, or nil if
// there is no game to show. If the challenge is a race that has not started, enter only
// joins it.
func enter(ctx context.Context, s ui.Server, c *pb.Challenge, me string) (client.Game, error) {
	switch {
	case c.GetKind() != pb.ChallengeKind_CHALLENGE_KIND_RACE:
		g, err := s.Attempt(ctx, c.GetId())
		if errors.Is(err, client.ErrChallengeClosed) {
			return client.Game{}, nil
		}
		return g, err
	case c.GetStatus() != pb.ChallengeStatus_CHALLENGE_STATUS_WAITING,
		slices.ContainsFunc(c.GetEntrants(), func(e *pb.Entrant) bool { return e.GetPlayer().GetId() == me }):
		return client.Game{}, nil // The race's page opens the game.
	}
	_, err := s.JoinChallenge(ctx, &pb.JoinChallengeRequest{ChallengeId: c.GetId()})
	if errors.Is(err, client.ErrChallengeStarted) {
		err = nil // The user can still watch.
	}
	return client.Game{}, err
}

// opened opens the game of a route, for play if the user has a seat and otherwise for
// watching, or the page of its challenge.
func (m *Model) opened(r ui.Route, old *ui.Tasks, to target, err error) tea.Cmd {
	if err != nil {
		return m.refused(err, ui.Explain(err, ui.SameKey))
	}
	if to.game.Game == nil {
		page := challenge.New(m.ctx, m.env, to.challenge, false)
		if r.NewChallenge != nil {
			page.Own().Say("Press y to copy the invitation.")
		}
		return m.push(page, old)
	}
	if !m.env.Seated(to.game.Game) {
		return m.push(watch.New(m.ctx, m.env, ui.Route{Watch: []string{to.game.GetId()}}), old)
	}
	return m.push(play.New(m.ctx, m.env, to.game.Game), old)
}

// refused says on the current page why another one could not be opened. If the program has no page, it ends with the
// error.
func (m *Model) refused(err error, why string) tea.Cmd {
	if len(m.pages) > 0 {
		return m.top().Own().Refuse(why)
	}
	if m.err == nil { // else the user has already pressed ctrl-c
		m.err = err
	}
	return tea.Quit
}
