package contract

import (
	"crypto/sha256"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// checkMessage checks all games, events and challenges in a response.
func checkMessage(t testing.TB, answer any) {
	m, ok := answer.(proto.Message)
	if !ok {
		return
	}
	switch m := m.(type) {
	case *pb.Game:
		checkGame(t, m)
		return
	case *pb.Event:
		checkEvent(t, m)
		return
	case *pb.Challenge:
		checkChallenge(t, m)
	}
	m.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case field.Message() == nil || field.IsMap():
		case field.IsList():
			for i := range v.List().Len() {
				checkMessage(t, v.List().Get(i).Message().Interface())
			}
		default:
			checkMessage(t, v.Message().Interface())
		}
		return true
	})
}

var idForm = regexp.MustCompile(`^[a-z2-7]{26}$`)

// checkGame checks the rules that apply to every game.
func checkGame(t testing.TB, g *pb.Game) {
	over := g.GetStatus() == finished
	assert.Regexp(t, idForm, g.GetId())
	assert.NotEmpty(t, g.GetVariant())
	assert.Contains(t, []pb.GameStatus{waiting, active, finished}, g.GetStatus())
	assert.Positive(t, g.GetVersion())
	assert.Positive(t, g.GetRulesRevision())
	assert.GreaterOrEqual(t, g.GetWatchers(), int32(0))
	assert.Len(t, g.GetSeedCommitment(), 32)
	assert.True(t, g.GetTurnLimit() == nil || g.GetTurnLimit().AsDuration() > 0)
	checkTime(t, g.GetCreateTime())
	checkTime(t, g.GetUpdateTime())
	assert.False(t, g.GetUpdateTime().AsTime().Before(g.GetCreateTime().AsTime()))
	checkSeats(t, g.GetSeats())
	open := slices.ContainsFunc(g.GetSeats(), isOpen)
	assert.Equal(t, open, g.GetStatus() == waiting || over && g.GetResult().GetReason() == pb.Result_REASON_ABANDONED && open)
	if g.GetChallengeId() != "" {
		attempts.Store(g.GetId(), true)
	}
	checkEnd(t, g.GetId(), over, g.GetResult(), g.GetSeed(), g.GetPosition())
	if over && len(g.GetSeed()) > 0 {
		sum := sha256.Sum256(g.GetSeed())
		assert.Equal(t, sum[:], g.GetSeedCommitment(), "the revealed seed does not match the commitment")
	}
	if over {
		checkWinners(t, g)
	}
	if g.GetRanked() {
		assert.True(t, countable(g), "ranked: %v", g)
	}
	botsOnly := !slices.ContainsFunc(g.GetSeats(), func(s *pb.Seat) bool { return s.GetBot() == "" })
	assert.Equal(t, botsOnly && g.GetChallengeId() == "", g.GetExhibition())
	p := g.GetPosition()
	checkPosition(t, g.GetVariant(), p)
	assert.Len(t, g.GetSeats(), len(p.GetScores()))
	assert.Equal(t, g.GetStatus() == active, p.Turn != nil, "only an active game has a turn")
	if p.Turn != nil && p.GetTurn() < int32(len(g.GetSeats())) {
		seat := g.GetSeats()[p.GetTurn()]
		assert.False(t, seat.GetResigned())
		runs := g.GetTurnLimit() != nil && seat.GetPlayer() != nil && seat.GetStandIn() == ""
		assert.Equal(t, runs, p.GetTurnDeadline() != nil, "the clock of %v", g)
	}
	assert.Less(t, p.GetMoveCount(), g.GetVersion())
}

func isOpen(s *pb.Seat) bool { return s.GetOpen() != nil }

// countable reports whether a game with these occupants can be ranked.
func countable(g *pb.Game) bool {
	humans, open := 0, 0
	for _, seat := range g.GetSeats() {
		switch {
		case seat.GetPlayer().GetBot() || seat.GetBot() == "random":
			return false
		case seat.GetPlayer() != nil:
			humans++
		case isOpen(seat):
			open++
		}
	}
	return !g.GetPrivate() && (humans == 1 || humans == 0 && open > 0)
}

