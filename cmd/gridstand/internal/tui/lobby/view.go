package lobby

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/style"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/widget"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// The sizes from which the body has more panes at once.
const (
	twoColumns   = 76 // columns: the preview beside the lists
	threeColumns = 150
	stacked      = 15 // rows: panes one above the other
	minWidth     = 26
	minHeight    = 6
)

// View implements ui.Page.
func (p *page) View(width, height int) ui.View {
	v := ui.View{Title: "Lobby", Left: []string{p.env.Theme.Bold().Render("lobby")}, Right: p.summary(), Status: p.status()}
	if width < minWidth || height < minHeight {
		v.Body = widget.TooSmall(width, height, minWidth, minHeight)
		return v
	}
	v.Body = p.body(width, height)
	if p.form != nil {
		v.Dialog, v.Brief = p.form.box(), "The window is too small for the form of a new game."
	}
	return v
}

// summary is the right of the header.
func (p *page) summary() []string {
	t := p.env.Theme
	if !p.loaded {
		return []string{t.Dim().Render("◌ connecting")}
	}
	live, waiting := p.lists.Moving, 0
	for _, g := range p.lists.Live {
		if g.GetStatus() == pb.GameStatus_GAME_STATUS_WAITING {
			waiting++
		}
	}
	short := t.Good().Render("●") + fmt.Sprintf(" %d live", live)
	if live == 0 {
		short = t.Dim().Render("○ 0 live")
	}
	if waiting == 0 {
		return []string{short}
	}
	return []string{short + "  " + t.Accent().Render("◌") + fmt.Sprintf(" %d waiting", waiting), short}
}

// status is the line for news.
func (p *page) status() string {
	t := p.env.Theme
	switch {
	case p.filter.Focused():
		p.filter.SetStyles(widget.InputStyles(t))
		return t.Accent().Render("/ ") + p.filter.View()
	case p.done != "":
		return t.Good().Render(p.done)
	case p.notice != "":
		return t.Warn().Render("! " + p.notice)
	case p.problem != "":
		return t.Warn().Render("! " + p.problem)
	case p.filter.Value() != "":
		return t.Dim().Render("only games with ") + t.Bold().Render(p.filter.Value()) + t.Dim().Render("   esc shows all")
	default:
		return ""
	}
}

// body draws the panes that there is room for.
func (p *page) body(width, height int) string {
	switch {
	case width < twoColumns:
		return p.list(p.pane, true, width, height)
	case height < stacked:
		left := width * 58 / 100
		return widget.Beside(p.list(p.pane, true, left, height), p.previewPane(width-left, height))
	}
	left := min(width*56/100, width-37) // beside the board of 2048 in its pane
	if width >= threeColumns {
		left = width * 46 / 100
	}
	mine := max(height*2/5, 6)
	lists := p.list(paneLive, false, left, height-mine) + "\n" + p.list(paneMine, false, left, mine)
	if width >= threeColumns {
		middle := width * 30 / 100
		return widget.Beside(lists, p.previewPane(middle, height),
			p.list(paneScores, false, width-left-middle, height))
	}
	upper := height - max(height*3/10, 7)
	return widget.Beside(lists,
		p.previewPane(width-left, upper)+"\n"+p.list(paneScores, false, width-left, height-upper))
}

// list draws the pane of a list. With tabs it also names the other lists, which have no
// pane of their own.
func (p *page) list(pane int, tabs bool, width, height int) string {
	inner := max(width-2, 0)
	board := clean(p.board())
	if p.loaded {
		board = clean(p.lists.Variant)
	}
	names := []string{"Live games", "My games", "Top " + board}
	if tabs && width < 50 {
		names = []string{"Live", "Mine", "Top"}
	}
	frame := widget.Pane{Titles: names, Active: pane, Focused: pane == p.pane, Foot: p.cursors[pane].position(), Flush: true}
	if !tabs {
		frame.Titles, frame.Active = names[pane:pane+1], 0
	}
	var table widget.Table
	if pane == paneScores {
		table = scoreTable(p.env, p.lists.Scores, inner)
		frame.Corner = p.windowNames(width >= 45)
	} else {
		table = gameTable(p.env, p.games[pane], pane == paneMine, inner)
	}
	table.Selected, table.Focused = p.cursors[pane].at, frame.Focused
	content := table.Draw(p.env.Theme, inner, height-2)
	if len(table.Rows) == 0 {
		frame.Flush = false
		content = p.env.Theme.Dim().Render(widget.Wrap(p.empty(pane), inner-2))
	}
	return frame.Draw(p.env.Theme, content, width, height)
}

// windowNames is the time of the leaderboard, with the others if all is set.
func (p *page) windowNames(all bool) string {
	var names []string
	for i, w := range windows {
		if i == p.window {
			names = append(names, p.env.Theme.Bold().Render("‹"+w.name+"›"))
		} else if all {
			names = append(names, p.env.Theme.Dim().Render(w.name))
		}
	}
	return strings.Join(names, " ")
}

