package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Measures of the lobby.
const (
	lobbyWide      = 76 // from this width on there are two columns
	lobbyMinWidth  = 26
	lobbyMinHeight = 12
	previewMin     = 13 // rows of the picture, with what stands below it
	previewMax     = 26
)

// View implements tea.Model.
func (l *Lobby) View() tea.View {
	if l.width < lobbyMinWidth || l.height < lobbyMinHeight {
		text := fmt.Sprintf("needs %d×%d, has %d×%d", lobbyMinWidth, lobbyMinHeight, l.width, l.height)
		return l.view(ansi.Hardwrap(text, max(l.width, 1), false), 0, "", 0)
	}
	rows := l.height - 3
	var body string
	if l.width >= lobbyWide {
		left := min(l.width*56/100, 80)
		right := l.width - left - 3
		mine := max(rows*2/5, 4)
		body = lipgloss.JoinHorizontal(lipgloss.Top,
			block(left, l.panel(paneLive, left, rows-mine-1)+"\n\n"+l.panel(paneMine, left, mine)),
			"   ",
			l.rightColumn(right, rows))
	} else {
		each := (rows - 2) / 3
		body = l.panel(paneLive, l.width-1, rows-2-2*each) + "\n\n" + l.panel(paneMine, l.width-1, each) + "\n\n" +
			l.panel(paneScores, l.width-1, each)
	}
	p := page{}
	switch {
	case l.help:
		l.cover(&p, "? closes; too small", l.helpBox(l.keys))
	case l.dialog != nil:
		l.cover(&p, "too small for this", l.dialogBox(true), l.dialogBox(false))
	}
	state := l.state()
	if p.state != "" {
		state = p.state
	}
	content := l.head() + "\n" + block(l.width, body) + "\n" + state + "\n" + l.helpBar(l.keys)
	return l.view(content, 0, p.box, l.width/2)
}

// block makes every line of a text that wide.
func block(width int, text string) string {
	rows := strings.Split(text, "\n")
	for i, row := range rows {
		rows[i] = pad(ansi.Truncate(row, width, "…"), width)
	}
	return strings.Join(rows, "\n")
}

// head is the line above the panes.
func (l *Lobby) head() string {
	waiting := 0
	for _, g := range l.lists.Live {
		if g.GetStatus() == pb.GameStatus_GAME_STATUS_WAITING {
			waiting++
		}
	}
	text := l.theme.dim().Render(fmt.Sprintf("%d live, %d waiting", len(l.lists.Live)-waiting, waiting))
	if !l.loaded {
		text = l.theme.dim().Render("◌ connecting")
	}
	return header(l.width, []string{l.brand(), ""}, []string{text})
}

// state is the line about what is the matter.
func (l *Lobby) state() string {
	switch {
	case l.typing:
		return l.theme.accent().Render("/") + l.filter + "▏" + l.theme.dim().Render("  enter keeps it, esc clears it")
	case l.problem != "":
		return l.theme.warn().Render("! " + l.problem)
	case l.filter != "":
		return l.theme.dim().Render("only games with ") + l.theme.bold().Render(l.filter)
	default:
		return ""
	}
}

// paneTitle is the line above a pane.
func (l *Lobby) paneTitle(pane, width int, title string) string {
	line := strings.Repeat("─", max(width-ansi.StringWidth(title)-3, 0))
	if pane == l.pane {
		return l.theme.accent().Bold(true).Render("▌ "+title) + " " + l.theme.accent().Render(line)
	}
	return l.theme.bold().Render("  "+title) + " " + l.theme.faint().Render(line)
}

// panel draws a pane in height rows, its title among them.
func (l *Lobby) panel(pane, width, height int) string {
	var title string
	var rows []string
	switch pane {
	case paneScores:
		return l.scores(width, height)
	case paneLive:
		title = "LIVE GAMES"
	default:
		title = "MY GAMES"
	}
	games, room := l.games(pane), max(height-1, 1)
	first := max(min(l.at(pane)-room/2, len(games)-room), 0)
	for i := first; i < min(first+room, len(games)); i++ {
		rows = append(rows, l.gameRow(games[i], width, pane == l.pane && i == l.at(pane)))
	}
	if len(games) == 0 {
		rows = l.emptyRows(width, room, l.emptyPane(pane))
	}
	for len(rows) < room {
		rows = append(rows, "")
	}
	return l.paneTitle(pane, width, title) + "\n" + strings.Join(rows, "\n")
}

// emptyPane says what to do where there is nothing.
func (l *Lobby) emptyPane(pane int) string {
	switch {
	case !l.loaded:
		return "…"
	case l.filter != "":
		return "No game matches the filter."
	case pane == paneLive:
		return "No live games. n starts one."
	case l.me == "":
		return "None yet. n starts one and creates an account."
	default:
		return "None yet. n starts one."
	}
}

