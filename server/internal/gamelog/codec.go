package gamelog

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
	gamelogv1 "github.com/gridstand/gridstand/server/internal/gamelog/v1"
	"github.com/gridstand/gridstand/server/internal/store"
)

// encodeEntry returns the encoding of an entry in the log.
func encodeEntry(e replay.Entry) ([]byte, error) {
	m := &gamelogv1.Entry{}
	if e.Seat != game.NoSeat {
		m.Seat = proto.Int32(int32(e.Seat))
	}
	switch a := e.Action.(type) {
	case replay.Created:
		m.Action = &gamelogv1.Entry_Created{Created: &gamelogv1.Created{
			Variant: a.Variant, RulesRevision: a.Revision, Creator: encodePlayer(a.Creator),
			Seats: encodeSeats(a.Seats), Private: a.Private, TurnLimit: encodeSpan(a.TurnLimit),
			SeedCommitment: a.Commitment[:], Attempt: encodeAttempt(a.Attempt),
		}}
	case replay.Joined:
		m.Action = &gamelogv1.Entry_Joined{Joined: &gamelogv1.Joined{Player: encodePlayer(a.Player)}}
	case replay.Undone:
		m.Action = &gamelogv1.Entry_Undone{Undone: &gamelogv1.Undone{ToVersion: a.To}}
	case replay.TimedOut:
		m.Action = &gamelogv1.Entry_TimedOut{TimedOut: &gamelogv1.TimedOut{StandIn: a.StandIn}}
	case replay.ClockExtended:
		m.Action = &gamelogv1.Entry_ClockExtended{ClockExtended: &gamelogv1.ClockExtended{By: durationpb.New(a.By)}}
	case replay.Moved:
		moved := &gamelogv1.Moved{ByBot: a.ByBot}
		if d := a.Move.Direction; d != 0 {
			moved.Move = &gamelogv1.Moved_Direction{Direction: uint32(d)}
		} else {
			moved.Move = &gamelogv1.Moved_Cell{Cell: &gamelogv1.Cell{X: a.Move.Cell.X, Y: a.Move.Cell.Y}}
		}
		m.Action = &gamelogv1.Entry_Moved{Moved: moved}
	case replay.Resigned:
		m.Action = &gamelogv1.Entry_Resigned{Resigned: &gamelogv1.Resigned{}}
	case replay.Abandoned:
		m.Action = &gamelogv1.Entry_Abandoned{Abandoned: &gamelogv1.Abandoned{}}
	default:
		return nil, fmt.Errorf("gamelog: no encoding for %T", e.Action)
	}
	return proto.Marshal(m)
}

