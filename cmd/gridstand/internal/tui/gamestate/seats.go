package gamestate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// TurnText returns two lines that say whose turn it is and what the legal moves are worth.
// mine is set if it is the user's turn.
func (s *State) TurnText(t ui.Theme, mine bool) string {
	turn := s.Turn()
	switch {
	case s.Over():
		return t.Bold().Render(describe.Ending(s.Game.Game))
	case s.Err != nil && turn < 0: // players can no longer join
		return ""
	case turn < 0:
		return t.Bold().Render("Waiting for " + describe.Plural(OpenSeats(s.Game.Game), "player"))
	}
	name := t.Owner(turn).Render(" " + strings.ToUpper(describe.Colors[turn%len(describe.Colors)]) + " ")
	who := name + t.Bold().Render(" to move")
	if mine {
		who = t.Accent().Bold(true).Render("▶ Your turn, ") + name
	}
	best, moves := 0, s.Tribolo().GetLegalMoves()
	for _, move := range moves {
		best = max(best, len(move.GetTaken()))
	}
	return who + "\n" + t.Dim().Render(fmt.Sprintf("%s, best takes %d", describe.Plural(len(moves), "place"), best))
}

// Present describes who watches a game or, while it waits for players, how many of them are there.
func Present(g *pb.Game) string {
	if Waits(g) && g.GetWatchers() > 0 {
		return describe.Plural(g.GetWatchers(), "player") + " here"
	}
	return describe.Watching(g.GetWatchers())
}

// OpenSeats returns the number of seats that are waiting for players.
func OpenSeats(g *pb.Game) int {
	return len(g.GetSeats()) - len(Taken(g))
}

// Taken returns the seats that have an occupant.
func Taken(g *pb.Game) []*pb.Seat {
	return slices.DeleteFunc(slices.Clone(g.GetSeats()), func(s *pb.Seat) bool { return s.GetOpen() != nil })
}

// SeatBlocks draws every seat with its score and a bar below, for a panel. me is the id of the account
// to call "you". If airy is set, empty lines separate the seats.
func (s *State) SeatBlocks(t ui.Theme, l board.Layout, me string, airy bool) string {
	width := l.PanelWidth
	var blocks []string
	for i := range s.Game.GetSeats() {
		score := " " + describe.Comma(s.ScoreOf(i))
		blocks = append(blocks, s.seatLine(t, i, width-4-len(score), me, l.Roomy(), t.Bold().Render(score))+
			"\n    "+s.scoreBar(t, i, width-4))
	}
	if airy {
		return strings.Join(blocks, "\n\n")
	}
	return strings.Join(blocks, "\n")
}

// SeatLines draws every seat on its own line, and those of a finished game by score. The bars take the room that the
// names leave. A long name is cut or, if whole is set, continues below.
func (s *State) SeatLines(t ui.Theme, width int, me string, whole bool) string {
	const around = 11 // columns of a line without name and bar
	labels := convert.All(s.Game.GetSeats(), func(seat *pb.Seat) string { return seatLabel(seat, me, math.MaxInt) })
	names := min(lipgloss.Width(strings.Join(labels, "\n")), width-around)
	order := make([]int, len(labels))
	for i := range order {
		order[i] = i
	}
	if s.Over() {
		slices.SortStableFunc(order, func(i, j int) int { return int(s.ScoreOf(j) - s.ScoreOf(i)) })
	}
	lines := convert.All(order, func(i int) string {
		score := fmt.Sprintf(" %4s  ", describe.Comma(s.ScoreOf(i)))
		return s.seatLine(t, i, names, me, whole, score+s.scoreBar(t, i, width-names-around))
	})
	return strings.Join(lines, "\n")
}

// Facts describes a finished game in a panel, below its score: the seats, or the player and how far the game went.
func (s *State) Facts(t ui.Theme, l board.Layout, me string) string {
	if s.Tribolo() != nil {
		return s.SeatLines(t, l.PanelWidth, me, l.Roomy())
	}
	return s.Player() + "  " + t.Dim().Render("best "+describe.Standing(s.Game.Game))
}

// seatLine draws the letter of a seat on its color, its label, and then rest. A label that is longer than width
// is cut or, if whole is set, continues below. It is bold if it is the seat's turn.
func (s *State) seatLine(t ui.Theme, seat, width int, me string, whole bool, rest string) string {
	style := lipgloss.NewStyle()
	if seat == s.Turn() {
		style = t.Bold()
	}
	letter := t.Owner(seat).Render(" " + board.OwnerLetters[seat%len(board.OwnerLetters)] + " ")
	label := seatLabel(s.Game.GetSeats()[seat], me, width)
	if whole {
		label = ui.Wrap(seatLabel(s.Game.GetSeats()[seat], me, math.MaxInt), width)
	}
	label = style.Render(ui.Block(label, width, lipgloss.Height(label)))
	return lipgloss.JoinHorizontal(lipgloss.Top, letter+" ", label, rest)
}

// LogLines lists the last events in at most width × rows, newest first.
func (s *State) LogLines(t ui.Theme, width, rows int) string {
	const around = 2 + 1 + 6 // the columns between the number and the description, and after that
	shown, number, widest := s.Log[:min(len(s.Log), max(rows, 0))], 5, 0
	for _, entry := range shown {
		number = max(number, len(describe.Comma(entry.Move)))
		widest = max(widest, lipgloss.Width(entry.What))
	}
	widest = min(widest, width-number-around)
	var lines []string
	for i, entry := range shown {
		gained := ""
		if entry.Gained > 0 {
			gained = "+" + describe.Comma(entry.Gained)
		}
		ink := t.Dim()
		if i == 0 {
			ink = t.Bold()
		}
		text := fmt.Sprintf("%*s  %s %6s", number, describe.Comma(entry.Move), ui.Cell(entry.What, widest), gained)
		lines = append(lines, ink.Render(strings.TrimRight(text, " ")))
	}
	return strings.Join(lines, "\n")
}

// scoreBar draws the score of a seat as a bar of at most width columns.
func (s *State) scoreBar(t ui.Theme, seat, width int) string {
	n := int(max(s.ScoreOf(seat), 0)) * max(width, 0) / int(max(HighestScore(s.Game.Game), 1))
	if p := t.Colors(); t.Colored() && seat < len(p.Owners) {
		return lipgloss.NewStyle().Foreground(p.Owners[seat].Ground).Render(strings.Repeat("━", n))
	}
	return strings.Repeat(board.OwnerBars[seat%len(board.OwnerBars)], n)
}

// seatLabel returns the name of a seat's occupant. It also says whether a stand-in plays
// for them, and whether they resigned. A long name leaves room for this in width columns.
func seatLabel(seat *pb.Seat, me string, width int) string {
	text, mine := SeatName(seat), me != "" && seat.GetPlayer().GetId() == me
	switch by := seat.GetStandIn(); {
	case by == "" || seat.GetResigned():
	case mine:
		return client.CleanName(by) + " for you"
	default:
		return client.CleanName(by) + " for " + text
	}
	more := ""
	if mine {
		more = " (you)"
	}
	if seat.GetResigned() {
		more += ", gave up"
	}
	return ansi.Truncate(text, max(width-len(more), 1), "…") + more
}