// checkWinners requires that the winners of a finished game follow from the rules.
func checkWinners(t testing.TB, g *pb.Game) {
	var want []int32
	scores := g.GetPosition().GetScores()
	for i, seat := range g.GetSeats() {
		switch {
		case g.GetPosition().GetTwenty48() != nil:
			if g.GetPosition().GetTwenty48().GetGoalReached() {
				want = []int32{0}
			}
		case seat.GetResigned() || g.GetResult().GetReason() == pb.Result_REASON_ABANDONED:
		case len(want) == 0 || scores[i] > scores[want[0]]:
			want = []int32{int32(i)}
		case scores[i] == scores[want[0]]:
			want = append(want, int32(i))
		}
	}
	assert.ElementsMatch(t, want, g.GetResult().GetWinners(), "the winners of %v", g)
}

// checkEvent checks the rules that apply to every event.
func checkEvent(t testing.TB, e *pb.Event) {
	assert.Regexp(t, idForm, e.GetGameId())
	assert.Positive(t, e.GetVersion())
	checkTime(t, e.GetTime())
	p := e.GetPosition()
	over := e.GetResult() != nil
	seated := true
	variant := ""
	switch action := e.GetAction().(type) {
	case *pb.Event_Created:
		c := action.Created
		if c.GetChallengeId() != "" {
			attempts.Store(e.GetGameId(), true)
		}
		seated, variant = false, c.GetVariant()
		assert.EqualValues(t, 1, e.GetVersion())
		assert.NotEmpty(t, c.GetVariant())
		assert.Len(t, c.GetSeedCommitment(), 32)
		assert.Positive(t, c.GetRulesRevision())
		assert.True(t, c.GetTurnLimit() == nil || c.GetTurnLimit().AsDuration() > 0)
		assert.Zero(t, p.GetMoveCount())
		checkSeats(t, c.GetSeats())
		assert.Equal(t, slices.ContainsFunc(c.GetSeats(), isOpen), p.Turn == nil)
	case *pb.Event_Joined:
		seat := action.Joined.GetSeat()
		assert.Equal(t, e.GetSeat(), seat.GetIndex())
		assert.NotNil(t, seat.GetPlayer())
		assert.Empty(t, seat.GetStandIn())
		assert.False(t, over)
	case *pb.Event_Moved:
		checkMoved(t, action.Moved, e.GetSeat(), p)
	case *pb.Event_Undone:
		assert.Positive(t, action.Undone.GetToVersion())
		assert.Less(t, action.Undone.GetToVersion(), e.GetVersion())
		assert.False(t, e.GetRanked())
		assert.False(t, over)
	case *pb.Event_TimedOut:
		want := "greedy"
		if over {
			want = ""
			assert.Equal(t, pb.Result_REASON_TIMED_OUT, e.GetResult().GetReason())
		}
		assert.Equal(t, want, action.TimedOut.GetStandIn())
		assert.Nil(t, p.GetTurnDeadline(), "a stand-in has no clock")
	case *pb.Event_ClockExtended:
		assert.Positive(t, action.ClockExtended.GetBy().AsDuration())
		assert.True(t, p.Turn != nil && p.GetTurn() == e.GetSeat())
		assert.NotNil(t, p.GetTurnDeadline())
	case *pb.Event_Resigned:
	case *pb.Event_Abandoned:
		seated = false
		assert.True(t, over)
	default:
		assert.Fail(t, "an action that is not in the contract", "%v", e)
	}
	assert.Equal(t, seated, e.Seat != nil, "seat in %v", e)
	assert.GreaterOrEqual(t, e.GetSeat(), int32(0))
	assert.Less(t, int(e.GetSeat()), len(p.GetScores()))
	assert.Less(t, p.GetMoveCount(), e.GetVersion())
	checkPosition(t, variant, p)
	checkEnd(t, e.GetGameId(), over, e.GetResult(), e.GetSeed(), p)
}

