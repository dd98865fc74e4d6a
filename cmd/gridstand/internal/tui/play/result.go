package play

import (
	"fmt"
	"math"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/style"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/widget"
	"github.com/gridstand/gridstand/internal/describe"
)

// resultKey handles a key after the end of the game.
func (p *page) resultKey(msg tea.KeyPressMsg) tea.Cmd {
	k := p.keys
	if cmd, handled := p.attemptKey(msg); handled {
		return cmd
	}
	switch {
	case ui.Pressed(msg, k.New):
		return p.create()
	case ui.Pressed(msg, k.Beat):
		return p.challenge()
	case ui.Pressed(msg, k.Replay) && p.env.Now.Sub(p.ended) >= endTime:
		return ui.Open(ui.Route{Replay: p.opened.GetId()})
	case ui.Pressed(msg, k.Share):
		p.say("Copied the result.")
		return tea.SetClipboard(p.share())
	case ui.Pressed(msg, k.Close):
		p.closed = !p.closed
	}
	return nil
}

// resultOpen reports whether the result is visible.
func (p *page) resultOpen() bool { return p.Over() && !p.closed && !p.starting }

// result draws the panel of a finished game.
func (p *page) result(l look) string {
	t, score := p.env.Theme, describe.Comma(p.ScoreOf(l.seat))
	title, facts := p.mode.Result(l)
	head := t.Accent().Bold(true).Render(ansi.Truncate(title, l.width, "…"))
	if large, ok := style.Large(score, l.width); ok && l.height >= 2+style.LargeHeight {
		head += "\n\n" + large
		if l.height < 10 {
			head = strings.Replace(head, "\n\n", "\n", 1)
		}
	} else {
		head = ansi.Truncate(head+"  "+t.Bold().Render(score+" points"), l.width, "…")
	}
	if m, ok := p.mode.(*attempt); ok {
		return widget.Stack(l.height, append([]string{head}, m.outcome(l, facts)...)...)
	}
	ranks := []string{l.unranked()}
	if ranks[0] == "" {
		ranks = []string{
			stands(p.places.day, "today", p.opened.GetId(), l.width), stands(p.places.all, "all time", p.opened.GetId(), l.width),
		}
	}
	if l.height > 10 {
		ranks = []string{strings.Join(ranks, "\n")}
	}
	share := ""
	if !p.shareFits() {
		share = t.Dim().Render(widget.Wrap(p.shareLine(), l.width))
	}
	return widget.Stack(l.height, append(append([]string{head, facts}, ranks...), share)...)
}

// share returns the text that the player copies to share the result.
func (p *page) share() string {
	if m, ok := p.mode.(*attempt); ok && m.Challenge != nil {
		return describe.Share(m.result(look{State: &p.State, env: p.env}))
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
	return p.env.Height >= 16 && ansi.StringWidth(p.shareLine()) <= p.env.Width-2
}

// Farewell implements ui.Page. It reports the state of the game and how to resume or verify
// it.
func (p *page) Farewell() string {
	if m, ok := p.mode.(*attempt); ok && m.Challenge != nil {
		return p.attemptFarewell(m)
	}
	keeps := p.env.Local != nil && p.env.Local.Resume != ""
	gone := p.lost || p.env.Local != nil && !keeps
	text := p.Player() + " left a " + p.Variant() + " game at " + p.Facts()
	if p.shared() {
		text = p.Variant() + ": " + p.Facts()
	} else if p.Over() {
		text = p.Player() + " ended a " + p.Variant() + " game with " + p.Facts()
	}
	id := p.opened.GetId()
	if p.Over() && p.Game.GetRanked() {
		if at := p.places.day; at != nil && at.Rank > 0 {
			text += ", " + stands(at, "today", id, math.MaxInt)
		}
		if at := p.places.all; at != nil && at.Rank > 0 {
			text += ", " + stands(at, "all time", id, math.MaxInt)
		}
	}
	switch {
	case gone, p.Over() && (keeps || p.env.Command("verify", id) == ""):
		return text
	case p.Over():
		return text + ". Verify it with " + p.env.Command("verify", id)
	case keeps:
		return text + ". Resume it with " + p.env.Local.Resume + " " + id
	default:
		return text + ". Resume it with " + p.env.Command("play", id)
	}
}
