package lobby

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Minimum sizes of the body for each layout.
const (
	twoColumns = 76 // columns; from this width on, the preview is shown beside a list
	stacked    = 15 // rows; at this height, a body at least twoColumns wide shows one list above the other
)

func (p *page) View(width, height int) ui.View {
	v := ui.View{Title: "Lobby", Left: []string{p.env.Theme.Bold().Render("lobby")}, Right: p.summary()}
	if p.problem != "" {
		v.Status = p.env.Theme.Warn().Render("! " + p.problem)
	}
	if text := p.account(); text != "" {
		v.Right = append(v.Right, p.env.Theme.Dim().Render(text))
	}
	if line := p.dailyLine(width); line != "" {
		v.Body = line + "\n" + p.body(width, height-1)
	} else {
		v.Body = p.body(width, height)
	}
	return v
}

// summary returns the right side of the header.
func (p *page) summary() []string {
	t := p.env.Theme
	if !p.loaded {
		return []string{t.Dim().Render("◌ connecting")}
	}
	waiting, idle := 0, 0
	for _, g := range p.games[paneLive] {
		_, silent := gamestate.Idle(g, p.env.Now)
		switch {
		case gamestate.Waits(g):
			waiting++
		case silent:
			idle++
		}
	}
	parts := []string{t.Dim().Render("○ 0 live")}
	switch live := p.lists.Moving; {
	case live > 0:
		parts[0] = t.Good().Render("●") + fmt.Sprintf(" %d live", live)
	case idle > 0:
		parts[0] = t.Dim().Render(fmt.Sprintf("○ %d idle", idle))
	}
	if waiting > 0 {
		parts = append(parts, t.Accent().Render("◌")+fmt.Sprintf(" %d waiting", waiting))
	}
	return parts
}

// body draws the panes that fit.
func (p *page) body(width, height int) string {
	switch {
	case width < twoColumns:
		return p.list(p.pane, true, width, height)
	case height < stacked:
		left := width * 58 / 100
		return lipgloss.JoinHorizontal(lipgloss.Top, p.list(p.pane, true, left, height), p.previewPane(width-left, height))
	}
	left := min(width*58/100, width-33) // leave room for a 2048 board in the preview
	mine := max(height*2/5, 6)
	lists := p.list(paneLive, false, left, height-mine) + "\n" + p.list(paneMine, false, left, mine)
	upper := height - max(height*3/10, 7)
	return lipgloss.JoinHorizontal(lipgloss.Top, lists,
		p.previewPane(width-left, upper)+"\n"+p.list(paneScores, false, width-left, height-upper))
}

// list draws the pane of a list. If tabs is set, the other lists have no panes of their
// own, so their titles are shown on this one.
func (p *page) list(pane int, tabs bool, width, height int) string {
	inner := max(width-2, 0)
	board := clean(p.board())
	if p.loaded {
		board = clean(p.lists.Variant)
	}
	names := []string{"Live games", "My games", "Top " + board}
	if tabs && width < 57 { // otherwise there would be no room for the period
		names = []string{"Live", "Mine", "Top"}
	}
	if pane == p.pane { // for terminals without colors
		names[pane] = "‹" + names[pane] + "›"
	}
	frame := ui.Pane{Titles: names, Active: pane, Focused: pane == p.pane, Foot: p.cursors[pane].position(), Flush: true}
	if !tabs {
		frame.Titles, frame.Active = names[pane:pane+1], 0
	}
	t, at, room := p.env.Theme, p.cursors[pane].at, height-2
	var content string
	if pane == paneScores {
		table := ui.Table[*pb.Entry]{Columns: scoreColumns(p.env, p.lists.Scores, inner), Items: p.lists.Scores}
		content = table.Draw(t, at, frame.Focused, inner, room)
		frame.Corner = p.windowNames(true)
		if lipgloss.Width(strings.Join(frame.Titles, " ─ ")+frame.Corner)+ui.EdgeWidth > width {
			frame.Corner = p.windowNames(false)
		}
	} else {
		columns := p.gameColumns(pane == paneMine, inner)
		table := ui.Table[*pb.Game]{Columns: columns, Items: p.games[pane]}
		content = table.Draw(t, at, frame.Focused, inner, room)
	}
	if len(p.cursors[pane].ids) == 0 {
		frame.Flush = false
		content = t.Dim().Render(ui.Wrap(p.empty(pane), inner-2))
	}
	return frame.Draw(t, content, width, height)
}

// windowNames returns the period of the leaderboard, along with the other periods if all is
// set.
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

