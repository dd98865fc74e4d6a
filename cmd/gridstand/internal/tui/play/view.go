package play

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/help"
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/style"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/widget"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// shareLines is the height of the command for others, with an empty line.
const shareLines = 2

// View implements ui.Page.
func (p *Model) View(width, height int) ui.View {
	v := ui.View{Status: p.status(width), Left: []string{p.env.Theme.Bold().Render(p.Variant())}, Right: p.headline()}
	v.Title = p.Variant()
	if p.mine() {
		v.Title = "Your turn · " + v.Title
	}
	if p.mode == nil {
		v.Body = widget.Wrap("This program cannot show this kind of game. A newer one can.", width)
		return v
	}
	b := board.Moving(p.mode.Board(&p.State, p.mine()), p.Before, p.motion.Progress())
	b, l, ok := board.Place(b, p.env.Theme, width, height, p.mode.PanelLines()+shareLines)
	if !ok {
		needsWidth, needsHeight := board.Needs(b, p.env.Theme)
		v.Body = widget.TooSmall(p.env.Width, p.env.Height, needsWidth+2, needsHeight+3)
		return v
	}
	at := look{
		State: &p.State, env: p.env, seat: p.seat(), mine: p.mine(), places: p.places,
		width: l.PanelWidth, height: l.PanelHeight, wide: l.Wide,
	}
	panel := p.panel(at)
	if p.resultOpen() {
		panel = p.result(at)
	}
	block, x := board.Join(l, b.Draw(l.Cell, p.env.Theme), widget.Block(panel, l.PanelWidth, min(l.PanelHeight, lipgloss.Height(panel))))
	v.Body = block
	if l.Small {
		return p.ask(v)
	}
	v.OnClick = func(column, row int) tea.Cmd {
		return func() tea.Msg {
			return clickMsg{func() Act { return p.mode.Click(&p.State, l.Cell, column-x, row) }}
		}
	}
	return p.ask(v)
}

// ask lays the question over a view, if there is one.
func (p *Model) ask(v ui.View) ui.View {
	if p.question != nil {
		v.Dialog, v.Brief = p.question.Box(p.env.Theme, p.env.Width), p.question.Brief()
	}
	return v
}

// headline is the right side of the header, the longest text first.
func (p *Model) headline() []string {
	badge := p.Badge(p.env.Theme, p.env.Now)
	full, short := badge+"   "+p.env.Theme.Dim().Render(p.Watching()), badge
	if clock := p.ClockText(p.env.Theme, p.env.Now); clock != "" {
		full, short = full+"   "+clock, badge+"   "+clock
	}
	return []string{full, short, badge}
}

// panel is the panel beside the board, or below it.
func (p *Model) panel(l look) string {
	blocks := p.mode.Panel(l)
	if p.places.newcomer() && p.Moves() < 2*int32(len(p.Game.GetSeats())) && p.Game.GetStatus() == pb.GameStatus_GAME_STATUS_ACTIVE {
		var lines []string
		for _, line := range p.mode.Intro() {
			lines = append(lines, pickText(l.width, line...))
		}
		intro := p.env.Theme.Accent().Render(strings.Join(lines, "\n"))
		if !l.wide {
			return widget.Stack(l.height, intro+"\n"+blocks[0])
		}
		blocks = append([]string{blocks[0], intro}, blocks[1:]...)
	}
	blocks = append(blocks, p.invitation(l.width))
	if l.wide { // the last moves in the room that is left
		blocks = slices.DeleteFunc(blocks, func(b string) bool { return b == "" })
		used := lipgloss.Height(strings.Join(blocks, "\n\n"))
		blocks = append(blocks, p.LogLines(p.env.Theme, l.height-used-1))
	}
	return widget.Stack(l.height, blocks...)
}

// invitation says how others watch the game, or join it.
func (p *Model) invitation(width int) string {
	what, command := "Others watch with", p.env.Command("watch", p.CommandID())
	if p.Game.GetStatus() == pb.GameStatus_GAME_STATUS_WAITING {
		what, command = "Others join with", p.env.Command("join", p.CommandID())
	}
	text, command := p.env.Theme.Dim().Render(what), p.env.Theme.Bold().Render(widget.Wrap(command, width))
	if ansi.StringWidth(what)+1+ansi.StringWidth(command) <= width {
		return text + " " + command
	}
	return text + "\n" + command
}

