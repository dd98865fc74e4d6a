package client

import (
	"slices"

	"google.golang.org/protobuf/proto"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Game is a game at the newest version known to the program. Apply, Replace and Update
// bring it up to date. The zero Game is empty: it takes its first state from a snapshot,
// or from the first event of a game.
//
// A Game is a value. Its message is replaced, never modified, so a copy keeps its version
// and another goroutine may read it.
type Game struct {
	// Game is the snapshot, or nil before the first one. It must not be modified.
	*pb.Game
}

// Over reports whether the game is finished.
func (g Game) Over() bool { return g.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED }

// Turn returns the seat to move, or nil while the game is waiting for players and after
// it has ended.
func (g Game) Turn() *pb.Seat {
	if p := g.GetPosition(); p != nil && p.Turn != nil {
		return g.SeatAt(p.GetTurn())
	}
	return nil
}

// SeatAt returns the seat with the given index, or nil if there is no such seat.
func (g Game) SeatAt(index int32) *pb.Seat {
	if index < 0 || int(index) >= len(g.GetSeats()) {
		return nil
	}
	return g.GetSeats()[index]
}

// Update applies an update from a Watch and reports whether it brought a newer version.
func (g *Game) Update(u Update) bool {
	switch {
	case u.Game != nil:
		return g.Replace(u.Game)
	case u.Event != nil:
		return g.Apply(u.Event)
	case u.Audience != nil && g.Game != nil:
		g.setWatchers(*u.Audience)
	}
	return false
}

// Replace sets the game to a snapshot and reports whether the snapshot is newer than the
// known version. From an older snapshot, it takes only the number of watchers.
func (g *Game) Replace(snapshot *pb.Game) bool {
	before := g.GetVersion()
	if snapshot.GetVersion() < before {
		g.setWatchers(snapshot.GetWatchers())
		return false
	}
	g.Game = snapshot
	return snapshot.GetVersion() > before
}

func (g *Game) setWatchers(n int32) {
	g.Game = proto.CloneOf(g.Game)
	g.Watchers = n
}

// Apply advances the game to the version of an event and reports whether the event is
// newer. It ignores events that were already applied, so the reply to a move and the same
// event from a Watch may arrive in either order. It also ignores events of other games,
// and events whose number of scores differs from the game's number of seats. A zero Game
// may start with an event from the middle of a game; its seats are then unknown.
//
// The position, the result and all other data from the event are correct even after a
// gap. The seats are not if a missing event changed them. Their resigned and stand_in
// fields are also uncertain after Undone, which does not contain their earlier values. If
// that matters, call Client.Game and Replace.
func (g *Game) Apply(event *pb.Event) bool {
	if event.GetVersion() <= g.GetVersion() || g.Game != nil && event.GetGameId() != g.GetId() {
		return false
	}
	next := &pb.Game{}
	proto.Merge(next, g.Game)
	if seat := (Game{next}).SeatAt(event.GetSeat()); event.Seat != nil && seat != nil {
		switch action := event.GetAction().(type) {
		case *pb.Event_Joined:
			next.Seats[event.GetSeat()] = action.Joined.GetSeat()
		case *pb.Event_Resigned:
			seat.Resigned = true
		case *pb.Event_TimedOut:
			seat.StandIn = action.TimedOut.GetStandIn()
		}
	}
	next.Id, next.Version, next.UpdateTime = event.GetGameId(), event.GetVersion(), event.GetTime()
	next.Position, next.Ranked = event.GetPosition(), event.GetRanked()
	next.Result, next.Seed = event.GetResult(), event.GetSeed()
	if created := event.GetCreated(); created != nil {
		next.Variant, next.Seats, next.Private = created.GetVariant(), created.GetSeats(), created.GetPrivate()
		next.TurnLimit, next.SeedCommitment = created.GetTurnLimit(), created.GetSeedCommitment()
		next.ChallengeId = created.GetChallengeId()
		next.RulesRevision, next.CreateTime = created.GetRulesRevision(), event.GetTime()
		next.Exhibition = next.ChallengeId == "" && !slices.ContainsFunc(next.Seats, func(s *pb.Seat) bool { return s.GetBot() == "" })
	}
	seatsKnown := len(next.Seats) > 0 || event.GetCreated() != nil
	if seatsKnown && len(next.Seats) != len(next.GetPosition().GetScores()) {
		return false
	}
	switch {
	case next.Result != nil:
		next.Status = pb.GameStatus_GAME_STATUS_FINISHED
	case slices.ContainsFunc(next.Seats, func(s *pb.Seat) bool { return s.GetOpen() != nil }):
		next.Status = pb.GameStatus_GAME_STATUS_WAITING
	default:
		next.Status = pb.GameStatus_GAME_STATUS_ACTIVE
	}
	g.Game = next
	return true
}
