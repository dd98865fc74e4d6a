package tui

import (
	"fmt"
	"math"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

const (
	// watchPanelLines is the height of the panel below the board.
	watchPanelLines = 6
	// nameLines is the height from which on a panel beside it has room for a
	// large name above the scores.
	nameLines = 8
)

// View implements tea.Model.
func (w *Watch) View() tea.View {
	looked := *w
	looked.match = w.shown()
	return looked.draw()
}

// draw draws what the user looks at.
func (w *Watch) draw() tea.View {
	board := w.picture()
	if board == nil {
		return w.waiting()
	}
	l, ok := w.layout(board, watchPanelLines)
	if !ok {
		return w.view(w.tooSmall(board), 0, "", 0)
	}
	content := page{
		head:  w.head,
		board: board.draw(l.cell, w.theme),
		bar:   w.helpBar(w.keys),
		state: w.state(),
	}
	if w.bare {
		content.bar = ""
	}
	if l.wide {
		content.panel = w.sidePanel(l.panelWidth, l.panelHeight)
	} else {
		content.panel = w.lowPanel(l.panelWidth, l.panelHeight)
	}
	switch {
	case w.help:
		w.cover(&content, "? closes; too small", w.helpBox(w.keys))
	case w.over():
		w.cover(&content, "", w.result(true), w.result(false))
	}
	return w.compose(l, content)
}

// head is the line above the board.
func (w *Watch) head(width int) string {
	badge, game := w.badge(&w.base), w.theme.bold().Render(w.variant())
	brand := w.brand()
	if w.tv != nil {
		brand += " " + w.theme.accent().Render("TV")
	}
	return header(width,
		[]string{brand + "  " + game, game, ""},
		[]string{strings.TrimRight(badge+"   "+w.theme.dim().Render(w.watching())+"   "+w.clockText(&w.base), " "), badge})
}

// state is the line about what is the matter, empty when nothing is.
func (w *Watch) state() string {
	switch {
	case w.problem != "":
		return w.theme.warn().Render("! " + w.problem)
	case w.mistaken() != "":
		return w.theme.warn().Render("! " + w.mistaken())
	default:
		return w.pastState()
	}
}

// name is who plays, large where there is room.
func (w *Watch) name(width int) string {
	text, ok := large(w.player(), width)
	if !ok {
		text = w.player()
	}
	return w.theme.accent().Bold(true).Render(text)
}

// why says why TV shows this game, empty where the user chose it.
func (w *Watch) why() string {
	if w.tv == nil {
		return ""
	}
	return w.theme.dim().Render(w.tv.why)
}

// scores are the numbers that matter most.
func (w *Watch) scores() []pair {
	return []pair{{"SCORE", comma(w.score()), w.gain()}, {"TILE", w.bestTile(), ""}}
}

// sidePanel is the panel beside the board; the log of moves gets what the rest
// leaves of it.
func (w *Watch) sidePanel(width, height int) string {
	if height < nameLines {
		return w.lowPanel(width, height)
	}
	if w.tribolo() != nil {
		top := strings.TrimSuffix(w.seatBlocks(&w.base, width, "")+"\n"+w.why(), "\n")
		turn := w.turnText(&w.base, false)
		room := height - lipgloss.Height(top) - lipgloss.Height(turn) - 4
		return stack(height, top, turn, w.moveLog(room), w.since())
	}
	top := stack(height, strings.TrimSuffix(w.name(width)+"\n"+w.why(), "\n"), w.cards(width, w.scores()...))
	room := height - lipgloss.Height(top) - 4
	return stack(height, top, w.moveLog(room), w.since())
}

// lowPanel is the panel below the board.
func (w *Watch) lowPanel(width, height int) string {
	if w.tribolo() != nil {
		return stack(height, w.seatLines(&w.base, width, "")+"\n"+w.turnText(&w.base, false), w.since())
	}
	name := w.theme.accent().Bold(true).Render(w.player())
	if why := w.why(); why != "" {
		name += "  " + why
	}
	head := name + "\n" + w.inline(width, w.scores()...)
	return stack(height, head, w.moveLog(height-lipgloss.Height(head)-1), w.since())
}

// moveLog lists the last moves, the newest first.
func (w *Watch) moveLog(rows int) string {
	var out []string
	for i, entry := range w.log[:min(len(w.log), max(rows, 0))] {
		gained := ""
		if entry.gained > 0 {
			gained = "+" + comma(entry.gained)
		}
		style := w.theme.dim()
		if i == 0 {
			style = w.theme.bold()
		}
		out = append(out, style.Render(strings.TrimRight(fmt.Sprintf("%7s  %s  %8s", comma(entry.move), entry.what, gained), " ")))
	}
	return strings.Join(out, "\n")
}

// since says which version this is and how old.
func (w *Watch) since() string {
	age := w.now.Sub(w.game.GetUpdateTime().AsTime())
	return w.theme.dim().Render(fmt.Sprintf("version %s, %s", comma(w.game.GetVersion()), Ago(age)))
}

// result is the box over the board of a finished game.
func (w *Watch) result(airy bool) string {
	end := w.choice("q", "quit")
	if w.tv != nil {
		end = w.theme.dim().Render("next game soon")
	}
	facts := w.outcome(&w.base)
	if w.tribolo() != nil {
		facts = w.theme.bold().Render(w.winners("")) + "\n" + w.standings(&w.base, "")
	}
	if w.bare {
		return w.box(w.ending(), facts)
	}
	return w.box(w.ending(), lines(airy,
		facts,
		"",
		w.verification(w.game.GetId()),
		"",
		end,
	))
}

// waiting is the screen while there is no game on it.
func (w *Watch) waiting() tea.View {
	title, ok := large("GRIDSTAND", w.width-2)
	if !ok {
		title = "GRIDSTAND"
	}
	title = w.theme.accent().Bold(true).Render(title)
	var text []string
	switch {
	case w.problem != "":
		text = append(text, w.theme.warn().Render(w.problem))
	case w.tv != nil && w.tv.wait > 0:
		text = append(text, w.theme.bold().Render("No live games."), "Start one: gridstand play")
	case w.tv != nil:
		text = append(text, w.theme.dim().Render("Looking for a live game …"))
	default:
		text = append(text, w.badge(&w.base))
		if mistaken := w.mistaken(); mistaken != "" {
			text = append(text, w.theme.warn().Render(mistaken))
		}
	}
	if w.tv != nil && w.tv.wait > 0 {
		left := max(int(math.Ceil(w.tv.until.Sub(w.now).Seconds())), 0)
		text = append(text, "", w.theme.dim().Render(fmt.Sprintf("checking again in %d s", left)))
	}
	if !w.bare {
		text = append(text, "", w.helpBar(w.keys))
	}
	block := title + "\n\n" + strings.Join(text, "\n")
	width, _ := blockSize(block)
	width = min(width, w.width)
	block = lipgloss.NewStyle().Width(width).Align(lipgloss.Center).Render(block)
	var over page
	if w.help {
		w.cover(&over, "", w.helpBox(w.keys))
	}
	return w.view(block, (w.width-width)/2, over.box, w.width/2)
}

// Ago says how long ago something was, roughly.
func Ago(d time.Duration) string {
	switch {
	case d < 2*time.Second:
		return "just now"
	case d < time.Minute:
		return fmt.Sprintf("%d s ago", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	default:
		return fmt.Sprintf("%d days ago", int(d.Hours()/24))
	}
}
