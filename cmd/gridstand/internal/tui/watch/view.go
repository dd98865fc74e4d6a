package watch

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
)

// panelLines is the number of lines in the panel below the board.
const panelLines = 6

func (p *page) View(width, height int) ui.View {
	t := p.env.Theme
	if p.game == nil || p.game.Board() == nil {
		return ui.View{Title: p.mode(), Left: p.left(""), Right: p.right(), Body: p.waiting(width), Status: p.status(width)}
	}
	s := p.game.shown()
	v := ui.View{
		Title: s.Variant(), Left: p.left(s.Variant()), Right: p.right(), Status: p.status(width),
	}
	b := s.Board()
	l, ok := board.Place(b, t, width, height, panelLines)
	if !ok {
		v.Body = board.TooSmall(b, p.env, width, height)
		return v
	}
	x := panel{p, s, l}
	text := x.progress()
	if s.Over() {
		text = x.result()
	}
	v.Body, _ = board.Join(l, b.Draw(l.Cell, t), text)
	return v
}

// mode says how the page chooses its games. It returns "" if the user chose the game.
func (p *page) mode() string {
	switch {
	case p.chooser == nil:
		return ""
	case p.chooser.player == nil:
		return "TV"
	default:
		return "following " + p.chooser.name()
	}
}

// left returns the left side of the header. variant is "" while no game is shown.
func (p *page) left(variant string) (parts []string) {
	if mode := p.mode(); mode != "" {
		parts = append(parts, p.env.Theme.Accent().Render(mode))
	}
	if variant != "" {
		parts = append(parts, p.env.Theme.Bold().Render(variant))
	}
	return parts
}

// right returns the right side of the header.
func (p *page) right() []string {
	t := p.env.Theme
	switch {
	case p.game == nil:
		return nil
	case !p.game.lookingBack():
		return p.game.Header(t, p.env.Now)
	case p.player.on:
		return []string{t.Accent().Render(fmt.Sprintf("▶ replay %d×", p.player.speed))}
	default:
		return []string{t.Accent().Render("‖ paused")}
	}
}

func (p *page) status(width int) string {
	t := p.env.Theme
	problem := ""
	if p.game != nil && p.game.Board() != nil {
		problem = cmp.Or(p.problem, p.game.ConnectionProblem())
	}
	switch {
	case problem != "":
		return t.Warn().Render("! " + problem)
	case p.game == nil:
		return ""
	case p.game.lookingBack(), p.chooser == nil && p.game.Over() && p.game.Board() != nil && p.env.Height >= ui.StatusHeight:
		return p.timeline(width)
	case p.chooser != nil && p.chooser.player != nil && !p.game.running():
		return t.Dim().Render(fmt.Sprintf("%s is not playing (last move %s). Waiting for the next game …", p.chooser.name(),
			describe.Ago(p.env.Now.Sub(p.game.Game.GetUpdateTime().AsTime()))))
	default:
		return ""
	}
}

// timeline draws the number of the current move and its position in the game.
func (p *page) timeline(width int) string {
	t, g := p.env.Theme, p.game
	s, newest := g.shown(), g.Game.GetVersion()
	text := fmt.Sprintf("move %s of %s", describe.Comma(s.Moves()), describe.Comma(g.Moves()))
	if g.past.wanted != 0 {
		text = "loading …"
	} else if before := g.past.events[g.past.at-1]; before.GetPosition().GetMoveCount() > s.Moves() {
		text += " (undone)"
	}
	text += fmt.Sprintf("  %d×", p.player.speed)
	room := min(width-lipgloss.Width(text)-3, 60)
	if room < 8 {
		return t.Bold().Render(text)
	}
	n := int(math.Round(float64(room-1) * float64(g.position()-1) / float64(max(newest-1, 1))))
	return t.Accent().Render(strings.Repeat("━", n)+"●") + t.Faint().Render(strings.Repeat("─", room-1-n)) +
		"  " + t.Bold().Render(text)
}

