package verify_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
	replaytest "github.com/gridstand/gridstand/internal/testkit/replay"
	transcripts "github.com/gridstand/gridstand/internal/testkit/transcript"
	"github.com/gridstand/gridstand/internal/verify"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
)

const (
	gameID  = "gamegamegamegamegamegamega"
	otherID = "otherotherotherotherothero"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

var seedOf = replaytest.Seed

// start starts a game, or an attempt at a challenge, with a player in every seat.
func start(t testing.TB, variant string, seed game.Seed, of replay.Attempt) *replay.Event {
	t.Helper()
	created := replaytest.Created(t, variant, replay.Player{}, seed)
	created.Attempt = of
	for i, name := range []string{"ada", "bob", "eve"}[:len(created.Seats)] {
		created.Seats[i] = replay.Seat{Player: replay.Player{ID: otherID[i:] + otherID[:i], Name: name}}
	}
	e, err := replay.Start(gameID, replay.Entry{Seat: game.NoSeat, Action: created}, seed, noon)
	require.NoError(t, err)
	return e
}

// transcript plays a game as a server would. The player resigns after the given number of
// moves if the game is not over by then.
func transcript(t testing.TB, variant string, seed game.Seed, moves int) []*pb.Event {
	t.Helper()
	return attempt(t, variant, seed, moves, replay.Attempt{})
}

// attempt is like transcript but plays an attempt at a closed challenge.
func attempt(t testing.TB, variant string, seed game.Seed, moves int, of replay.Attempt) []*pb.Event {
	t.Helper()
	at := noon
	e := start(t, variant, seed, of)
	if of != (replay.Attempt{}) {
		e.State = e.State.Reveal(seed)
	}
	events := []*pb.Event{translate.Event(e)}
	var err error
	for n := 0; e.State.Status == replay.Active; n++ {
		var action replay.Action = replay.Resigned{}
		if legal := e.State.LegalMoves(); n < moves {
			action = replay.Moved{Move: legal[n%len(legal)], ByBot: n > 20}
		}
		at = at.Add(time.Duration(n%3) * time.Second) // some consecutive events have the same time
		e, err = e.State.Apply(replay.Entry{Seat: e.State.Turn(), Action: action}, at)
		require.NoError(t, err)
		events = append(events, translate.Event(e))
	}
	return events
}

func clone(events []*pb.Event) []*pb.Event {
	copied := make([]*pb.Event, len(events))
	for i, e := range events {
		copied[i] = proto.CloneOf(e)
	}
	return copied
}

func TestTranscript_EveryVariant(t *testing.T) {
	t.Parallel()
	lengths := []int{0, 30, 400} // the last is longer than a game on a small board
	for _, v := range variants.All() {
		for n, moves := range lengths {
			events := transcript(t, v.ID, seedOf(t, byte(n+1)), moves)
			before := clone(events)
			report, err := verify.Transcript(transcripts.All(events))
			require.NoError(t, err, v.ID)

			last := events[len(events)-1]
			assert.Equal(t, gameID, report.GameID)
			assert.Equal(t, v.ID, report.Variant)
			assert.Equal(t, []string{"ada", "bob", "eve"}[:v.Seats], report.Players)
			assert.Equal(t, len(events), report.Versions)
			assert.Equal(t, int(last.GetPosition().GetMoveCount()), report.Moves)
			assert.Equal(t, spawns(events), report.Spawned)
			assert.Equal(t, last.GetPosition().GetScores(), report.Scores)
			assert.Equal(t, game.Reason(last.GetResult().GetReason()).String(), report.Reason)
			assert.Equal(t, last.GetRanked(), report.Ranked)
			assert.Equal(t, noon, report.Begin)
			assert.Equal(t, last.GetTime().AsTime(), report.End)
			for i := range events {
				assert.True(t, proto.Equal(before[i], events[i]), "the caller's events are left alone")
			}
		}
	}
}

func spawns(events []*pb.Event) int {
	n := 0
	for _, tile := range events[0].GetPosition().GetTwenty48().GetTiles() {
		if tile != 0 {
			n++
		}
	}
	for _, e := range events {
		if e.GetMoved().GetSpawned() != nil {
			n++
		}
	}
	return n
}

func TestTranscript_OrderOfSetsIsFree(t *testing.T) {
	t.Parallel()
	for _, variant := range []string{"classic", "tribolo"} {
		events := transcript(t, variant, seedOf(t, 1), 30)
		for _, e := range events {
			slices.Reverse(e.GetPosition().GetTwenty48().GetLegalMoves())
			slices.Reverse(e.GetPosition().GetTribolo().GetLegalMoves())
			for _, m := range e.GetPosition().GetTribolo().GetLegalMoves() {
				slices.Reverse(m.GetTaken())
			}
			slices.Reverse(e.GetMoved().GetTaken())
		}
		_, err := verify.Transcript(transcripts.All(events))
		assert.NoError(t, err)
	}
}

func TestTranscript_Altered(t *testing.T) {
	t.Parallel()
	seed := seedOf(t, 1)
	honest := transcript(t, "classic", seed, 30) // versions 1 to 32
	require.Len(t, honest, 32)

	for name, tc := range map[string]struct {
		version int32
		alter   func(e *pb.Event)
		want    string
	}{
		"the gain":                 {17, func(e *pb.Event) { e.GetMoved().Gained += 4 }, "moved.gained is "},
		"the number of moves":      {17, func(e *pb.Event) { e.Position.MoveCount++ }, "position.move_count is 17, recomputed 16"},
		"the turn":                 {17, func(e *pb.Event) { e.Position.Turn = nil }, "position.turn is missing"},
		"the seat":                 {17, func(e *pb.Event) { e.Seat = proto.Int32(1) }, "the rules do not allow the event: it is another seat's turn"},
		"ranked in spite of a bot": {30, func(e *pb.Event) { e.Ranked = true }, "ranked is true, recomputed false"},
		"the seed early":           {17, func(e *pb.Event) { e.Seed = seed.SeedBytes() }, "seed is "},
		"the time":                 {17, func(e *pb.Event) { e.Time = timestamppb.New(noon.Add(-time.Second)) }, "the event is older than"},
		"no time":                  {17, func(e *pb.Event) { e.Time = nil }, "the event has no valid time"},
		"the commitment":           {1, func(e *pb.Event) { e.GetCreated().SeedCommitment[0]++ }, "SHA-256 of the revealed seed"},
		"a short commitment":       {1, func(e *pb.Event) { e.GetCreated().SeedCommitment = nil }, "a commitment of 0 bytes"},
		"another beginning":        {1, func(e *pb.Event) { e.Action = honest[5].Action }, "the first event is not the creation of the game"},
		"the seats":                {1, func(e *pb.Event) { e.GetCreated().Seats = nil }, "classic has 1 seats, not 0"},
		"an unset seat":            {1, func(e *pb.Event) { e.GetCreated().Seats[0].Occupant = nil }, ""},
		"no game":                  {1, func(e *pb.Event) { e.GameId = "x\x1b[31m" }, `the game id "x\x1b[31m" is invalid`},
		"a revealed seed":          {32, func(e *pb.Event) { e.Seed = seedOf(t, 3).SeedBytes() }, "SHA-256 of the revealed seed"},
		"half a seed":              {32, func(e *pb.Event) { e.Seed = e.Seed[:16] }, "the revealed seed is invalid"},
		"the result":               {32, func(e *pb.Event) { e.Result.Reason = pb.Result_REASON_NO_MOVES }, "result.reason is REASON_NO_MOVES, recomputed REASON_RESIGNED"},
		"the winners":              {32, func(e *pb.Event) { e.Result.Winners = []int32{0} }, "result.winners has 1 entries, recomputed 0"},
		"a turn after the end":     {32, func(e *pb.Event) { e.Position.Turn = proto.Int32(0) }, "position.turn is set, but should be missing"},
		"another game":             {17, func(e *pb.Event) { e.GameId = otherID }, "the event belongs to another game"},
		"an early end":             {17, func(e *pb.Event) { e.Result = &pb.Result{} }, "the event comes after the end"},
	} {
		events := clone(honest)
		tc.alter(events[tc.version-1])
		_, err := verify.Transcript(transcripts.All(events))
		var difference *verify.Difference
		require.ErrorAs(t, err, &difference, name)
		assert.Contains(t, difference.What, tc.want, name)
		switch tc.want {
		case "SHA-256 of the revealed seed", "the revealed seed is invalid":
			assert.Equal(t, int32(1), difference.Version, "%s: the seed is checked first", name)
		case "the event comes after the end":
			assert.Equal(t, int32(18), difference.Version, name)
		default:
			assert.Equal(t, tc.version, difference.Version, name)
		}
	}
}

// Ensure that a game in which a bot played for a player from the beginning is refused. Its moves would not
// be those of a program in a seat that a player holds, so the game would seem to be ranked.
func TestTranscript_SeatsAtTheBeginning(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*replay.Created){
		"a stand-in":            func(c *replay.Created) { c.Seats[0].StandIn = "greedy" },
		"a seat that resigned":  func(c *replay.Created) { c.Seats[0].Resigned = true },
		"a negative turn limit": func(c *replay.Created) { c.TurnLimit = -time.Hour },
	} {
		seed := seedOf(t, 1)
		created := replaytest.Created(t, "tribolo", replay.Player{ID: otherID, Name: "ada"}, seed)
		change(&created)
		e, err := replay.Start(gameID, replay.Entry{Seat: game.NoSeat, Action: created}, seed, noon)
		require.NoError(t, err, name)
		events := []*pb.Event{translate.Event(e)}
		for e.State.Status == replay.Active {
			move := replay.Moved{Move: e.State.LegalMoves()[0], ByBot: !e.State.Seats[e.State.Turn()].Held()}
			e, err = e.State.Apply(replay.Entry{Seat: e.State.Turn(), Action: move}, noon)
			require.NoError(t, err, name)
			events = append(events, translate.Event(e))
		}
		require.True(t, e.State.Ranked, name)
		_, err = verify.Transcript(transcripts.All(events))
		var difference *verify.Difference
		require.ErrorAs(t, err, &difference, name)
		assert.Equal(t, int32(1), difference.Version, name)
	}
}

