package app

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/challenge"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// enteredMsg carries the challenge of a route, and the user's game if it can be played now.
type enteredMsg struct {
	route ui.Route
	id    string
	game  *pb.Game
	err   error
}

// openChallenge enters a challenge, or creates one.
func (m *Model) openChallenge(r ui.Route) tea.Cmd {
	if r.Enter != "" && m.env.Guest != "" {
		return m.push(challenge.NewWatch(m.ctx, m.env, r.Enter))
	}
	if cmd, missing := m.needAccount(r); missing {
		return cmd
	}
	server, me := m.env.Server, m.env.Me
	return m.tasks.Do(func(ctx context.Context) tea.Msg {
		if r.NewChallenge != nil {
			c, err := server.NewChallenge(ctx, *r.NewChallenge)
			return enteredMsg{route: r, id: c.GetId(), err: err}
		}
		var found *pb.GetChallengeResponse
		var err error
		if r.Daily != nil {
			found, err = server.Daily(ctx, r.Daily)
		} else {
			found, err = server.Challenge(ctx, r.Enter)
		}
		if err != nil {
			return enteredMsg{route: r, err: err}
		}
		g, err := enter(ctx, server, found, me)
		return enteredMsg{route: r, id: found.GetChallenge().GetId(), game: g, err: err}
	})
}

// enter starts or resumes the user's attempt at a challenge and returns its game, or nil if
// there is no game to show. If the challenge is a race that has not started, enter only
// joins it.
func enter(ctx context.Context, s ui.Server, found *pb.GetChallengeResponse, me string) (*pb.Game, error) {
	c := found.GetChallenge()
	switch {
	case c.GetKind() != pb.ChallengeKind_CHALLENGE_KIND_RACE:
		g, err := s.Attempt(ctx, c.GetId())
		if errors.Is(err, client.ErrChallengeClosed) {
			return nil, nil
		}
		return g, err
	case c.GetStatus() != pb.ChallengeStatus_CHALLENGE_STATUS_WAITING:
		return nil, nil // The race's page opens the game.
	}
	for _, e := range c.GetEntrants() {
		if e.GetPlayer().GetId() == me {
			return nil, nil
		}
	}
	_, err := s.JoinRace(ctx, &pb.JoinChallengeRequest{ChallengeId: c.GetId()})
	if errors.Is(err, client.ErrChallengeStarted) {
		err = nil // The user can still watch.
	}
	return nil, err
}

// entered opens the user's game, or the page of the challenge.
func (m *Model) entered(msg enteredMsg) tea.Cmd {
	switch {
	case msg.err != nil:
		m.notice = ui.Explain(msg.err, ui.SameKey)
		return m.quitIfEmpty(msg.err)
	case msg.game != nil:
		return m.opened(openedMsg{route: msg.route, game: msg.game})
	default:
		return m.push(challenge.New(m.ctx, m.env, msg.id, msg.route.NewChallenge != nil))
	}
}
