package client

import (
	"slices"

	"google.golang.org/protobuf/proto"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Game is a game at the newest version that the program knows. Apply, Replace
// and Update bring it up to date. The zero Game knows nothing yet: it starts with
// a snapshot, or with the first event of a game.
//
// A Game is a value. Its message is replaced, never changed, so that a copy stays
// at its version and may be read by another goroutine.
type Game struct {
	// Game is the snapshot, nil until there is one. It must not be written to.
	*pb.Game
}

// Over reports whether the game is finished.
func (g Game) Over() bool { return g.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED }

// Turn returns the seat to move: nil while the game waits for players, and when
// it is over.
func (g Game) Turn() *pb.Seat {
	if p := g.GetPosition(); p != nil && p.Turn != nil {
		return g.SeatAt(p.GetTurn())
	}
	return nil
}

// SeatAt returns the seat with an index, nil if the game has none.
func (g Game) SeatAt(index int32) *pb.Seat {
	if index < 0 || int(index) >= len(g.GetSeats()) {
		return nil
	}
	return g.GetSeats()[index]
}

// Update applies an update of a Watch and reports whether it brought a newer
// version.
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

// Replace takes a snapshot and reports whether it is newer than what was known.
// Of an older one it takes only the number of watchers.
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
	g.Game = g.copy()
	g.Watchers = n
}

// Apply brings the game to the version of an event and reports whether it is
// newer. It ignores an event that it has applied already, so that the reply to a
// move and the same event from a Watch may come in either order. It also ignores an
// event of another game, or with scores for another number of seats than the game has.
// A zero Game may start in the middle; its seats stay unknown then.
//
// The position, the result and everything else that an event carries is right
// even after a gap. The seats are not, if one of the missing events changed them;
// nor are their resigned and stand_in after Undone, which does not say what they
// were. Replace the game with Client.Game if that matters.
func (g *Game) Apply(event *pb.Event) bool {
	if event.GetVersion() <= g.GetVersion() || g.Game != nil && event.GetGameId() != g.GetId() {
		return false
	}
	next := g.copy()
	next.Id, next.Version, next.UpdateTime = event.GetGameId(), event.GetVersion(), event.GetTime()
	next.Position, next.Ranked = event.GetPosition(), event.GetRanked()
	next.Result, next.Seed = event.GetResult(), event.GetSeed()
	if created := event.GetCreated(); created != nil {
		next.Variant, next.Seats, next.Private = created.GetVariant(), created.GetSeats(), created.GetPrivate()
		next.TurnLimit, next.SeedCommitment = created.GetTurnLimit(), created.GetSeedCommitment()
		next.RulesRevision, next.CreateTime = created.GetRulesRevision(), event.GetTime()
		next.Exhibition = !slices.ContainsFunc(next.Seats, func(s *pb.Seat) bool { return s.GetBot() == "" })
	}
	seatsKnown := len(next.Seats) > 0 || event.GetCreated() != nil
	if seatsKnown && len(next.Seats) != len(next.GetPosition().GetScores()) {
		return false
	}
	if seat := g.seatAfter(event); seat != nil {
		next.Seats = slices.Clone(next.Seats)
		next.Seats[event.GetSeat()] = seat
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

// seatAfter returns the seat of an event after it, nil if the event leaves it as
// it was.
func (g Game) seatAfter(event *pb.Event) *pb.Seat {
	before := g.SeatAt(event.GetSeat())
	if event.Seat == nil || before == nil {
		return nil
	}
	switch action := event.GetAction().(type) {
	case *pb.Event_Joined:
		return action.Joined.GetSeat()
	case *pb.Event_Resigned:
		seat := proto.CloneOf(before)
		seat.Resigned = true
		return seat
	case *pb.Event_TimedOut:
		seat := proto.CloneOf(before)
		seat.StandIn = action.TimedOut.GetStandIn()
		return seat
	default:
		return nil
	}
}

// copy returns the snapshot anew, to be changed. What the two share is never
// changed.
func (g Game) copy() *pb.Game {
	return &pb.Game{
		Id: g.GetId(), Variant: g.GetVariant(), Seats: g.GetSeats(), Status: g.GetStatus(), Version: g.GetVersion(),
		Position: g.GetPosition(), Result: g.GetResult(), Ranked: g.GetRanked(), Private: g.GetPrivate(),
		Watchers: g.GetWatchers(), SeedCommitment: g.GetSeedCommitment(), Seed: g.GetSeed(),
		CreateTime: g.GetCreateTime(), UpdateTime: g.GetUpdateTime(), TurnLimit: g.GetTurnLimit(),
		RulesRevision: g.GetRulesRevision(), Exhibition: g.GetExhibition(),
	}
}
