// Package translate converts between the types of the rules and the messages of the
// contract. A server sends games and events; a program that verifies a transcript reads
// events. Each kind of game has its own file: to add a kind, add a file, and its cases in
// this one.
package translate

import (
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/tribolo"
	"github.com/gridstand/gridstand/game/twenty48"
	"github.com/gridstand/gridstand/internal/convert"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Variant returns the message for a variant.
func Variant(v game.Variant) *pb.Variant {
	return &pb.Variant{
		Id: v.ID, Title: v.Title, Summary: v.Summary, Rules: v.Manual, Kind: pb.Kind(v.Kind),
		Rows: int32(v.Rows), Columns: int32(v.Columns), Seats: int32(v.Seats), Bots: v.Bots,
	}
}

// Game returns the message for a game in the given state that has the given number of watchers.
func Game(s *replay.State, watchers int) *pb.Game {
	return &pb.Game{
		Id: s.ID, Variant: s.Variant.ID, Seats: Seats(s.Seats), Status: pb.GameStatus(s.Status),
		Version: s.Version, Position: Position(s), Result: Result(s), Ranked: s.Ranked, Private: s.Private,
		Watchers: int32(watchers), SeedCommitment: s.Commitment[:], Seed: s.RevealedSeed().SeedBytes(),
		CreateTime: timestamppb.New(s.CreateTime), UpdateTime: timestamppb.New(s.UpdateTime),
		TurnLimit: Span(s.TurnLimit), RulesRevision: s.Variant.Revision, Exhibition: s.Exhibition(),
		ChallengeId: s.Attempt.ChallengeID,
	}
}

// Event returns the message for an event.
func Event(e *replay.Event) *pb.Event {
	s := e.State
	m := &pb.Event{
		GameId: s.ID, Version: s.Version, Position: Position(s), Ranked: s.Ranked, Result: Result(s),
		Seed: s.RevealedSeed().SeedBytes(), Time: timestamppb.New(s.UpdateTime),
	}
	if e.Entry.Seat != game.NoSeat {
		m.Seat = proto.Int32(int32(e.Entry.Seat))
	}
	switch a := e.Entry.Action.(type) {
	case replay.Created:
		m.Action = &pb.Event_Created{Created: &pb.Created{
			Variant: a.Variant, Seats: Seats(a.Seats), Private: a.Private, TurnLimit: Span(a.TurnLimit),
			SeedCommitment: a.Commitment[:], RulesRevision: a.Revision, ChallengeId: a.Attempt.ChallengeID,
		}}
	case replay.Joined:
		m.Action = &pb.Event_Joined{Joined: &pb.Joined{Seat: Seats(s.Seats)[e.Entry.Seat]}}
	case replay.Moved:
		m.Action = moved(a, e.Change)
	case replay.Undone:
		m.Action = &pb.Event_Undone{Undone: &pb.Undone{ToVersion: a.To}}
	case replay.TimedOut:
		m.Action = &pb.Event_TimedOut{TimedOut: &pb.TimedOut{StandIn: a.StandIn}}
	case replay.ClockExtended:
		m.Action = &pb.Event_ClockExtended{ClockExtended: &pb.ClockExtended{By: durationpb.New(a.By)}}
	case replay.Resigned:
		m.Action = &pb.Event_Resigned{Resigned: &pb.Resigned{}}
	case replay.Abandoned:
		m.Action = &pb.Event_Abandoned{Abandoned: &pb.Abandoned{}}
	}
	return m
}

func moved(a replay.Moved, change game.Change) *pb.Event_Moved {
	m := &pb.Moved{ByBot: a.ByBot, Taken: convert.All(change.Taken, cell)}
	if d := a.Move.Direction; d != 0 {
		m.Move, m.Gained = &pb.Moved_Direction{Direction: pb.Direction(d)}, change.Gained
	} else {
		m.Move = &pb.Moved_Cell{Cell: cell(a.Move.Cell)}
	}
	if s := change.Spawned; s != nil {
		m.Spawned = &pb.Spawn{Index: s.Index, Value: s.Value}
	}
	return &pb.Event_Moved{Moved: m}
}

func cell(c game.Cell) *pb.Cell { return &pb.Cell{X: c.X, Y: c.Y} }

// Position returns the message for the position of a state.
func Position(s *replay.State) *pb.Position {
	m := &pb.Position{MoveCount: s.Position.MoveCount(), Scores: s.Position.Scores()}
	if turn := s.Turn(); turn != game.NoSeat {
		m.Turn = proto.Int32(int32(turn))
	}
	if deadline := s.Deadline(); !deadline.IsZero() {
		m.TurnDeadline = timestamppb.New(deadline)
	}
	switch p := s.Position.(type) {
	case *twenty48.Position:
		m.Board = &pb.Position_Twenty48{Twenty48: twenty48Board(s.Variant, p, s.LegalMoves())}
	case *tribolo.Position:
		m.Board = &pb.Position_Tribolo{Tribolo: triboloBoard(p, s.LegalMoves())}
	}
	return m
}

// Result returns the message for the result of a game; nil until the game is over.
func Result(s *replay.State) *pb.Result {
	if s.Status != replay.Finished {
		return nil
	}
	winners := convert.All(s.Winners(), func(seat int) int32 { return int32(seat) })
	return &pb.Result{Reason: pb.Result_Reason(s.Reason), Scores: s.Position.Scores(), Winners: winners}
}

// Player returns the message for an account in a seat.
func Player(p replay.Player) *pb.Player { return &pb.Player{Id: p.ID, Name: p.Name, Bot: p.Bot} }

func playerOf(m *pb.Player) replay.Player {
	return replay.Player{ID: m.GetId(), Name: m.GetName(), Bot: m.GetBot()}
}

// Seats returns the messages for the seats of a game.
func Seats(seats []replay.Seat) []*pb.Seat {
	ms := make([]*pb.Seat, len(seats))
	for i, s := range seats {
		m := &pb.Seat{Index: int32(i), Resigned: s.Resigned, StandIn: s.StandIn}
		switch {
		case s.Player.ID != "":
			m.Occupant = &pb.Seat_Player{Player: Player(s.Player)}
		case s.Bot != "":
			m.Occupant = &pb.Seat_Bot{Bot: s.Bot}
		default:
			m.Occupant = &pb.Seat_Open{Open: &pb.Open{}}
		}
		ms[i] = m
	}
	return ms
}

// Span returns the message for a duration; nil for 0.
func Span(d time.Duration) *durationpb.Duration {
	if d == 0 {
		return nil
	}
	return durationpb.New(d)
}

// ErrUnknown means that a message contains a value unknown to this version of the
// program.
var ErrUnknown = errors.New("unknown to this version of the program")

// To returns a move to a cell.
func To(c *pb.Cell) game.Move { return game.To(game.Cell{X: c.GetX(), Y: c.GetY()}) }

// Entry returns the log entry of an event. Fields that the contract does not reveal, such
// as the creator of a game, are empty.
//
// The error is ErrUnknown for an action from a newer version, and a different error for
// an invalid message.
func Entry(m *pb.Event) (replay.Entry, error) {
	e := replay.Entry{Seat: game.NoSeat}
	if m.Seat != nil {
		e.Seat = int(m.GetSeat())
	}
	switch a := m.GetAction().(type) {
	case *pb.Event_Created:
		c := a.Created
		if len(c.GetSeedCommitment()) != game.SeedSize {
			return e, fmt.Errorf("a commitment of %d bytes", len(c.GetSeedCommitment()))
		}
		created := replay.Created{
			Variant: c.GetVariant(), Revision: c.GetRulesRevision(), Private: c.GetPrivate(),
			TurnLimit: c.GetTurnLimit().AsDuration(), Commitment: [game.SeedSize]byte(c.GetSeedCommitment()),
			Attempt: replay.Attempt{ChallengeID: c.GetChallengeId()},
		}
		for _, s := range c.GetSeats() {
			created.Seats = append(created.Seats, replay.Seat{
				Player: playerOf(s.GetPlayer()), Bot: s.GetBot(), Resigned: s.GetResigned(), StandIn: s.GetStandIn(),
			})
		}
		e.Action = created
	case *pb.Event_Moved:
		moved := replay.Moved{ByBot: a.Moved.GetByBot()}
		switch move := a.Moved.GetMove().(type) {
		case *pb.Moved_Direction:
			d, ok := Direction(move.Direction)
			if !ok {
				return e, fmt.Errorf("%w: direction %d", ErrUnknown, move.Direction)
			}
			moved.Move = game.Slide(d)
		case *pb.Moved_Cell:
			moved.Move = To(move.Cell)
		default:
			return e, errors.New("a moved event without a move")
		}
		e.Action = moved
	case *pb.Event_Joined:
		e.Action = replay.Joined{Player: playerOf(a.Joined.GetSeat().GetPlayer())}
	case *pb.Event_Undone:
		e.Action = replay.Undone{To: a.Undone.GetToVersion()}
	case *pb.Event_TimedOut:
		e.Action = replay.TimedOut{StandIn: a.TimedOut.GetStandIn()}
	case *pb.Event_ClockExtended:
		e.Action = replay.ClockExtended{By: a.ClockExtended.GetBy().AsDuration()}
	case *pb.Event_Resigned:
		e.Action = replay.Resigned{}
	case *pb.Event_Abandoned:
		e.Action = replay.Abandoned{}
	default:
		return e, fmt.Errorf("%w: event %T", ErrUnknown, a)
	}
	return e, nil
}
