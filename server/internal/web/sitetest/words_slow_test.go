//go:build slow

package sitetest_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/internal/describe"
	"github.com/gridstand/gridstand/internal/testkit/transcript"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// words holds a program's descriptions of one moment of a game.
type words struct {
	Players, Ending, Happened, Moves, Watching, Wait, Ago string
	Outcomes                                              [][2]string // for a watcher, seat 0 and seat 2, with the color
	Tile                                                  int32
}

// moment is a game right after an event, along with a number and a duration to format.
type moment struct {
	game  *pb.Game
	event *pb.Event
	n     int32
	ago   time.Duration
}

// words returns the Go packages' wording for the moment.
func (m moment) words() words {
	var outcomes [][2]string
	for _, seat := range []int{-1, 0, 2} {
		title, reason, won := describe.Outcome(m.game, seat, describe.Seat)
		color := "bad"
		switch {
		case won:
			color = "good"
		case seat < 0:
			color = "" // The end of another player's game is not bad for a watcher.
		}
		outcomes = append(outcomes, [2]string{title + ": " + reason, color})
	}
	return words{
		Players: describe.Players(m.game, describe.Seat), Ending: describe.Ending(m.game), Outcomes: outcomes,
		Happened: describe.Happened(m.game, m.event, describe.Seat),
		Moves:    describe.Plural(m.n, "move"), Watching: describe.Watching(m.n),
		Wait: describe.Until(m.ago), Ago: describe.Ago(m.ago),
		Tile: describe.LargestTile(m.game.GetPosition().GetTwenty48()),
	}
}

// MarshalJSON encodes the moment as input for words.mjs.
func (m moment) MarshalJSON() ([]byte, error) {
	game, err := protojson.Marshal(m.game)
	if err != nil {
		return nil, err
	}
	event, err := protojson.Marshal(m.event)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{
		"game": json.RawMessage(game), "event": json.RawMessage(event), "n": m.n, "ago": m.ago.Milliseconds(),
	})
}

// TestWords checks that the page uses the same wording as the terminal and the link
// previews, for random games after each event and for each way in which a game can end.
func TestWords(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 18))
	var moments []moment
	add := func(g *pb.Game, e *pb.Event) {
		n, ago := random.Int32N(1<<random.IntN(24)), random.Int64N(1<<random.IntN(36))
		moments = append(moments, moment{proto.CloneOf(g), e, n, time.Duration(ago) * time.Millisecond})
	}
	for _, v := range variants.All() {
		for range 3 {
			g := &pb.Game{Variant: v.ID}
			events, games := transcript.Life(t, v.ID, random)
			for i, e := range events {
				g.Seats, g.Position, g.Result = games[i].GetSeats(), e.GetPosition(), e.GetResult()
				if g.GetResult() == nil { // The page describes the outcome only if the game is finished.
					g.Result = &pb.Result{}
				}
				add(g, e)
			}
			for reason := range pb.Result_Reason_name {
				for _, winners := range [][]int32{nil, {0}, {2}, {0, 2}, {0, 1, 2}} {
					if len(winners) > 1 && len(g.Seats) == 1 {
						continue
					}
					g.Result = &pb.Result{Reason: pb.Result_Reason(reason), Winners: winners}
					by := durationpb.New(time.Duration(random.IntN(10_000)) * time.Millisecond)
					add(g, &pb.Event{Action: &pb.Event_ClockExtended{ClockExtended: &pb.ClockExtended{By: by}}})
				}
			}
		}
	}
	said := run[words](t, "words.mjs", moments)
	require.Len(t, said, len(moments))
	for i, m := range moments {
		assert.Equal(t, m.words(), said[i], "%v\n%v", m.game, m.event)
	}
}
