package tui

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// triboloPanelLines is the height of the panel below the board, without the
// command.
const triboloPanelLines = 7

// View implements tea.Model.
func (t *Tribolo) View() tea.View {
	board := triboloPicture{board: t.tribolo(), jump: t.jump, hints: t.hints, lit: t.mine()}
	if !t.over() {
		board.cursor = &t.cursor
	}
	l, ok := t.layout(board, triboloPanelLines+t.commandRows())
	if !ok {
		return t.title(t.view(t.tooSmall(board), 0, "", 0))
	}
	content := page{
		head:  t.head,
		board: board.draw(l.cell, t.theme),
		bar:   t.helpBar(t.keys),
		state: t.state(),
		click: func(x, y int) tea.Cmd {
			to, ok := board.cellAt(l.cell, x, y)
			if !ok {
				return nil
			}
			return func() tea.Msg { return jumpMsg{to: to} }
		},
	}
	content.panel = t.panel(l.panelWidth, l.panelHeight, l.wide)
	switch {
	case t.help:
		t.cover(&content, "i closes; too small", t.helpBox(t.keys))
	case t.question != noQuestion:
		t.cover(&content, "Sure? y n", t.ask(true), t.ask(false))
	case t.over() && !t.starting:
		t.cover(&content, "Game over: n new, q quit", t.result(true), t.result(false))
	}
	return t.title(t.compose(l, content))
}

// title gives the terminal its title, which says whose turn it is.
func (t *Tribolo) title(v tea.View) tea.View {
	v.WindowTitle = t.variant() + " · Gridstand"
	if t.mine() {
		v.WindowTitle = "Your turn · " + v.WindowTitle
	}
	return v
}

// head is the line above the board.
func (t *Tribolo) head(width int) string {
	badge, game := t.badge(&t.base), t.theme.bold().Render(t.variant())
	watching := t.theme.dim().Render(t.watching())
	full, short := badge+"   "+watching, badge
	if clock := t.clockText(&t.base); clock != "" {
		full, short = full+"   "+clock, badge+"   "+clock
	}
	return header(width, []string{t.brand() + "  " + game, game, ""}, []string{full, short, badge})
}

// clockText says how much time is left for the move, empty without a clock.
func (m *match) clockText(b *base) string {
	deadline := m.game.GetPosition().GetTurnDeadline()
	if deadline == nil || m.over() {
		return ""
	}
	left := deadline.AsTime().Sub(b.now)
	text := clock(left) + " left"
	switch {
	case left < 10*time.Second:
		return b.theme.bad().Bold(true).Render(text)
	case left < 30*time.Second:
		return b.theme.warn().Render(text)
	default:
		return b.theme.bold().Render(text)
	}
}

// clock writes a span as a clock does: 0:41, 2:03:00 or 3 d 4 h.
func clock(d time.Duration) string {
	s := max(int(math.Ceil(d.Seconds())), 0)
	switch {
	case s < 3600:
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	case s < 48*3600:
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	default:
		return fmt.Sprintf("%d d %d h", s/86400, s/3600%24)
	}
}

// state is the line about what is the matter, empty when nothing is.
func (t *Tribolo) state() string {
	if trouble := t.trouble(); trouble != "" {
		return trouble
	}
	switch {
	case t.acting && t.now.Sub(t.actingSince) > slowTime:
		return t.theme.warn().Render(fmt.Sprintf("No answer for %d s.", int(t.now.Sub(t.actingSince).Seconds())))
	case t.held() != nil:
		return t.theme.warn().Bold(true).Render("Your time ran out: " + t.held().GetStandIn() +
			" moves for you. Any key takes your seat back.")
	case t.notice != "":
		return t.theme.dim().Render(t.notice)
	default:
		return ""
	}
}

