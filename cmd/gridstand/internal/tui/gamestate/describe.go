package gamestate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
	"github.com/gridstand/gridstand/internal/id"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Variant returns the id of the game's variant, sanitized for the terminal.
func (s *State) Variant() string { return client.CleanText(s.Game.GetVariant(), ui.NameLimit) }

// Player returns the names of the game's players, sanitized for the terminal.
func (s *State) Player() string { return PlayerName(s.Game.Game) }

// PlayerName returns the names of a game's players, sanitized for the terminal.
func PlayerName(g *pb.Game) string {
	return cmp.Or(describe.Players(g, SeatName), "?")
}

// SeatName returns the name of a seat's occupant, sanitized for the terminal.
func SeatName(seat *pb.Seat) string { return client.CleanName(describe.Seat(seat)) }

// Turn returns the seat whose turn it is, or -1.
func (s *State) Turn() int {
	if p := s.Game.GetPosition(); p != nil && p.Turn != nil {
		return int(p.GetTurn())
	}
	return -1
}

// Score returns the score of the first seat.
func (s *State) Score() int32 { return s.ScoreOf(0) }

// ScoreOf returns the score of a seat.
func (s *State) ScoreOf(seat int) int32 { return describe.Score(s.Game.Game, seat) }

// HighestScore returns the best score in a game.
func HighestScore(g *pb.Game) int32 { return describe.Highest(g.GetPosition().GetScores()) }

// BestTile returns the highest tile on the board.
func (s *State) BestTile() string { return strconv.Itoa(int(describe.LargestTile(s.Twenty48()))) }

// Moves returns the number of moves made.
func (s *State) Moves() int32 { return s.Game.GetPosition().GetMoveCount() }

// Gain returns the points that the last move gained, with a plus sign, or "" if it gained
// none.
func (s *State) Gain() string {
	if s.Gained == 0 {
		return ""
	}
	return "+" + describe.Comma(s.Gained)
}

// Ranked reports whether the game is ranked. Tribolo's leaderboards contain only games that were played to the end.
func (s *State) Ranked() bool {
	endedEarly := s.Over() && s.Tribolo() != nil && s.Game.GetResult().GetReason() != pb.Result_REASON_NO_MOVES
	return s.Game.GetRanked() && !endedEarly
}

// Outcome says how a game ended for the account with the id me, which may be a watcher's or "": "You
// win" or "Game over", and why. It also returns the style of the text.
func (s *State) Outcome(t ui.Theme, me string) (string, lipgloss.Style) {
	own, winners := -1, s.Game.GetResult().GetWinners()
	for i, seat := range s.Game.GetSeats() {
		if me != "" && seat.GetPlayer().GetId() == me && (own < 0 || slices.Contains(winners, int32(i))) {
			own = i
		}
	}
	title, reason, won := describe.Outcome(s.Game.Game, own, SeatName)
	look := t.Bad()
	switch {
	case won:
		look = t.Good()
	case own < 0: // not bad for a watcher
		look = t.Bold()
	}
	return title + ": " + reason, look.Bold(true)
}

// Summary returns the variant, the players, their scores and the number of moves, in one line.
func (s *State) Summary() string {
	if s.Tribolo() == nil {
		return fmt.Sprintf("%s by %s: %s, %s", s.Variant(), s.Player(), describe.Plural(s.Score(), "point"), describe.Standing(s.Game.Game))
	}
	parts := make([]string, len(s.Game.GetSeats()))
	for i := range parts {
		parts[i] = fmt.Sprintf("%s %d", describe.Actor(s.Game.Game, i, SeatName), s.ScoreOf(i))
	}
	text := fmt.Sprintf("%s: %s, %s", s.Variant(), strings.Join(parts, ", "), describe.Standing(s.Game.Game))
	if s.Over() {
		text += "; " + describe.Winners(s.Game.Game, SeatName)
	}
	return text
}

// Header returns the right side of the header: the time left for the move, the badge and who watches.
func (s *State) Header(t ui.Theme, now time.Time) []string {
	parts := []string{s.Badge(t, now)}
	if s.Board() == nil || s.Over() {
		return parts
	}
	if deadline := s.Game.GetPosition().GetTurnDeadline(); deadline != nil {
		parts = append([]string{TimeLeft(t, deadline.AsTime().Sub(now))}, parts...)
	}
	return append(parts, t.Dim().Render(Present(s.Game.Game)))
}

// TimeLeft returns the time left as styled text. The less time is left, the more prominent
// the style.
func TimeLeft(t ui.Theme, left time.Duration) string {
	text := Clock(left) + " left"
	switch {
	case left < 10*time.Second:
		return t.Bad().Bold(true).Render(text)
	case left < 30*time.Second:
		return t.Warn().Render(text)
	default:
		return t.Bold().Render(text)
	}
}

// Clock formats a duration like a clock: 0:41, 2:03:00 or 3 d 4 h.
func Clock(d time.Duration) string {
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

// Invitation returns the invitation to join the game while it waits for players, and otherwise to watch it.
func (s *State) Invitation(env *ui.Env) ui.Invitation {
	own := ui.Find(s.Game.GetSeats(), env.Owns)
	i := ui.Invitation{What: "Others watch", Link: env.Link("/g/" + s.ID()), Command: env.Invite("watch", s.ID())}
	i.Waiting = Waits(s.Game.Game)
	switch {
	case i.Waiting && i.Link != "": // the command takes the link, too
		i.What, i.Command = "Others join, also with gridstand join,", ""
	case i.Waiting:
		i.What, i.Command = "Others join", env.Invite("join", s.ID())
	case s.Over():
		i.What = "Others can replay it"
	case own != nil && !s.Game.GetPrivate(): // the player's name is shorter
		i.Command = env.Invite("watch", at(SeatName(own)))
	}
	return i
}

// at returns the argument of a command that names a player.
func at(name string) string {
	if strings.Contains(name, " ") {
		return strconv.Quote("@" + name)
	}
	return "@" + name
}

// ID returns the game's id, sanitized for the terminal.
func (s *State) ID() string { return client.CleanText(s.Game.GetId(), id.Length) }

// ShortID returns the first characters of a game's id, sanitized for the terminal. Commands accept them
// in place of the full id if the game is the user's own or a recent one. Links, and commands for the games of
// others, have the full id, because on a busy server a game is recent for seconds only.
func ShortID(id string) string { return client.CleanText(id[:min(len(id), 8)], 8) }

// happened describes an event of a game in a few words, or by an arrow, sanitized for the terminal.
// It returns "" for the creation of the game.
func happened(g *pb.Game, e *pb.Event) string {
	if m := e.GetMoved(); m != nil && m.GetCell() == nil {
		return cmp.Or(arrows[m.GetDirection()], "·")
	}
	return describe.Happened(g, e, SeatName)
}

var arrows = map[pb.Direction]string{
	pb.Direction_DIRECTION_UP: "↑", pb.Direction_DIRECTION_DOWN: "↓",
	pb.Direction_DIRECTION_LEFT: "←", pb.Direction_DIRECTION_RIGHT: "→",
}