// empty returns the message for an empty list.
func (p *page) empty(pane int) string {
	switch {
	case !p.loaded && p.problem == "":
		return "Loading …"
	case !p.loaded:
		return "Not loaded."
	case pane == paneScores && windows[p.window].window == pb.Window_WINDOW_ALL_TIME: // no other period has any
		return "No scores yet. Press v for another variant."
	case pane == paneScores:
		return "No scores yet. Press ← or → for another period, v for another variant."
	case p.env.WatchOnly != "" && pane == paneMine:
		return p.env.WatchOnly
	case p.env.WatchOnly != "":
		return "No live games."
	case pane == paneLive:
		return "No live games. Press n to start one."
	default:
		return "None yet. Press n to start one, s to race somebody now."
	}
}

// previewPane draws the selected game: the board, as large as possible, with facts about
// the game below it.
func (p *page) previewPane(width, height int) string {
	t, inner, rows := p.env.Theme, max(width-4, 0), max(height-2, 0)
	s := &p.preview
	if s.Game.GetId() == "" {
		welcome := lipgloss.Place(inner, rows, lipgloss.Center, lipgloss.Center, p.welcome(inner))
		return ui.Pane{Titles: []string{"Welcome"}}.Draw(t, welcome, width, height)
	}
	title, badge := clean(s.Game.GetVariant()), s.Badge(t, p.env.Now)
	if full := title + "  " + gamestate.ShortID(s.Game.GetId()); lipgloss.Width(full+badge)+ui.EdgeWidth <= width {
		title = full
	}
	frame := ui.Pane{Titles: []string{title}, Corner: badge}
	if !isRace(s.Game.Game) { // The number of watchers of a race is unknown.
		frame.Foot = gamestate.Present(s.Game.Game)
	}
	facts, least := p.facts(inner)
	content := strings.Join(facts, "\n")
	if b := s.Board(); b != nil {
		c, ok := board.LargestSize(b, t, inner, rows-1-least)
		if !ok {
			c, ok = board.LargestSize(b, t, inner, rows)
		}
		if ok { // The pane cuts off the facts for which there is no room.
			content = lipgloss.PlaceHorizontal(inner, lipgloss.Center, b.Draw(c, t)) + "\n\n" + content
		}
	}
	return frame.Draw(t, lipgloss.PlaceVertical(rows, lipgloss.Center, content), width, height)
}

// welcome returns the message to show if no game is selected. It lists the first keys to
// try.
func (p *page) welcome(width int) string {
	t := p.env.Theme
	lines := []string{ui.Choice(t, "t", "watch live games"), ui.Choice(t, "r", "read the rules"), ui.Choice(t, "?", "show all keys")}
	if p.env.WatchOnly == "" {
		lines = append([]string{ui.Choice(t, "n", "start a game"), ui.Choice(t, "s", "race somebody now")}, lines...)
	}
	text := strings.Join(lines, "\n")
	text = ui.Block(text, lipgloss.Width(text), len(lines))
	return lipgloss.JoinVertical(lipgloss.Center, t.Accent().Render(t.Large("gridstand", width)), "", text)
}

// facts returns lines about the previewed game, most important first. least is the number
// of leading lines for which the board leaves room.
func (p *page) facts(width int) (lines []string, least int) {
	t, s := p.env.Theme, &p.preview
	if isRace(s.Game.Game) {
		lines = raceFacts(t, s.Game.Game, width)
		return lines, len(lines)
	}
	if s.Tribolo() != nil {
		lines = strings.Split(s.SeatLines(t, width, p.env.Me, false), "\n")
	} else {
		points := describe.Plural(s.Score(), "point")
		lines = append(lines, ui.Header(width, []string{t.Bold().Render(ansi.Truncate(s.Player(), nameMin, "…"))},
			[]string{points, "tile " + s.BestTile()}))
	}
	least = len(lines)
	about := describe.Plural(s.Moves(), "move") + ", started " +
		describe.Ago(p.env.Now.Sub(s.Game.GetCreateTime().AsTime()))
	if s.Over() {
		about = describe.Ending(s.Game.Game) + ", " + about
	}
	if lipgloss.Width(about) > width {
		about, _, _ = strings.Cut(about, ", started")
	}
	lines = append(lines, t.Dim().Render(ui.Cell(about, width)))
	if s.Game.GetExhibition() {
		lines = append(lines, t.Dim().Render(ui.Cell("exhibition: only bots play", width)))
	} else if !s.Ranked() {
		lines = append(lines, t.Dim().Render(ui.Cell("unranked", width)))
	}
	return lines, least
}