func TestTranscript_MissingOrMovedEvents(t *testing.T) {
	t.Parallel()
	honest := transcript(t, "classic", seedOf(t, 1), 30)
	cut := func(from, to int) []*pb.Event { return slices.Delete(clone(honest), from, to) }

	for name, tc := range map[string]struct {
		events []*pb.Event
		want   error
		text   string
	}{
		"nothing":            {nil, verify.ErrEmpty, ""},
		"without the first":  {cut(0, 1), verify.ErrIncomplete, ""},
		"without the last":   {cut(31, 32), verify.ErrLive, ""},
		"without one":        {cut(10, 11), nil, "version 11: found version 12 instead"},
		"one of them twice":  {slices.Insert(clone(honest), 10, honest[9]), nil, "version 11: found version 10 instead"},
		"something after it": {append(clone(honest), honest[31]), nil, "version 32: the event comes after the end of the game"},
	} {
		_, err := verify.Transcript(transcripts.All(tc.events))
		if tc.want != nil {
			assert.ErrorIs(t, err, tc.want, name)
			continue
		}
		assert.EqualError(t, err, tc.text, name)
	}
}

func TestTranscript_NewerServer(t *testing.T) {
	t.Parallel()
	for name, alter := range map[string]func(events []*pb.Event){
		"a variant":  func(events []*pb.Event) { events[0].GetCreated().Variant = "hexagons" },
		"a revision": func(events []*pb.Event) { events[0].GetCreated().RulesRevision = 1000 },
		"an event":   func(events []*pb.Event) { events[5].Action = nil },
	} {
		events := transcript(t, "classic", seedOf(t, 1), 30)
		alter(events)
		_, err := verify.Transcript(transcripts.All(events))
		assert.ErrorIs(t, err, verify.ErrUnknown, name)
		assert.False(t, strings.ContainsRune(err.Error(), '\n'), name)
	}
}