// panel is the panel beside the board, or below it.
func (t *Tribolo) panel(width, height int, wide bool) string {
	turn := t.turnText(&t.base, t.mine())
	if hint := t.hint(); hint != "" {
		turn += "\n" + hint
	}
	if why := t.unranked(); why != "" {
		turn += "\n" + t.theme.warn().Render(ansi.Wordwrap("unranked: "+why, width, ""))
	}
	what, command := "Others watch with", "watch"
	if t.game.GetStatus() == pb.GameStatus_GAME_STATUS_WAITING {
		what, command = "Others join with", "join"
	}
	if !wide {
		return stack(height, t.seatLines(&t.base, width, t.me)+"\n"+turn,
			t.command(width, what, command, t.opened.GetId()))
	}
	return stack(height, t.seatBlocks(&t.base, width, t.me), turn,
		t.command(width, what, command, t.opened.GetId()))
}

// hint says what a jump to the cursor would do, while that is wanted.
func (t *Tribolo) hint() string {
	if !t.hints || t.over() || t.turn() < 0 {
		return ""
	}
	name := CellName(&t.cursor)
	m := moveTo(t.tribolo(), &t.cursor)
	if m == nil {
		return t.theme.dim().Render(name + ": no jump")
	}
	return t.theme.accent().Render(name+" takes ") + t.theme.bold().Render(takes(t.tribolo(), m))
}

// takes says how many cells a move takes, and whose: "5: 3 R, 2 G".
func takes(b *pb.TriboloBoard, m *pb.TriboloMove) string {
	count := make([]int, len(ownerLetters))
	for _, c := range m.GetTaken() {
		if seat := seatOf(b.GetCells()[c.GetY()*b.GetColumns()+c.GetX()]); seat >= 0 {
			count[seat]++
		}
	}
	var parts []string
	for seat, n := range count {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, ownerLetters[seat]))
		}
	}
	return fmt.Sprintf("%d: %s", len(m.GetTaken()), strings.Join(parts, ", "))
}

// turnText says who is to move, and what there is to do.
func (m *match) turnText(b *base, mine bool) string {
	turn := m.turn()
	switch {
	case m.over():
		return b.theme.bold().Render(m.ending())
	case turn < 0:
		open := 0
		for _, seat := range m.game.GetSeats() {
			if seat.GetOpen() != nil {
				open++
			}
		}
		return b.theme.bold().Render(fmt.Sprintf("Waiting for %d to join", open))
	}
	who := b.owner(turn).Render(ownerNames[turn%len(ownerNames)]) + b.theme.bold().Render(" to move")
	if mine {
		who = b.theme.accent().Bold(true).Render("▶ Your turn, ") + b.owner(turn).Render(ownerNames[turn%len(ownerNames)])
	}
	best, moves := 0, m.tribolo().GetLegalMoves()
	for _, move := range moves {
		best = max(best, len(move.GetTaken()))
	}
	return who + "\n" + b.theme.dim().Render(fmt.Sprintf("%s, best takes %d", plural(len(moves), "place"), best))
}

// owner is the style of an owner's letter and name.
func (b *base) owner(seat int) lipgloss.Style {
	s := b.theme.bold()
	if p := b.theme.palette(); p != nil && seat >= 0 && seat < len(p.owners) {
		s = s.Foreground(p.owners[seat].ink).Background(p.owners[seat].ground)
	}
	return s
}

// bar draws a score as a bar of at most width columns.
func (m *match) bar(b *base, seat, width int) string {
	best := max(highestOf(m.game.Game), 1)
	n := int(m.scoreOf(seat)) * max(width, 0) / int(best)
	if p := b.theme.palette(); p != nil && seat < len(p.owners) {
		return lipgloss.NewStyle().Foreground(p.owners[seat].ground).Render(strings.Repeat("█", n))
	}
	return strings.Repeat(ownerBars[seat%len(ownerBars)], n)
}

// scoreOf is a seat's score.
func (m *match) scoreOf(seat int) int32 {
	if scores := m.game.GetPosition().GetScores(); seat >= 0 && seat < len(scores) {
		return scores[seat]
	}
	return 0
}

// seatLabel is who sits there, and what is the matter with the seat.
func (m *match) seatLabel(seat *pb.Seat, me string) string {
	text, mine := seatName(seat), me != "" && seat.GetPlayer().GetId() == me
	switch by := seat.GetStandIn(); {
	case by == "" || seat.GetResigned():
	case mine:
		return client.CleanName(by) + " for you"
	default:
		return client.CleanName(by) + " for " + text
	}
	if mine {
		text += " (you)"
	}
	if seat.GetResigned() {
		text += ", gave up"
	}
	return text
}