// checkStep checks an event against the position before it.
func checkStep(t testing.TB, before *pb.Position, e *pb.Event) {
	moved, after := e.GetMoved(), e.GetPosition()
	switch {
	case moved == nil && e.GetUndone() == nil:
		assert.Equal(t, before.GetMoveCount(), after.GetMoveCount())
		assert.Equal(t, before.GetScores(), after.GetScores(), "the scores changed without a move")
	case moved == nil:
	case before.GetTribolo() != nil:
		checkJumped(t, before, e)
	default:
		assert.Equal(t, before.GetMoveCount()+1, after.GetMoveCount())
		assert.Equal(t, before.GetScores()[0]+moved.GetGained(), after.GetScores()[0])
		assert.Contains(t, before.GetTwenty48().GetLegalMoves(), moved.GetDirection())
	}
}

// attempts contains the ids of all attempts seen so far. The last event of an attempt may
// lack the seed.
var attempts sync.Map

// checkEnd checks the fields that are set at the end of a game, and only then.
func checkEnd(t testing.TB, gameID string, over bool, r *pb.Result, seed []byte, p *pb.Position) {
	if !over {
		assert.Nil(t, r)
		assert.Empty(t, seed, "a seed before the end")
		return
	}
	if _, attempt := attempts.Load(gameID); !attempt || len(seed) > 0 {
		assert.Len(t, seed, 32)
	}
	assert.Contains(t, pb.Result_Reason_name, int32(r.GetReason()))
	assert.NotZero(t, r.GetReason())
	assert.Equal(t, p.GetScores(), r.GetScores())
	assert.Nil(t, p.Turn, "a turn after the end")
}

func checkMoved(t testing.TB, m *pb.Moved, seat int32, p *pb.Position) {
	if p.GetTribolo() != nil {
		checkJump(t, m, seat, p.GetTribolo())
		return
	}
	assert.Zero(t, seat)
	assert.Contains(t, pb.Direction_name, int32(m.GetDirection()))
	assert.NotZero(t, m.GetDirection())
	assert.GreaterOrEqual(t, m.GetGained(), int32(0))
	assert.LessOrEqual(t, m.GetGained(), p.GetScores()[0])
	assert.Empty(t, m.GetTaken())
	if s := m.GetSpawned(); assert.NotNil(t, s) { // a tile always spawns, except perhaps after the goal, which no test reaches
		assert.Contains(t, []int32{2, 4}, s.GetValue())
		assert.Equal(t, s.GetValue(), p.GetTwenty48().GetTiles()[s.GetIndex()])
	}
}

func checkSeats(t testing.TB, seats []*pb.Seat) {
	assert.Contains(t, []int{1, 3}, len(seats))
	for i, seat := range seats {
		assert.EqualValues(t, i, seat.GetIndex())
		switch seat.GetOccupant().(type) {
		case *pb.Seat_Player:
			p := seat.GetPlayer()
			assert.Regexp(t, idForm, p.GetId())
			assert.NotEmpty(t, p.GetName())
			assert.Nil(t, p.GetCreateTime(), "the time must be unset in a seat")
			assert.Contains(t, []string{"", "greedy"}, seat.GetStandIn())
			continue
		case *pb.Seat_Bot:
			assert.NotEmpty(t, seat.GetBot())
		case *pb.Seat_Open:
		default:
			assert.Fail(t, "a seat without an occupant", "%v", seat)
		}
		assert.Empty(t, seat.GetStandIn())
		assert.False(t, seat.GetResigned())
	}
}

// checkPosition checks a position. variant may be empty if it is unknown.
func checkPosition(t testing.TB, variant string, p *pb.Position) {
	if p.GetTurnDeadline() != nil {
		assert.NoError(t, p.GetTurnDeadline().CheckValid())
		assert.NotNil(t, p.Turn)
	}
	if p.GetTribolo() != nil {
		checkTribolo(t, p)
		return
	}
	b := p.GetTwenty48()
	if !assert.NotNil(t, b) || !assert.Len(t, b.GetTiles(), int(b.GetRows()*b.GetColumns())) {
		return
	}
	assert.Len(t, p.GetScores(), 1)
	for _, tile := range b.GetTiles() {
		assert.True(t, tile == 0 || tile >= 2 && tile&(tile-1) == 0, "tile %d", tile)
	}
	if p.Turn == nil {
		assert.Empty(t, b.GetLegalMoves(), "legal moves although it is no seat's turn")
		return
	}
	assert.Zero(t, p.GetTurn())
	if variant != "" && variant != "restless" {
		assert.ElementsMatch(t, slides(b), b.GetLegalMoves(), "legal moves of %v", b)
	}
}