// resultOpen reports whether the result is shown.
func (p *Model) resultOpen() bool { return p.Over() && !p.closed && !p.starting }

// result is the panel of a finished game.
func (p *Model) result(l look) string {
	t, score := p.env.Theme, gamestate.Comma(p.ScoreOf(l.seat))
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

// shareLine is the result in a line that the player can paste.
func (p *Model) shareLine() string {
	return fmt.Sprintf("%s: %s; %s", p.Variant(), p.Standing(), p.env.Command("watch", p.CommandID()))
}

// shareFits reports whether the result fits into the status line, where it can be copied
// with the mouse.
func (p *Model) shareFits() bool {
	return p.env.Height >= 16 && ansi.StringWidth(p.shareLine()) <= p.env.Width-2
}

// status is the line about problems and news, empty if there are none.
func (p *Model) status(width int) string {
	t := p.env.Theme
	waited := time.Duration(0)
	if p.inFlight != nil {
		waited = p.env.Now.Sub(p.inFlight.since)
	}
	switch {
	case p.starting:
		return t.Dim().Render("Starting a new game …")
	case p.problem != "":
		return t.Bad().Render("! " + p.problem)
	case p.ConnectionProblem() != nil:
		return t.Bad().Render("! " + ui.Explain(p.ConnectionProblem(), "Trying again …"))
	case waited > slowTime:
		text := fmt.Sprintf("No answer for %d s", int(waited.Seconds()))
		if len(p.queue) > 0 {
			text += fmt.Sprintf("; queued keys: %d", len(p.queue))
		}
		return t.Warn().Render(text + ".")
	case p.solving != nil:
		return t.Warn().Render(p.solving.String())
	case p.held() != nil:
		return t.Warn().Bold(true).Render(pickText(width,
			"Your time ran out: "+p.held().GetStandIn()+" moves for you. Any key takes your seat back.",
			p.held().GetStandIn()+" moves for you. Any key: play on."))
	case p.dropped:
		return t.Warn().Render(fmt.Sprintf("Queued keys: %d; later ones were dropped.", len(p.queue)))
	case len(p.notice) > 0:
		return t.Dim().Render(pickText(width, p.notice...))
	case p.resultOpen() && p.shareFits():
		return t.Dim().Render(p.shareLine())
	default:
		return p.linkLine(width)
	}
}

// linkLine is the link for browsers on one line, so that it can be copied with the mouse;
// empty if there is none or no room.
func (p *Model) linkLine(width int) string {
	link := p.env.Link(p.opened.GetId())
	if line := pickText(width, "In a browser: "+link, link); link != "" && p.env.Height >= 16 && ansi.StringWidth(line) <= width {
		return p.env.Theme.Dim().Render(line)
	}
	return ""
}

// pickText is the first of texts that fits into width columns, or the last.
func pickText(width int, texts ...string) string {
	for _, text := range texts {
		if ansi.StringWidth(text) <= width {
			return text
		}
	}
	return texts[len(texts)-1]
}

// Keys implements ui.Page.
func (p *Model) Keys() help.KeyMap {
	k := p.keys
	switch {
	case p.question != nil:
		return ui.Keys(ui.Bind("y", p.question.Yes), ui.Bind("n esc", p.question.No))
	case p.solving != nil:
		return ui.Keys(k.Faster, k.Slower, ui.Bind("any other key", "you play on"))
	case p.Over():
		replay, share, result := ui.Bind("w", "replay"), ui.Bind("c", "copy"), "close"
		if p.closed {
			result = "result"
		}
		return ui.KeyMap{
			Short: []key.Binding{k.Copy, share, k.Rules, replay, ui.Bind("n", "new"), ui.Bind("esc", result), k.Help, k.Back},
			Full:  [][]key.Binding{{k.New, k.Replay, k.Share, k.Copy, k.Close, k.Rules, k.Back}},
		}
	default:
		return k.playing(p.env.Width >= 80)
	}
}

// Farewell implements ui.Page: how the game stands and how to resume it.
func (p *Model) Farewell() string {
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
		return text + ". Resume it with " + p.env.Local.Resume
	default:
		return text + ". Resume it with " + p.env.Command("play", id)
	}
}

// ring returns the terminal's bell if the user's turn begins.
func (p *Model) ring() tea.Cmd {
	switch {
	case !p.mine():
		p.told = 0
	case p.told == 0:
		p.told = p.Game.GetVersion()
		return tea.Raw("\a")
	}
	return nil
}