// decodeEntry decodes an entry. The error is replay.ErrUnknown for an action that a newer
// server wrote, or else replay.ErrInvalid.
func decodeEntry(b []byte) (replay.Entry, error) {
	var m gamelogv1.Entry
	if err := proto.Unmarshal(b, &m); err != nil {
		return replay.Entry{}, fmt.Errorf("%w: %w", replay.ErrInvalid, err)
	}
	e := replay.Entry{Seat: game.NoSeat}
	if m.Seat != nil {
		e.Seat = int(m.GetSeat())
	}
	switch a := m.Action.(type) {
	case *gamelogv1.Entry_Created:
		c := a.Created
		if len(c.GetSeedCommitment()) != game.SeedSize {
			return e, fmt.Errorf("%w: seed commitment of %d bytes", replay.ErrInvalid, len(c.GetSeedCommitment()))
		}
		e.Action = replay.Created{
			Variant: c.GetVariant(), Revision: c.GetRulesRevision(), Creator: decodePlayer(c.GetCreator()),
			Seats: decodeSeats(c.GetSeats()), Private: c.GetPrivate(), TurnLimit: c.GetTurnLimit().AsDuration(),
			Commitment: [game.SeedSize]byte(c.GetSeedCommitment()), Attempt: decodeAttempt(c.GetAttempt()),
		}
	case *gamelogv1.Entry_Moved:
		moved := replay.Moved{ByBot: a.Moved.GetByBot()}
		switch move := a.Moved.Move.(type) {
		case *gamelogv1.Moved_Direction:
			d := game.Direction(move.Direction)
			if move.Direction > uint32(game.Right) || d < game.Up {
				return e, fmt.Errorf("%w: direction %d", replay.ErrInvalid, move.Direction)
			}
			moved.Move = game.Slide(d)
		case *gamelogv1.Moved_Cell:
			moved.Move = game.To(game.Cell{X: move.Cell.GetX(), Y: move.Cell.GetY()})
		default:
			return e, fmt.Errorf("%w: kind of move", replay.ErrUnknown)
		}
		e.Action = moved
	case *gamelogv1.Entry_Joined:
		e.Action = replay.Joined{Player: decodePlayer(a.Joined.GetPlayer())}
	case *gamelogv1.Entry_Undone:
		e.Action = replay.Undone{To: a.Undone.GetToVersion()}
	case *gamelogv1.Entry_TimedOut:
		e.Action = replay.TimedOut{StandIn: a.TimedOut.GetStandIn()}
	case *gamelogv1.Entry_ClockExtended:
		e.Action = replay.ClockExtended{By: a.ClockExtended.GetBy().AsDuration()}
	case *gamelogv1.Entry_Resigned:
		e.Action = replay.Resigned{}
	case *gamelogv1.Entry_Abandoned:
		e.Action = replay.Abandoned{}
	default:
		return e, fmt.Errorf("%w: kind of entry", replay.ErrUnknown)
	}
	return e, nil
}

// encodeHead returns the encoded Head of a game with state s.
func encodeHead(s *replay.State, board []byte) ([]byte, error) {
	m := &gamelogv1.Head{
		Variant: s.Variant.ID, RulesRevision: s.Variant.Revision, Seats: encodeSeats(s.Seats), Private: s.Private,
		SeedCommitment: s.Commitment[:], TurnLimit: encodeSpan(s.TurnLimit), Creator: encodePlayer(s.Creator),
		Attempt: encodeAttempt(s.Attempt),
		Status:  uint32(s.Status), Position: board, Ranked: s.Ranked, Seed: s.RevealedSeed().SeedBytes(),
	}
	if s.Version > 1 {
		m.CreateTimeMs = s.CreateTime.UnixMilli()
	}
	m.UndoTo, m.ClockVersion, m.ClockExtended = s.UndoTo, s.Clock.Version, encodeSpan(s.Clock.Extended)
	if s.Clock.Version != 0 && s.Clock.Version != s.Version {
		m.ClockFromMs = s.Clock.From.UnixMilli()
	}
	if s.Status == replay.Finished {
		m.Result = &gamelogv1.Result{Reason: uint32(s.Reason)}
	}
	return proto.Marshal(m)
}

func encodePlayer(p replay.Player) *gamelogv1.Player {
	return &gamelogv1.Player{Id: p.ID, Name: p.Name, Bot: p.Bot}
}

func decodePlayer(p *gamelogv1.Player) replay.Player {
	return replay.Player{ID: p.GetId(), Name: p.GetName(), Bot: p.GetBot()}
}

func encodeSeats(seats []replay.Seat) []*gamelogv1.Seat {
	ms := make([]*gamelogv1.Seat, len(seats))
	for i, s := range seats {
		m := &gamelogv1.Seat{Resigned: s.Resigned, StandIn: s.StandIn, Absent: s.Absent}
		switch {
		case s.Player.ID != "":
			m.Occupant = &gamelogv1.Seat_Player{Player: encodePlayer(s.Player)}
		case s.Bot != "":
			m.Occupant = &gamelogv1.Seat_Bot{Bot: s.Bot}
		default:
			m.Occupant = &gamelogv1.Seat_Open{Open: &gamelogv1.Open{}}
		}
		ms[i] = m
	}
	return ms
}

