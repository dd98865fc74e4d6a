package tui

import (
	"slices"
	"strings"
	"time"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// match is a game as far as the server acknowledged it, whoever brought the
// news: the reply to a move or the stream. The higher version wins; what is not
// news is ignored.
type match struct {
	// game is the game at its newest known version.
	game client.Game
	// marks and gained tell what the last event did in 2048.
	marks  marks
	gained int32
	// jump is the last move of Tribolo that still stands, nil while none is
	// known.
	jump *jump
	// log holds what happened last, the newest first.
	log []logged
	// undone and programmed say that something was taken back, or that a
	// program moved for a human, while we looked.
	undone, programmed bool

	// connection as it was at connectionTime.
	connection     client.Connection
	connectionTime time.Time
	// lost says that the stream ended before the game did.
	lost bool
	// skipped counts the events left out at skippedTime.
	skipped     int32
	skippedTime time.Time
}

// logged is a line of the log: what happened, after how many moves, and what it
// earned.
type logged struct {
	version, move int32
	what          string
	gained        int32
}

// logLimit bounds the log: no panel shows more.
const logLimit = 40

// newMatch begins with a game; nil where it is yet to come.
func newMatch(g *pb.Game) match { return match{game: client.Game{Game: g}, marks: noMarks} }

// board returns the board, nil while there is none.
func (m *match) board() *pb.Twenty48Board { return m.game.GetPosition().GetTwenty48() }

// tribolo returns the board of Tribolo, nil where there is none.
func (m *match) tribolo() *pb.TriboloBoard { return m.game.GetPosition().GetTribolo() }

// over reports whether the game is finished.
func (m *match) over() bool { return m.game.Over() }

// score is what the game is worth by now.
func (m *match) score() int32 {
	if s := m.game.GetPosition().GetScores(); len(s) > 0 {
		return s[0]
	}
	return 0
}

// variant is the id of the variant, fit for a terminal.
func (m *match) variant() string { return client.CleanText(m.game.GetVariant(), nameLimit) }

// nameLimit is the longest name of a variant that is shown whole.
const nameLimit = 24

// player is the name of whoever plays, fit for a terminal.
func (m *match) player() string { return PlayerName(m.game.Game) }

// PlayerName is the name of whoever plays a game, fit for a terminal; of all
// where there are several.
func PlayerName(g *pb.Game) string {
	var names []string
	for _, seat := range g.GetSeats() {
		names = append(names, seatName(seat))
	}
	if len(names) == 0 {
		return "?"
	}
	return strings.Join(names, ", ")
}

// seatName is who sits there, fit for a terminal.
func seatName(seat *pb.Seat) string {
	switch who := seat.GetOccupant().(type) {
	case *pb.Seat_Player:
		return client.CleanName(who.Player.GetName())
	case *pb.Seat_Bot:
		return client.CleanName(who.Bot)
	default:
		return "open"
	}
}

// unranked says why the game does not count, empty when it does.
func (m *match) unranked() string {
	people, open := 0, 0
	machine, random := false, false
	for _, seat := range m.game.GetSeats() {
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
	case m.game.GetRanked():
		return ""
	case m.game.GetPrivate():
		return "a private game"
	case machine:
		return "a bot's account"
	case people+open == 0:
		return "only bots play"
	case random:
		return "a random bot"
	case people > 1:
		return "more than one player"
	case m.undone:
		return "moves taken back"
	case m.programmed:
		return "a program moved"
	default:
		return "undone, or a bot"
	}
}

// mistaken says what keeps the stream from a server that does answer, empty where
// it is nothing but a lost connection.
func (m *match) mistaken() string {
	if m.connection.State != client.Reconnecting || m.lost || client.CauseOf(m.connection.Err) == client.CauseUnknown {
		return ""
	}
	return plainly(m.connection.Err, "Trying again …")
}

// legal reports whether the rules allow a move now.
func (m *match) legal(d pb.Direction) bool {
	return slices.Contains(m.board().GetLegalMoves(), d)
}

// update takes in an update of the stream and reports whether the board
// changed.
func (m *match) update(u client.Update, now time.Time) bool {
	m.connection, m.connectionTime = u.Connection, now
	switch {
	case u.Game != nil:
		if u.Skipped > 0 {
			m.skipped, m.skippedTime = u.Skipped, now
		}
		return m.replace(u.Game)
	case u.Event != nil:
		return m.apply(u.Event)
	default:
		return m.game.Update(u)
	}
}

// foreign reports whether a position is of another kind than that of the match,
// which no honest server sends: the screen draws and plays the one kind.
func (m *match) foreign(p *pb.Position) bool {
	return m.picture() != nil && (p.GetTribolo() == nil) != (m.tribolo() == nil)
}

// replace takes in a whole game and reports whether it is news.
func (m *match) replace(g *pb.Game) bool {
	if m.foreign(g.GetPosition()) {
		return false
	}
	if !m.game.Replace(g) {
		return false
	}
	m.marks, m.gained, m.jump = noMarks, 0, nil
	return true
}

// apply takes in an event and reports whether it is news.
func (m *match) apply(e *pb.Event) bool {
	before := m.board()
	next := e.GetVersion() == m.game.GetVersion()+1
	if m.foreign(e.GetPosition()) || !m.game.Apply(e) {
		return false
	}
	m.marks, m.gained = noMarks, 0
	switch action := e.GetAction().(type) {
	case *pb.Event_Moved:
		m.gained = action.Moved.GetGained()
		if s := action.Moved.GetSpawned(); s != nil {
			m.marks.spawned = int(s.GetIndex())
		}
		if d := action.Moved.GetDirection(); next && before != nil {
			m.marks.merged = mergedBy(before, d)
		}
		if c := action.Moved.GetCell(); c != nil {
			m.jump = &jump{seat: int(e.GetSeat()), to: c, taken: action.Moved.GetTaken()}
		}
		if who := m.seat(int(e.GetSeat())); action.Moved.GetByBot() && who.GetPlayer() != nil && who.GetStandIn() == "" {
			m.programmed = true
		}
	case *pb.Event_Undone:
		m.undone, m.jump = true, nil
	}
	if what := happened(m.game.Game, e); what != "" {
		m.log = slices.Insert(m.log, 0, logged{
			version: e.GetVersion(),
			move:    m.game.GetPosition().GetMoveCount(), what: what, gained: max(m.gained, int32(len(e.GetMoved().GetTaken()))),
		})
		m.log = m.log[:min(len(m.log), logLimit)]
	}
	return true
}

// seat returns a seat by its index, nil where there is none.
func (m *match) seat(i int) *pb.Seat { return m.game.SeatAt(int32(i)) }
