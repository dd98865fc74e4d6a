// Package play implements the page of a game that the user plays. The page is the same for
// every kind of game; a Mode adds what is specific to one kind.
package play

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// page shows the game that the user plays.
type page struct{ playing }

// New returns the page of a game in which the user has a seat. Its commands end when ctx is
// done.
func New(ctx context.Context, env *ui.Env, g *pb.Game) ui.Page {
	return newPage(ctx, env, g)
}

func newPage(ctx context.Context, env *ui.Env, g *pb.Game) *page {
	p := &page{playing{seated: seated{gamestate.New(g), env}, Tasks: ui.NewTasks(ctx), mode: newMode(g)}}
	if g.GetChallengeId() != "" && p.Twenty48() != nil {
		p.contest = gamestate.NewContest(env, p.Tasks, g.GetChallengeId(), g.GetId())
		p.mode = &attempt{sliding{}, p.contest}
	}
	return p
}

// Continue implements ui.Page. Any change may be to the challenge.
func (p *page) Continue(then ui.Then) tea.Cmd {
	cmd := then()
	if p.contest != nil {
		cmd = tea.Batch(cmd, p.attempted())
	}
	return cmd
}

// share returns the text that the player copies to share the result.
func (p *page) share() string {
	if m, ok := p.mode.(*attempt); ok && m.Challenge != nil {
		return describe.Share(m.result(panelInput{seated: &p.seated}))
	}
	return p.shareLine()
}

// shareLine returns the result on one line.
func (p *page) shareLine() string {
	if p.contest != nil && p.contest.Challenge != nil {
		line, _, _ := strings.Cut(p.share(), "\n")
		return line
	}
	return fmt.Sprintf("%s: %s; %s", p.Variant(), p.Standing(), p.env.Invite("watch", p.CommandID()))
}

// shareFits reports whether the result fits in the status line, where it can be copied with
// the mouse.
func (p *page) shareFits() bool {
	return p.env.Height >= ui.StatusHeight && ansi.StringWidth(p.shareLine()) <= p.env.Width-2
}

// ClosingMessage implements ui.Page. It reports the state of the game and, on a second line, how to
// resume or verify it.
func (p *page) ClosingMessage() string {
	if m, ok := p.mode.(*attempt); ok && m.Challenge != nil {
		return p.attemptClosingMessage(m)
	}
	keeps := p.env.Local != nil && p.env.Local.Resume != ""
	gone := p.lost || p.env.Local != nil && !keeps
	text := p.Player() + " left a " + p.Variant() + " game at " + p.Facts()
	if p.shared() {
		text = p.Variant() + ": " + p.Facts()
	} else if p.Over() {
		text = p.Player() + " ended a " + p.Variant() + " game with " + p.Facts()
	}
	id := p.Game.GetId()
	if p.Over() && p.Game.GetRanked() {
		if at := p.places.day; at != nil && at.Rank > 0 {
			text += ", " + stands(at, "today", id)
		}
		if at := p.places.all; at != nil && at.Rank > 0 {
			text += ", " + stands(at, "all time", id)
		}
	}
	switch {
	case gone, p.Over() && (keeps || p.env.Command("verify", id) == ""):
		return text + "."
	case p.Over():
		return text + ".\nVerify it with " + p.env.Command("verify", p.CommandID())
	case keeps:
		return text + ".\nResume it with " + p.env.Local.Resume + " " + p.CommandID()
	default:
		return text + ".\nResume it with " + p.env.Command("play", p.CommandID())
	}
}

// attemptClosingMessage returns the message to print when the user leaves an attempt.
func (p *page) attemptClosingMessage(m *attempt) string {
	if p.Over() {
		if command := p.env.Command("top", m.ID); command != "" {
			return p.shareLine() + ".\nSee the ranking with " + command
		}
		return p.shareLine()
	}
	text := p.Player() + " left " + m.Title() + " at " + p.Facts()
	if p.lost {
		return text
	}
	return text + m.ComeBack()
}
