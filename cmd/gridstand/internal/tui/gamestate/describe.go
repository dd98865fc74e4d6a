package gamestate

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/style"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// nameLimit is the longest name of a variant or a player that is shown whole, in characters.
const nameLimit = 24

// Variant returns the id of the game's variant, safe for a terminal.
func (s *State) Variant() string { return client.CleanText(s.Game.GetVariant(), nameLimit) }

// Player returns the name of the player, safe for a terminal; of all if there are several.
func (s *State) Player() string { return PlayerName(s.Game.Game) }

// PlayerName returns the name of a game's player, safe for a terminal; of all if there are
// several.
func PlayerName(g *pb.Game) string {
	var names []string
	for _, seat := range g.GetSeats() {
		names = append(names, SeatName(seat))
	}
	if len(names) == 0 {
		return "?"
	}
	return strings.Join(names, ", ")
}

// SeatName returns the name of a seat's occupant, safe for a terminal.
func SeatName(seat *pb.Seat) string { return client.CleanName(describe.Seat(seat)) }

// Seat returns a seat by its index, nil if there is none.
func (s *State) Seat(i int) *pb.Seat { return s.Game.SeatAt(int32(i)) }

// Turn returns the seat to move, -1 for none.
func (s *State) Turn() int {
	if p := s.Game.GetPosition(); p != nil && p.Turn != nil {
		return int(p.GetTurn())
	}
	return -1
}

// Score is the score of the first seat.
func (s *State) Score() int32 { return s.ScoreOf(0) }

// ScoreOf returns the score of a seat.
func (s *State) ScoreOf(seat int) int32 {
	if scores := s.Game.GetPosition().GetScores(); seat >= 0 && seat < len(scores) {
		return scores[seat]
	}
	return 0
}

// HighestScore is the best score in a game.
func HighestScore(g *pb.Game) int32 {
	var best int32
	for _, s := range g.GetPosition().GetScores() {
		best = max(best, s)
	}
	return best
}

// BestTile is the highest tile on the board.
func (s *State) BestTile() string { return strconv.Itoa(int(board.LargestTile(s.Twenty48()))) }

// Moves is the number of moves made.
func (s *State) Moves() int32 { return s.Game.GetPosition().GetMoveCount() }

// Gain is what the last move gained, with its sign; empty for nothing.
func (s *State) Gain() string {
	if s.Gained == 0 {
		return ""
	}
	return "+" + Comma(s.Gained)
}

// Watching says how many watch.
func (s *State) Watching() string {
	if n := s.Game.GetWatchers(); n > 0 {
		return Comma(n) + " watching"
	}
	return "no watchers"
}

// Unranked says why the game is not ranked, empty if it is.
func (s *State) Unranked() string {
	people, open := 0, 0
	machine, random := false, false
	for _, seat := range s.Game.GetSeats() {
		switch who := seat.GetOccupant().(type) {
		case *pb.Seat_Player:
			people++
			machine = machine || who.Player.GetBot()
		case *pb.Seat_Open:
			open++
		case *pb.Seat_Bot:
			random = random || who.Bot == "random"
		}
	}
	switch {
	case s.Game.GetRanked():
		return ""
	case s.Game.GetPrivate():
		return "a private game"
	case machine:
		return "a bot's account"
	case people+open == 0:
		return "only bots play"
	case random:
		return "a random bot"
	case people > 1:
		return "more than one player"
	default:
		// The server tells only that a game stopped counting. A screen that was opened
		// later could not tell which it was, so no screen does.
		return "undo or a solver was used"
	}
}

// Ending is a title for the end of the game.
func (s *State) Ending() string { return describe.Ending(s.Game.Game) }

// Standing is the game in one line.
func (s *State) Standing() string {
	if s.Tribolo() == nil {
		return fmt.Sprintf("%s, tile %s, %s", Plural(int(s.Score()), "point"), s.BestTile(), Plural(int(s.Moves()), "move"))
	}
	var parts []string
	for i := range s.Game.GetSeats() {
		parts = append(parts, fmt.Sprintf("%s %d", board.OwnerLetters[i%len(board.OwnerLetters)], s.ScoreOf(i)))
	}
	return strings.Join(parts, "  ") + ", " + Plural(int(s.Moves()), "move")
}

// Winners says who won; me is the id of the account that the text calls "you".
func (s *State) Winners(me string) string {
	var names []string
	you := false
	for _, w := range s.Game.GetResult().GetWinners() {
		seat := s.Seat(int(w))
		you = you || me != "" && seat.GetPlayer().GetId() == me
		names = append(names, actor(s.Game.Game, int(w)))
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

// Facts are the numbers of the game in a sentence, for the line that stays in the terminal.
func (s *State) Facts() string {
	if s.Tribolo() == nil {
		return fmt.Sprintf("%s (best tile %s, %s)", Plural(int(s.Score()), "point"), s.BestTile(), Plural(int(s.Moves()), "move"))
	}
	var parts []string
	for i := range s.Game.GetSeats() {
		parts = append(parts, fmt.Sprintf("%s %d", actor(s.Game.Game, i), s.ScoreOf(i)))
	}
	text := strings.Join(parts, ", ") + fmt.Sprintf(" (%s)", Plural(int(s.Moves()), "move"))
	if s.Over() {
		text += "; " + s.Winners("")
	}
	return text
}

// ClockText says how much time is left for the move, empty without a clock.
func (s *State) ClockText(t style.Theme, now time.Time) string {
	deadline := s.Game.GetPosition().GetTurnDeadline()
	if deadline == nil || s.Over() {
		return ""
	}
	left := deadline.AsTime().Sub(now)
	text := clock(left) + " left"
	switch {
	case left < 10*time.Second:
		return t.Bad().Bold(true).Render(text)
	case left < 30*time.Second:
		return t.Warn().Render(text)
	default:
		return t.Bold().Render(text)
	}
}

// clock formats a duration like a clock: 0:41, 2:03:00 or 3 d 4 h.
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

// Comma formats a number with thousands separators.
func Comma(n int32) string { return humanize.Comma(int64(n)) }

// Plural formats a number of things.
func Plural(n int, thing string) string {
	return Comma(int32(n)) + " " + english.PluralWord(n, thing, "")
}

// Span formats a duration roughly: "13 min".
func Span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(int(d.Seconds()), 0))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	default:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	}
}

// Ago says roughly how long ago something was.
func Ago(d time.Duration) string {
	if d < 2*time.Second {
		return "just now"
	}
	return Span(d) + " ago"
}

// CommandID is the id by which a command finds the game: the whole one if the game is
// private, since only its players could find it by less.
func (s *State) CommandID() string {
	if s.Game.GetPrivate() {
		return s.Game.GetId()
	}
	return ShortID(s.Game.GetId())
}

// ShortID is the first characters of a game's id, enough for commands to find it, safe for
// a terminal.
func ShortID(id string) string { return client.CleanText(id[:min(len(id), 8)], 8) }