func decodeSeats(ms []*gamelogv1.Seat) []replay.Seat {
	seats := make([]replay.Seat, len(ms))
	for i, m := range ms {
		seats[i] = replay.Seat{Bot: m.GetBot(), Resigned: m.GetResigned(), StandIn: m.GetStandIn(), Absent: m.GetAbsent()}
		// A seat whose player has no ID is open.
		if p := m.GetPlayer(); p.GetId() != "" {
			seats[i].Player = decodePlayer(p)
		}
	}
	return seats
}

func encodeAttempt(a replay.Attempt) *gamelogv1.Attempt {
	if a == (replay.Attempt{}) {
		return nil
	}
	return &gamelogv1.Attempt{ChallengeId: a.ChallengeID, Kind: uint32(a.Kind), DayStreak: a.DayStreak}
}

func decodeAttempt(a *gamelogv1.Attempt) replay.Attempt {
	return replay.Attempt{ChallengeID: a.GetChallengeId(), Kind: replay.ChallengeKind(a.GetKind()), DayStreak: a.GetDayStreak()}
}

func encodeSpan(d time.Duration) *durationpb.Duration {
	if d == 0 {
		return nil
	}
	return durationpb.New(d)
}

// decodeHead decodes a Head that encodeHead encoded for the given game.
func decodeHead(gameID string, id store.ID, at time.Time, b []byte) (*replay.State, error) {
	var m gamelogv1.Head
	if err := proto.Unmarshal(b, &m); err != nil {
		return nil, fmt.Errorf("%w: %w", replay.ErrInvalid, err)
	}
	variant, ok := variants.Lookup(m.GetVariant(), m.GetRulesRevision())
	if !ok {
		return nil, fmt.Errorf("%w: variant %q, rules revision %d", replay.ErrUnknown, m.GetVariant(), m.GetRulesRevision())
	}
	position, err := variant.Rules.Decode(m.GetPosition())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", replay.ErrInvalid, err)
	}
	if len(m.GetSeedCommitment()) != game.SeedSize {
		return nil, fmt.Errorf("%w: seed commitment of %d bytes", replay.ErrInvalid, len(m.GetSeedCommitment()))
	}
	status := replay.Status(m.GetStatus())
	if len(m.GetSeats()) != variant.Seats || m.GetStatus() < uint32(replay.Waiting) ||
		m.GetStatus() > uint32(replay.Finished) || (status == replay.Finished) != (m.GetResult() != nil) {
		return nil, fmt.Errorf("%w: inconsistent head", replay.ErrInvalid)
	}
	s := &replay.State{
		ID: gameID, Variant: &variant, Version: id.Version, Creator: decodePlayer(m.GetCreator()),
		Seats: decodeSeats(m.GetSeats()), Status: status, Position: position, Reason: game.Reason(m.GetResult().GetReason()),
		Private: m.GetPrivate(), TurnLimit: m.GetTurnLimit().AsDuration(),
		Commitment: [game.SeedSize]byte(m.GetSeedCommitment()), Attempt: decodeAttempt(m.GetAttempt()),
		CreateTime: at, UpdateTime: at, UndoTo: m.GetUndoTo(),
		Clock: replay.Clock{Version: m.GetClockVersion(), Extended: m.GetClockExtended().AsDuration()},
	}
	// A replay of the log would check Rankable, but the head may have been written by a server
	// that did not.
	s.Ranked = m.GetRanked() && replay.Rankable(s.Seats)
	if ms := m.GetCreateTimeMs(); ms != 0 {
		s.CreateTime = time.UnixMilli(ms).UTC()
	}
	switch s.Clock.Version {
	case 0:
	case id.Version:
		s.Clock.From = at
	default:
		s.Clock.From = time.UnixMilli(m.GetClockFromMs()).UTC()
	}
	if len(m.GetSeed()) == 0 {
		return s, nil
	}
	seed, err := game.SeedFromBytes(m.GetSeed())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", replay.ErrInvalid, err)
	}
	return s.WithSeed(seed), nil
}