// emptyRows are the rows of a pane in which there is nothing but that text.
func (l *Lobby) emptyRows(width, height int, text string) []string {
	const margin = "  "
	rows := strings.Split(ansi.Wordwrap(text, width-len(margin), ""), "\n")
	rows = rows[:min(len(rows), height)]
	for i, row := range rows {
		rows[i] = l.theme.dim().Render(margin + row)
	}
	return rows
}

// gameRow is a game in a line.
func (l *Lobby) gameRow(g *pb.Game, width int, selected bool) string {
	tail := comma(highestOf(g))
	switch g.GetStatus() {
	case pb.GameStatus_GAME_STATUS_WAITING:
		tail = "waiting"
	case pb.GameStatus_GAME_STATUS_FINISHED:
		tail = "■ " + tail
	}
	watching := ""
	if n := g.GetWatchers(); n > 0 {
		watching = fmt.Sprintf("%s ◉", comma(n))
	}
	const variantWidth, tailWidth, watchWidth = 9, 9, 6
	name := max(width-2-variantWidth-tailWidth-watchWidth, 4)
	line := pad(ansi.Truncate(client.CleanText(g.GetVariant(), nameLimit), variantWidth-1, "…"), variantWidth) +
		pad(ansi.Truncate(PlayerName(g), name-1, "…"), name) +
		fmt.Sprintf("%*s%*s", tailWidth, tail, watchWidth, watching)
	line = ansi.Truncate(line, width-2, "")
	if selected {
		return l.theme.accent().Bold(true).Render("▸ " + line)
	}
	return "  " + line
}

// highestOf is the best score in a game.
func highestOf(g *pb.Game) int32 {
	var best int32
	for _, s := range g.GetPosition().GetScores() {
		best = max(best, s)
	}
	return best
}

// rightColumn is the picture of the selected game above the leaderboard.
func (l *Lobby) rightColumn(width, rows int) string {
	picture := l.picture(width, min(max(rows*3/5, previewMin), rows-5, previewMax))
	height := lipgloss.Height(picture)
	return block(width, picture) + "\n\n" + block(width, l.scores(width, rows-height-1))
}

// picture is the selected game, small.
func (l *Lobby) picture(width, height int) string {
	board := l.preview.picture()
	if board == nil {
		return strings.Repeat("\n", max(height-1, 0))
	}
	caption := l.theme.bold().Render(ansi.Truncate(l.preview.player(), width, "…")) + "\n" +
		l.theme.dim().Render(ansi.Truncate(l.preview.standing(), width, "…"))
	sizes, tight := board.sizes(l.theme)
	for _, c := range append(sizes, tight...) {
		if w, h := board.size(c); w <= width && h <= height-2 {
			return board.draw(c, l.theme) + "\n" + caption
		}
	}
	return caption
}

// standing is how a game stands in a line.
func (m *match) standing() string {
	if m.tribolo() == nil {
		return fmt.Sprintf("%s, tile %s, %s", plural(int(m.score()), "point"), m.bestTile(), m.movesMade())
	}
	var parts []string
	for i := range m.game.GetSeats() {
		parts = append(parts, fmt.Sprintf("%s %d", ownerLetters[i%len(ownerLetters)], m.scoreOf(i)))
	}
	return strings.Join(parts, "  ") + ", " + m.movesMade()
}

// scores is the pane of the leaderboard.
func (l *Lobby) scores(width, height int) string {
	title := "TOP " + strings.ToUpper(client.CleanText(l.lists.Variant, nameLimit)) + ", " + windowsOfScores[l.window].name
	rows := []string{l.paneTitle(paneScores, width, title)}
	for _, e := range l.lists.Scores {
		if len(rows) >= height {
			break
		}
		score := comma(e.GetScore())
		name := pad(ansi.Truncate(client.CleanName(e.GetPlayer().GetName()), max(width-7-len(score), 1), "…"), max(width-7-len(score), 1))
		line := fmt.Sprintf("%4d  %s %s", e.GetRank(), name, score)
		if l.me != "" && e.GetPlayer().GetId() == l.me {
			line = l.theme.good().Bold(true).Render(line)
		}
		rows = append(rows, line)
	}
	if len(l.lists.Scores) == 0 && l.loaded {
		rows = append(rows, l.emptyRows(width, height-1, "No scores yet.\n← → other times, v next variant")...)
	}
	for len(rows) < height {
		rows = append(rows, "")
	}
	return strings.Join(rows, "\n")
}
