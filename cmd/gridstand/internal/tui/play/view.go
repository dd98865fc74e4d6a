package play

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
)

// shareLines is the number of lines that invitation needs, including an empty line above
// it.
const shareLines = 2

func (p *page) View(width, height int) ui.View {
	v := ui.View{Title: p.Variant(), Status: p.status(), Right: p.headline()}
	if p.contest != nil {
		v.Title = p.contest.Title()
	}
	v.Left = []string{p.env.Theme.Bold().Render(v.Title)}
	if p.mine() {
		v.Title = "Your turn · " + v.Title
	}
	b, l, ok := p.place(width, height)
	if !ok {
		v.Body = board.TooSmall(b, p.env, width, height)
		return v
	}
	if p.race() && l.Wide { // make room for the other boards
		across, _ := b.Measure(l.Cell)
		l.PanelWidth = max(l.PanelWidth, min(width-across-board.PanelGap, racePanel))
	}
	panel := p.panel(l)
	if p.Over() {
		panel = p.result(l)
	}
	var x int
	v.Body, x = board.Join(l, b.Draw(l.Cell, p.env.Theme), panel)
	mode, ok := p.mode.(clickable)
	if !ok || l.Cell.Mini || p.Over() {
		return v
	}
	v.OnClick = func(column, row int) tea.Cmd {
		return p.Later(0, func() tea.Cmd {
			switch {
			case p.Over() || p.Dialog != nil:
				return nil
			case p.held() != nil:
				return p.takeBack()
			}
			return mode.Click(p, l.Cell, column-x, row)
		})
	}
	return v
}

// place finds the size of the board. It returns false if the window is too small for the board.
func (p *page) place(width, height int) (board.Board, board.Layout, bool) {
	b := p.mode.Board(&p.State, p.mine())
	l, ok := board.Place(b, p.env.Theme, width, height, p.mode.PanelLines()+shareLines)
	return b, l, ok
}

// racePanel is the maximum width of a race's panel.
const racePanel = 110

// headline returns the right side of the header.
func (p *page) headline() []string {
	if p.contest == nil {
		return p.Header(p.env.Theme, p.env.Now)
	}
	badge := p.Badge(p.env.Theme, p.env.Now)
	if left := p.contest.TimeLeft(); left != "" && (p.contest.Race() || !p.Over()) {
		return []string{left, badge}
	}
	return []string{badge}
}

// panel draws the panel beside or below the board.
func (p *page) panel(l board.Layout) string {
	blocks := p.mode.Panel(p, l)
	if p.race() {
		return ui.Stack(l.PanelHeight, blocks...)
	}
	invitation := p.invitation(l)
	// Others can connect to this program's server, unless they should first take a seat here.
	if p.env.Others != nil && !gamestate.Waits(p.Game.Game) {
		play := ui.Invitation{What: "Others play", Link: p.env.Site, Command: p.env.Invite("play")}
		invitation = append(invitation[:min(1, len(invitation))], play.Blocks(p.env.Theme, l.PanelWidth, 2)...)
	}
	blocks = append(blocks, invitation...)
	if l.Wide { // the last moves fill the remaining rows
		blocks = append(blocks, p.LogLines(p.env.Theme, l.PanelWidth, ui.Room(l.PanelHeight, blocks...)))
	}
	return ui.Stack(l.PanelHeight, blocks...)
}

// invitation explains how others can watch or join the game. There is no invitation to a game that the server no
// longer serves, such as one in quarantine, or to a challenge that is not known yet.
func (p *page) invitation(l board.Layout) []string {
	rows := 1
	if l.Wide {
		rows = 2
	}
	if p.Err != nil || p.contest != nil && p.contest.Challenge == nil {
		return nil
	}
	return p.invite().Blocks(p.env.Theme, l.PanelWidth, rows)
}

// invite returns the invitation to the game, or to the challenge of an attempt.
func (p *page) invite() ui.Invitation {
	if p.contest != nil {
		return p.contest.Invitation()
	}
	return p.Invitation(p.env)
}

func (p *page) status() string {
	t := p.env.Theme
	waited := time.Duration(0)
	if p.inFlight != nil {
		waited = p.env.Now.Sub(p.inFlight.since)
	}
	switch {
	case p.ConnectionProblem() != "":
		return t.Bad().Render("! " + p.ConnectionProblem())
	case p.contest != nil && p.contest.Err != nil:
		return t.Warn().Render("! " + ui.Explain(p.contest.Err, "The ranking is unavailable."))
	case waited > slowTime:
		text := fmt.Sprintf("No answer for %d s", int(waited.Seconds()))
		if len(p.queue) > 0 {
			text += fmt.Sprintf("; queued keys: %d", len(p.queue))
		}
		return t.Warn().Render(text + ".")
	case p.solving != nil:
		return t.Warn().Render(p.solving.Name() + " plays, so the game is unranked.")
	case p.held() != nil:
		return t.Warn().Bold(true).Render("Your time ran out: " + p.held().GetStandIn() + " moves for you. Any key takes your seat back.")
	case len(p.queue) >= queueLimit:
		return t.Warn().Render(fmt.Sprintf("Queued keys: %d; further ones are dropped.", len(p.queue)))
	case p.asksName && p.env.NewName == "":
		return t.Accent().Render("A good result! Press e to choose a name; your games and rank stay.")
	case p.beginner() && p.env.Height >= ui.StatusHeight: // in a lower window, it would cover a score
		return t.Accent().Render(p.mode.Intro())
	default:
		return ""
	}
}

// result draws the panel of a finished game.
func (p *page) result(l board.Layout) string {
	t, width := p.env.Theme, l.PanelWidth
	facts := p.Facts(t, l, p.env.Me)
	title, look := p.title()
	score := describe.Comma(p.ScoreOf(p.seat()))
	room := l.PanelHeight - lipgloss.Height(facts)
	if p.contest != nil {
		room -= min(len(p.contest.Lines), leastRows)
	}
	blocks := []string{ui.Ending(t, look, title, score, width, room)}
	var lines, more []string
	if p.contest != nil {
		lines, more = p.outcome(l, l.PanelHeight-lipgloss.Height(blocks[0]), facts)
	} else {
		blocks = append(blocks, facts)
		lines, more = []string{p.unranked()}, p.invitation(l)
		if lines[0] == "" {
			lines = []string{
				stands(p.places.day, "today", p.Game.GetId()), stands(p.places.all, "all time", p.Game.GetId()),
			}
		}
	}
	if l.PanelHeight > 10 { // in a short panel, lines can be dropped one at a time
		lines = []string{strings.Join(lines, "\n")}
	}
	return ui.Stack(l.PanelHeight, slices.Concat(blocks, lines, more)...)
}
