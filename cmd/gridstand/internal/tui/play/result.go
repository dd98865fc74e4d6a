package play

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/style"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/widget"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// resultOpen reports whether the result is visible.
func (p *page) resultOpen() bool { return p.Over() && !p.closed && !p.starting }

// result draws the panel of a finished game.
func (p *page) result(l look) string {
	t, score := p.env.Theme, describe.Comma(p.ScoreOf(l.seat()))
	title, facts := p.mode.Result(l)
	accent, wrapped := t.Accent().Bold(true), widget.Wrap(title, l.width)
	height := l.height - strings.Count(wrapped, "\n")
	var head string
	if large, ok := style.Large(score, l.width); ok && height >= 2+style.LargeHeight {
		gap := "\n\n"
		if height < 10 {
			gap = "\n"
		}
		head = accent.Render(wrapped) + gap + large
	} else {
		head = ansi.Truncate(accent.Render(title)+"  "+t.Bold().Render(score+" points"), l.width, "…")
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
		return describe.Share(m.result(look{seated: &p.seated}))
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

const (
	rankTime    = time.Minute // interval between requests for the leaderboard
	recordTries = 6           // maximum number of requests for a result that is not recorded yet
)

// places holds the player's places on the variant's daily and all-time leaderboards. Both
// are nil until known.
type places struct{ day, all *ui.Place }

// rank requests the places. It repeats the request soon if the game's result is not recorded
// yet, and after rankTime if the game is still in progress. tries counts the requests since
// the game ended.
func (p *page) rank(tries int) tea.Cmd {
	server, game := p.env.Server, p.opened
	return ui.Call(p.tasks, func(ctx context.Context) (places, error) {
		day, err := server.Place(ctx, game.GetVariant(), pb.Window_WINDOW_DAY)
		if err != nil {
			return places{}, err
		}
		all, err := server.Place(ctx, game.GetVariant(), pb.Window_WINDOW_ALL_TIME)
		return places{&day, &all}, err
	}, ofGame(p, func(found places, err error) tea.Cmd {
		if p.Over() && tries == 0 {
			return nil // it was not over yet
		}
		wait, next := rankTime, 0
		if p.Over() && tries < recordTries && (err != nil || !found.have(&p.State, p.ScoreOf(p.seat()))) {
			wait, next = time.Second<<min(tries-1, 3), tries+1
		} else if err == nil {
			p.places = found
		}
		if p.Over() && next == 0 {
			return nil
		}
		return p.tasks.Later(wait, func() tea.Cmd {
			if p.opened != game {
				return nil
			}
			return p.rank(next)
		})
	}))
}

// have reports whether the leaderboards already contain the result of a finished game, or
// will never contain it.
func (p places) have(g *gamestate.State, score int32) bool {
	has := func(at *ui.Place) bool { return at.GameID == g.Game.GetId() || at.Score >= score }
	return !g.Game.GetRanked() || score == 0 || has(p.day) && has(p.all)
}

// best returns the player's all-time best score, including this game if it is ranked.
func (p places) best(s *gamestate.State, seat int) string {
	var best int32
	if p.all != nil {
		best = p.all.Score
	}
	if s.Game.GetRanked() {
		best = max(best, s.ScoreOf(seat))
	}
	if best == 0 {
		return "–"
	}
	return describe.Comma(best)
}

// newcomer reports whether the player has no score on the leaderboard yet.
func (p places) newcomer() bool { return p.all != nil && p.all.Rank == 0 }

// stands describes the player's rank after a game. If another game determines the rank, the
// description includes that game's score, and a shorter wording is used if width is small.
func stands(at *ui.Place, window, gameID string, width int) string {
	text := placeText(at, window)
	if at != nil && at.Rank > 0 && at.GameID != gameID {
		best := describe.Comma(at.Score)
		return pickText(width, "best "+best+": "+text, fmt.Sprintf("best %s: #%d %s", best, at.Rank, window))
	}
	return text
}

// placeText describes the player's rank on the leaderboard of a period.
func placeText(p *ui.Place, window string) string {
	switch {
	case p == nil:
		return "… " + window
	case p.Rank == 0 && p.Total == 0:
		return "no scores " + window
	case p.Rank == 0:
		return "– of " + describe.Comma(p.Total) + " " + window
	default:
		return fmt.Sprintf("#%s of %s %s", describe.Comma(p.Rank), describe.Comma(p.Total), window)
	}
}