// empty says what to do if a list has no rows.
func (p *page) empty(pane int) string {
	switch {
	case !p.loaded && p.problem == "":
		return "Loading …"
	case !p.loaded:
		return "Not loaded."
	case pane == paneScores:
		return "No scores yet. ← → shows another time, v another variant."
	case p.filter.Value() != "":
		return "No game matches the filter. esc clears it."
	case p.env.Guest != "" && pane == paneMine:
		return p.env.Guest
	case p.env.Guest != "":
		return "No live games."
	case pane == paneLive:
		return "No live games. n starts one."
	case p.env.Me == "":
		return "None yet. n starts a game and creates an account."
	default:
		return "None yet. n starts one."
	}
}

// previewPane draws the selected game: its board, as large as there is room, above what
// is known of it.
func (p *page) previewPane(width, height int) string {
	t, inner, rows := p.env.Theme, max(width-4, 0), max(height-2, 0)
	s := &p.preview.state
	if p.preview.id == "" {
		welcome := lipgloss.Place(inner, rows, lipgloss.Center, lipgloss.Center, p.welcome(inner))
		return widget.Pane{Titles: []string{"Welcome"}}.Draw(t, welcome, width, height)
	}
	frame := widget.Pane{
		Titles: []string{clean(s.Game.GetVariant()) + "  " + gamestate.ShortID(p.preview.id)},
		Corner: s.Badge(t, p.env.Now), Foot: s.Watching(),
	}
	facts, least := p.facts(inner)
	content := strings.Join(facts, "\n")
	if b := s.Board(); b != nil {
		if drawn, n, ok := fit(b, t, inner, rows, len(facts), least); ok {
			drawn = lipgloss.PlaceHorizontal(inner, lipgloss.Center, drawn)
			content = strings.TrimRight(drawn+"\n\n"+strings.Join(facts[:n], "\n"), "\n")
		}
	}
	return frame.Draw(t, lipgloss.PlaceVertical(rows, lipgloss.Center, content), width, height)
}

// welcome says what to do first. It stands in the place of a game.
func (p *page) welcome(width int) string {
	t := p.env.Theme
	lines := []string{widget.Choice(t, "t", "TV shows live games"), widget.Choice(t, "r", "the rules"), widget.Choice(t, "?", "all keys")}
	if p.env.Guest == "" {
		lines = append([]string{widget.Choice(t, "n", "starts a game")}, lines...)
	}
	text := strings.Join(lines, "\n")
	text = widget.Block(text, lipgloss.Width(text), len(lines))
	if name, ok := style.Large("gridstand", width); ok {
		return lipgloss.JoinVertical(lipgloss.Center, t.Accent().Render(name), "", text)
	}
	return text
}

// fit draws a board as large as it fits into width × height above all of the lines, above
// the least of them, or alone. It returns the number of lines.
func fit(b board.Board, t style.Theme, width, height, lines, least int) (drawn string, n int, ok bool) {
	sizes, tight := b.Sizes(t)
	for _, sizes := range [][]board.Size{sizes, tight} {
		for _, c := range sizes {
			for _, n := range []int{lines, least} {
				if w, h := b.Measure(c); w <= width && h+1+n <= height {
					return b.Draw(c, t), n, true
				}
			}
		}
		for _, c := range sizes {
			if w, h := b.Measure(c); w <= width && h <= height {
				return b.Draw(c, t), 0, true
			}
		}
	}
	return "", 0, false
}

// facts returns lines about the previewed game, the most important first. The first least
// lines are shown together or not at all.
func (p *page) facts(width int) (lines []string, least int) {
	t, s := p.env.Theme, &p.preview.state
	if s.Tribolo() != nil {
		lines = strings.Split(s.SeatLines(t, width, p.env.Me), "\n")
	} else {
		lines = append(lines, widget.Header(width, []string{t.Bold().Render(ansi.Truncate(s.Player(), nameMin, "…")), ""},
			[]string{gamestate.Plural(int(s.Score()), "point") + ", tile " + s.BestTile()}))
	}
	least = len(lines)
	about := gamestate.Plural(int(s.Moves()), "move") + ", started " +
		gamestate.Ago(p.env.Now.Sub(s.Game.GetCreateTime().AsTime()))
	if s.Over() {
		about = s.Ending() + ", " + about
	}
	lines = append(lines, t.Dim().Render(widget.Cell(about, width)))
	if s.Game.GetExhibition() {
		lines = append(lines, t.Dim().Render(widget.Cell("exhibition: only bots play", width)))
	} else if reason := s.Unranked(); reason != "" {
		lines = append(lines, t.Dim().Render(widget.Cell("unranked: "+reason, width)))
	}
	return lines, least
}