// seatBlocks shows every seat with its score, and a bar under it.
func (m *match) seatBlocks(b *base, width int, me string) string {
	var rows []string
	for i, seat := range m.game.GetSeats() {
		score := comma(m.scoreOf(i))
		room := width - 4 - len(score)
		label := pad(ansi.Truncate(m.seatLabel(seat, me), room-1, "…"), room)
		if i == m.turn() {
			label = b.theme.bold().Render(label)
		}
		rows = append(rows,
			b.owner(i).Render(" "+ownerLetters[i%len(ownerLetters)]+" ")+" "+label+b.theme.bold().Render(score),
			m.bar(b, i, width))
	}
	return strings.Join(rows, "\n")
}

// seatLines shows every seat in a line.
func (m *match) seatLines(b *base, width int, me string) string {
	var rows []string
	for i, seat := range m.game.GetSeats() {
		name := min(14, max(width/3, 4))
		label := pad(ansi.Truncate(m.seatLabel(seat, me), name, "…"), name)
		rows = append(rows, b.owner(i).Render(" "+ownerLetters[i%len(ownerLetters)]+" ")+" "+label+" "+
			fmt.Sprintf("%3d ", m.scoreOf(i))+m.bar(b, i, width-name-9))
	}
	return strings.Join(rows, "\n")
}

// ask is the box that asks before something is given up.
func (t *Tribolo) ask(airy bool) string {
	if t.question != askNew {
		return t.askBack(t.question, airy, t.keys.Yes, t.keys.No)
	}
	title, what, yes := "Give this game up?", "The others play on without you.", "give up, new game"
	switch {
	case t.game.GetStatus() == pb.GameStatus_GAME_STATUS_WAITING:
		what = "It has not started."
	case t.alone():
		what = "It ends then."
	}
	return t.box(title, lines(airy, what, "",
		t.choice(t.keys.Yes.Help().Key, yes)+"\n"+t.choice(t.keys.No.Help().Key, "cancel")))
}

// result is the box over the board of a finished game.
func (t *Tribolo) result(airy bool) string {
	return t.box(t.ending(), lines(airy,
		t.theme.bold().Render(t.winners(t.me)),
		t.standings(&t.base, t.me),
		"",
		t.verification(t.opened.GetId()),
		"",
		t.choice("n", "new")+"     "+t.choice("q", "quit"),
	))
}

// winners says who won.
func (m *match) winners(me string) string {
	var names []string
	you := false
	for _, w := range m.game.GetResult().GetWinners() {
		seat := m.seat(int(w))
		you = you || me != "" && seat.GetPlayer().GetId() == me
		names = append(names, actor(m.game.Game, int(w)))
	}
	switch {
	case len(names) == 0:
		return "Nobody wins"
	case len(names) == 1 && you:
		return "You win!"
	case len(names) == 1:
		return names[0] + " wins"
	default:
		return strings.Join(names, " and ") + " share the win"
	}
}

// standings lists the seats by their scores.
func (m *match) standings(b *base, me string) string {
	order := make([]int, len(m.game.GetSeats()))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return int(m.scoreOf(j) - m.scoreOf(i)) })
	var rows []string
	for _, i := range order {
		label := ansi.Truncate(m.seatLabel(m.game.GetSeats()[i], me), 24, "…")
		rows = append(rows, b.owner(i).Render(" "+ownerLetters[i%len(ownerLetters)]+" ")+" "+pad(label, 18)+fmt.Sprintf("%5d", m.scoreOf(i)))
	}
	return strings.Join(rows, "\n")
}

// Farewell implements Screen: how the game stands and how to take it up again.
func (t *Tribolo) Farewell() string {
	text := fmt.Sprintf("%s: %s", t.variant(), t.facts())
	switch {
	case t.ends, t.over() && t.resume != "":
		return text
	case t.resume != "":
		return text + ". Resume it with " + t.resume
	case t.over():
		return text + ". Verify it with " + t.commandLine("verify", t.opened.GetId())
	default:
		return text + ". It goes on: " + t.commandLine("play", t.opened.GetId())
	}
}
