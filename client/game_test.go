package client_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/testkit/transcript"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that a game that is updated by its events equals the server's game at every
// version.
func TestGame_Apply(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for n := range uint64(100) {
		rng := rand.New(rand.NewPCG(n, 1))
		events, games := transcript.Life(t, []string{"3x3", "tribolo"}[n%2], rng)
		before := make([]*pb.Game, len(games))
		from := rng.IntN(len(games))

		var whole, later client.Game
		later.Replace(games[from])
		for i, event := range events {
			require.True(t, whole.Apply(event))
			require.False(t, whole.Apply(event), "the event is already known")
			require.False(t, whole.Apply(events[0]), "the event is older")
			require.Equal(t, i > from, later.Apply(event))
			if event.GetUndone() != nil && len(games[i].GetSeats()) > 1 { // The event does not contain the seats.
				whole.Replace(games[i])
				later.Replace(games[i])
			}
			require.True(t, proto.Equal(games[i], whole.Game), "version %d after %T:\n%v\nis\n%v", i+1, event.Action, whole.Game, games[i])
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