// slides returns the directions in which at least one tile can move or merge.
func slides(b *pb.Twenty48Board) []pb.Direction {
	var directions []pb.Direction
	tile := func(row, column int32) int32 { return b.GetTiles()[row*b.GetColumns()+column] }
	for d, step := range map[pb.Direction][2]int32{
		pb.Direction_DIRECTION_UP: {-1, 0}, pb.Direction_DIRECTION_DOWN: {1, 0},
		pb.Direction_DIRECTION_LEFT: {0, -1}, pb.Direction_DIRECTION_RIGHT: {0, 1},
	} {
		for row := range b.GetRows() {
			for column := range b.GetColumns() {
				r, c := row+step[0], column+step[1]
				if r < 0 || r >= b.GetRows() || c < 0 || c >= b.GetColumns() || tile(row, column) == 0 {
					continue
				}
				if next := tile(r, c); next == 0 || next == tile(row, column) {
					directions = append(directions, d)
				}
			}
		}
	}
	slices.Sort(directions)
	return slices.Compact(directions)
}

func checkTime(t testing.TB, at *timestamppb.Timestamp) {
	assert.NoError(t, at.CheckValid())
	assert.Zero(t, at.GetNanos()%int32(time.Millisecond), "the precision is not milliseconds")
	if c, ok := t.(clockedTest); ok {
		assert.False(t, at.AsTime().After(c.clock()), "a time in the future")
		return
	}
	assert.WithinDuration(t, time.Now(), at.AsTime(), time.Hour)
}

// clockedTest is a testing.TB that also carries the clock of the server's store.
type clockedTest struct {
	testing.TB
	clock func() time.Time
}

// withClock returns t with the clock of a server's store, which times are checked against. A nil
// clock stands for the system clock.
func withClock(t testing.TB, clock func() time.Time) testing.TB {
	if clock == nil {
		return t
	}
	return clockedTest{t, clock}
}

// checkChallenge checks the rules that apply to every challenge.
func checkChallenge(t testing.TB, c *pb.Challenge) {
	race := c.GetKind() == pb.ChallengeKind_CHALLENGE_KIND_RACE
	daily := c.GetKind() == pb.ChallengeKind_CHALLENGE_KIND_DAILY
	rematch := c.GetKind() == pb.ChallengeKind_CHALLENGE_KIND_REMATCH
	over := c.GetStatus() == pb.ChallengeStatus_CHALLENGE_STATUS_CLOSED
	assert.Regexp(t, idForm, c.GetId())
	assert.NotEmpty(t, c.GetVariant())
	assert.Equal(t, daily, c.GetCreator() == nil)
	assert.Equal(t, daily, c.GetDate() != "")
	assert.Equal(t, rematch, c.GetTarget() != nil)
	assert.Equal(t, c.GetOpenTime() == nil, c.GetStatus() == pb.ChallengeStatus_CHALLENGE_STATUS_WAITING)
	assert.Equal(t, c.GetOpenTime() == nil, c.GetCloseTime() == nil)
	assert.True(t, race || c.GetOpenTime() != nil && len(c.GetEntrants()) == 0)
	assert.Len(t, c.GetSeedCommitment(), 32)
	switch {
	case rematch, over && !race:
		assert.Len(t, c.GetSeed(), 32)
	case !over:
		assert.Empty(t, c.GetSeed(), "a seed before the end")
	}
	if len(c.GetSeed()) > 0 {
		sum := sha256.Sum256(c.GetSeed())
		assert.Equal(t, sum[:], c.GetSeedCommitment())
	}
	for _, e := range c.GetEntrants() {
		assert.Regexp(t, idForm, e.GetGameId())
		assert.True(t, e.GetReady() || e.GetBot() == "", "a bot is not ready")
	}
}
