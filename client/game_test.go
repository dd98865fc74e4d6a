package client_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
)

// history plays random games by the server's rules and returns what a server sends for
// each version: the event and the complete game.
func history(t *testing.T, rng *rand.Rand, variant string) (events []*pb.Event, games []*pb.Game) {
	t.Helper()
	v, ok := variants.Current(variant)
	require.True(t, ok)
	secret := make([]byte, game.SeedSize)
	secret[0] = byte(1 + rng.IntN(255))
	seed, err := game.SeedFromBytes(secret)
	require.NoError(t, err)

	var states []*replay.State
	show := func(e *replay.Event, err error) {
		require.NoError(t, err)
		events, games = append(events, translate.Event(e)), append(games, translate.Game(e.State, 0))
		states = append(states, e.State)
	}
	seats := make([]replay.Seat, v.Seats)
	seats[0].Player = replay.Player{ID: playerID, Name: "ada"}
	created := replay.Created{
		Variant: v.ID, Revision: v.Revision, Seats: seats, Private: rng.IntN(2) == 0, Commitment: seed.Commitment(),
	}
	if v.Seats > 1 {
		created.TurnLimit = time.Minute
	}
	at := time.Unix(1_700_000_000, 0)
	show(replay.Start(gameID, replay.Entry{Seat: game.NoSeat, Action: created}, seed, at))
	for {
		s := states[len(states)-1]
		at = at.Add(time.Second)
		seat, turn := s.Turn(), s.Turn()
		var action replay.Action
		switch n := rng.IntN(100); {
		case s.Status == replay.Finished:
			return events, games
		case s.Status == replay.Waiting:
			for seat = 0; !s.Seats[seat].Open(); {
				seat++
			}
			action = replay.Joined{Player: replay.Player{ID: otherID[seat:] + otherID[:seat], Name: "eve"}}
		case n == 0:
			action = replay.Resigned{}
		case n == 1:
			seat, action = game.NoSeat, replay.Abandoned{}
		case s.Seats[turn].Lent():
			action = replay.Joined{Player: s.Seats[turn].Player}
		case n < 10 && v.Seats == 1 && len(states) > 1:
			to := 1 + rng.IntN(len(states)-1)
			undone := replay.Entry{Seat: turn, Action: replay.Undone{To: int32(to)}}
			show(s.Undo(undone, states[to-1], at))
			continue
		case n < 10 && v.Seats > 1 && !s.LastHuman(turn):
			at = s.Deadline()
			action = replay.TimedOut{StandIn: "greedy"}
		case n < 20 && v.Seats > 1:
			action = replay.ClockExtended{By: time.Second}
		default:
			legal := s.LegalMoves()
			action = replay.Moved{Move: legal[rng.IntN(len(legal))], ByBot: rng.IntN(50) == 0}
		}
		show(s.Apply(replay.Entry{Seat: seat, Action: action}, at))
	}
}

// Ensure that a game that is updated by its events equals the server's game at every
// version.
func TestGame_Apply(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for n := range uint64(100) {
		rng := rand.New(rand.NewPCG(n, 1))
		events, games := history(t, rng, []string{"3x3", "tribolo"}[n%2])
		before := make([]*pb.Game, len(games))
		from := rng.IntN(len(games))

		var whole, later client.Game
		later.Replace(games[from])
		for i, event := range events {
			require.True(t, whole.Apply(event))
			require.False(t, whole.Apply(event), "the event is already known")
			require.False(t, whole.Apply(events[0]), "the event is older")
			require.True(t, proto.Equal(games[i], whole.Game), "version %d after %T:\n%v\nis\n%v", i+1, event.Action, whole.Game, games[i])
			require.Equal(t, i > from, later.Apply(event))
			require.True(t, proto.Equal(games[max(i, from)], later.Game), "version %d, known from %d", i+1, from+1)
			before[i] = whole.Game
			seen[string(event.ProtoReflect().WhichOneof(event.ProtoReflect().Descriptor().Oneofs().ByName("action")).Name())]++
		}
		for i := range before {
			require.True(t, proto.Equal(games[i], before[i]), "an earlier copy has changed")
		}
		assert.True(t, whole.Over())
		assert.Nil(t, whole.Turn())
	}
	assert.Len(t, seen, 8, "the games should contain every kind of event: %v", seen)
}

// Ensure that Apply ignores events that would leave the game invalid.
func TestGame_Apply_NotItsEvent(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(e *pb.Event){
		"another game": func(e *pb.Event) { e.GameId = otherID },
		"two scores":   func(e *pb.Event) { e.Position.Scores = []int32{4, 4} },
		"no scores":    func(e *pb.Event) { e.Position.Scores = nil },
		"two new seats": func(e *pb.Event) {
			e.Action = &pb.Event_Created{Created: &pb.Created{Seats: make([]*pb.Seat, 2)}}
		},
	} {
		g, e := knownAt(3), eventAt(4)
		edit(e)
		assert.False(t, g.Apply(e), name)
		assert.False(t, g.Update(client.Update{Event: e}), name)
		assert.EqualValues(t, 3, g.GetVersion(), name)
		assert.NoError(t, client.CheckGame(g.Game), name)
	}
	var unknown client.Game
	assert.True(t, unknown.Apply(eventAt(4)), "its seats are unknown")
	assert.True(t, unknown.Apply(eventAt(5)), "its seats are unknown")
	e := eventAt(1)
	e.Action = &pb.Event_Created{Created: &pb.Created{}}
	assert.False(t, new(client.Game).Apply(e), "a game without seats")
}

func TestGame_Apply_Exhibition(t *testing.T) {
	t.Parallel()
	for challenge, exhibition := range map[string]bool{"": true, challengeID: false} {
		e := eventAt(1)
		e.Action = &pb.Event_Created{Created: &pb.Created{Seats: []*pb.Seat{{Occupant: &pb.Seat_Bot{Bot: "greedy"}}}, ChallengeId: challenge}}
		var g client.Game
		require.True(t, g.Apply(e))
		assert.Equal(t, exhibition, g.GetExhibition(), challenge)
	}
}

func TestGame_Update(t *testing.T) {
	t.Parallel()
	var g client.Game
	watchers := int32(7)
	assert.False(t, g.Update(client.Update{Audience: &watchers}), "the game is not known yet")
	assert.Nil(t, g.Turn())
	assert.False(t, g.Over())

	assert.True(t, g.Update(client.Update{Game: gameAt(3)}))
	first := g
	assert.False(t, g.Update(client.Update{Audience: &watchers}))
	assert.Equal(t, watchers, g.GetWatchers())
	assert.Zero(t, first.GetWatchers(), "a copy changed")

	assert.True(t, g.Update(client.Update{Event: eventAt(4)}))
	assert.False(t, g.Update(client.Update{Event: eventAt(4)}))
	assert.False(t, g.Update(client.Update{Connection: client.Connection{State: client.Reconnecting}}))
	assert.Equal(t, "classic", g.GetVariant())

	old, same := gameAt(2), gameAt(4)
	old.Watchers, same.Seats[0].StandIn = 9, "greedy"
	assert.False(t, g.Replace(old))
	assert.EqualValues(t, 4, g.GetVersion())
	assert.EqualValues(t, 9, g.GetWatchers())
	assert.False(t, g.Replace(same))
	assert.Equal(t, "greedy", g.SeatAt(0).GetStandIn(), "the snapshot contains more than its events")
	assert.Nil(t, g.SeatAt(1))
	assert.Nil(t, g.SeatAt(-1))
}