// waiting draws the page while there is no game to show.
func (p *page) waiting(width int) string {
	t, problem := p.env.Theme, p.problem
	asked := p.chooser != nil && !p.chooser.next.IsZero()
	if p.game != nil {
		problem = cmp.Or(problem, p.game.ConnectionProblem())
	}
	switch {
	case problem == "" && p.game != nil:
		return poster(t, width, p.game.Badge(t, p.env.Now))
	case problem == "" && asked && p.chooser.player != nil:
		return poster(t, width, t.Bold().Render(p.chooser.name()+" is not playing."), "Waiting for the next game …")
	default:
		return noGame(p.env, width, problem, asked)
	}
}

// noGame draws a page for which there is no game: the problem with the server, whether the page has asked it, and the
// key with which the user starts one.
func noGame(env *ui.Env, width int, problem string, asked bool) string {
	t := env.Theme
	none := t.Bold().Render("No live games.")
	switch {
	case problem != "":
		return poster(t, width, t.Warn().Render(ui.Wrap(problem, width)))
	case !asked:
		return poster(t, width, t.Dim().Render("Looking for a game …"))
	case env.WatchOnly != "":
		return poster(t, width, none)
	default:
		return poster(t, width, none, ui.Choice(t, "n", "start one"))
	}
}

// poster draws lines below the name of the program, in place of a game.
func poster(t ui.Theme, width int, lines ...string) string {
	title := t.Accent().Bold(true).Render(t.Large("GRIDSTAND", width))
	return lipgloss.NewStyle().Align(lipgloss.Center).Render(title + "\n\n" + strings.Join(lines, "\n"))
}

// tallPanel is the minimum height for large letters in a panel beside the board.
const tallPanel = 8

// panel draws the text beside or below a board.
type panel struct {
	*page
	*gamestate.State
	board.Layout
}

// scores returns the most important numbers of a game of 2048.
func (x *panel) scores() []ui.Fact {
	return []ui.Fact{{Label: "SCORE", Value: describe.Comma(x.Score()), Extra: x.Gain()}, {Label: "TILE", Value: x.BestTile()}}
}

// progress draws the panel of a game in progress.
func (x *panel) progress() string {
	t, width := x.env.Theme, x.PanelWidth
	who := t.Accent().Bold(true)
	tall := x.Wide && x.PanelHeight >= tallPanel
	switch {
	case x.Tribolo() != nil && tall:
		return x.stack(x.SeatBlocks(t, x.Layout, x.env.Me, x.PanelHeight >= 20), x.TurnText(t, false))
	case x.Tribolo() != nil:
		return x.stack(x.SeatLines(t, width, x.env.Me, false) + "\n" + x.TurnText(t, false))
	case tall:
		return x.stack(who.Render(t.Large(x.Player(), width)), ui.Cards(t, width, x.scores()...))
	default:
		return x.stack(who.Render(x.Player()) + "\n" + ui.Inline(t, width, x.scores()...))
	}
}

// stack arranges the blocks vertically, followed by as many of the last moves as fit, and
// by the number and age of the last move.
func (x *panel) stack(blocks ...string) string {
	age := x.env.Now.Sub(x.Game.GetUpdateTime().AsTime())
	last := x.env.Theme.Dim().Render(fmt.Sprintf("move %s, %s", describe.Comma(x.Moves()), describe.Ago(age)))
	return ui.Stack(x.PanelHeight, append(blocks, x.LogLines(x.env.Theme, x.PanelWidth, ui.Room(x.PanelHeight-2, blocks...)), last)...)
}

// result draws the panel of a finished game.
func (x *panel) result() string {
	t := x.env.Theme
	title, look := x.Outcome(t, x.env.Me)
	facts := x.Facts(t, x.Layout, x.env.Me)
	hint, verify := "verify with", ""
	if x.Sealed() {
		hint = "when its challenge has closed, verify with"
	}
	if command := x.env.Command("verify", x.ID()); command != "" {
		verify = ui.Command(t, hint, command, x.PanelWidth)
	}
	score := describe.Comma(gamestate.HighestScore(x.Game.Game))
	head := ui.Ending(t, look, title, score, x.PanelWidth, x.PanelHeight-lipgloss.Height(facts))
	return x.stack(head, facts, verify)
}
