// Package play implements the page of a game that the user plays. The page is the same for
// every kind of game; a Mode adds what is specific to one kind.
package play

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// New returns the page of a game in which the user has a seat. Its commands end when ctx is
// done.
func New(ctx context.Context, env *ui.Env, g *pb.Game) ui.Page {
	p := &page{State: gamestate.New(g), Tasks: ui.NewTasks(ctx), env: env, mode: newMode(g)}
	if g.GetChallengeId() != "" && p.Twenty48() != nil {
		p.contest = gamestate.NewContest(env, p.Tasks, g.GetChallengeId(), g.GetId())
	}
	return p
}

// Continue implements ui.Page. Any change may end an attempt.
func (p *page) Continue(then ui.Then) tea.Cmd {
	cmd := then()
	if p.contest != nil && p.Over() {
		cmd = tea.Batch(cmd, p.contest.LookUp())
	}
	if p.Over() && p.guest() && !p.env.NameAsked && p.good() {
		p.asksName, p.env.NameAsked = true, true
	}
	return cmd
}

// guest reports whether the user has not chosen a name.
func (p *page) guest() bool { return p.env.Guest(p.Game.GetSeats()[p.seat()].GetPlayer()) }

// goodTile is the smallest tile that makes a result a good one.
const goodTile = 512

// good reports whether the result is worth keeping under a name: a large tile, a new best score or, in
// a race or daily game, points and one of the first three places but not the last, unless the player gave
// up. The page has the same rule.
func (p *page) good() bool {
	if p.Game.GetResult().GetReason() == pb.Result_REASON_RESIGNED {
		return false
	}
	large := p.Twenty48() != nil && describe.LargestTile(p.Twenty48()) >= goodTile
	if p.contest == nil {
		return p.Game.GetRanked() && (large || p.Record())
	}
	r := p.attempt()
	podium := p.Score() > 0 && (r.Rank == 1 || r.Rank > 0 && r.Rank <= 3 && r.Rank < r.Total)
	return large || podium && (p.race() || p.contest.Is(pb.ChallengeKind_CHALLENGE_KIND_DAILY))
}

// share returns the text that the player copies to share the result.
func (p *page) share() string {
	if p.contest != nil && p.contest.Challenge != nil {
		return describe.Share(p.attempt())
	}
	return p.Summary() + "; " + p.Invitation(p.env).Text()
}

// ClosingMessage implements ui.Closing. It reports the state of the game, how to resume or verify it, and where an
// attempt is ranked.
func (p *page) ClosingMessage() string {
	text, id := p.Summary()+".", gamestate.ShortID(p.Game.GetId())
	what, command := "", ""
	switch {
	case p.lost:
	case !p.Over():
		what, command = "Resume", p.env.Command("play", id)
	case p.contest == nil: // An attempt has no seed until its challenge closes.
		what, command = "Verify", p.env.Command("verify", id)
	}
	if command != "" {
		text += "\n" + what + " it with " + command
	}
	if p.contest != nil {
		text += "\nSee the ranking with " + p.env.Command("top", p.contest.ID)
	}
	return text
}
