//go:build slow

package web

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/image/font/gofont/goregular"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
	replaytest "github.com/gridstand/gridstand/internal/testkit/replay"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
)

// fixture is the data that the page reads in place of a server's.
type fixture struct {
	Now      int64 // milliseconds
	Font     []byte
	Player   json.RawMessage
	Variants json.RawMessage
	Games    map[string]json.RawMessage // by id
	Events   map[string][]json.RawMessage
	Live     []string // ids
	Over     []string
	New      map[string]string // ids of the games that CreateGame returns, by variant
	Entries  []json.RawMessage
	// IDs of attempts: the player's unfinished one, the player's finished one, and a bot's.
	Mine, Done, Bots string
}

// fixedTime is the time that all times in the fixture are relative to.
var fixedTime = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

const secondsOfGames = 240

// playedGame plays a game that is the same in every run.
func playedGame(t testing.TB, id, variant string, seats []replay.Seat, moves int, resign bool) ([]*pb.Event, *pb.Game) {
	t.Helper()
	v, ok := variants.Current(variant)
	require.True(t, ok)
	seed := replaytest.Seed(t, 2)
	at := fixedTime.Add(time.Duration(secondsOfGames-moves) * time.Second)
	e, err := replay.Start(id, replay.Entry{Seat: game.NoSeat, Action: replay.Created{
		Variant: v.ID, Revision: v.Revision, Commitment: seed.Commitment(), Seats: seats,
	}}, seed, at)
	require.NoError(t, err)
	events := []*pb.Event{translate.Event(e)}
	for i := range moves {
		legal := e.State.LegalMoves()
		require.NotEmpty(t, legal)
		at = at.Add(time.Second)
		seat := e.State.Turn()
		e, err = e.State.Apply(replay.Entry{Seat: seat, Action: replay.Moved{Move: legal[i*i%min(len(legal), 2)], ByBot: seats[seat].Bot != ""}}, at)
		require.NoError(t, err)
		events = append(events, translate.Event(e))
	}
	if resign {
		e, err = e.State.Apply(replay.Entry{Seat: 0, Action: replay.Resigned{}}, at.Add(time.Second))
		require.NoError(t, err)
		events = append(events, translate.Event(e))
	}
	return events, translate.Game(e.State, 3)
}

// newFixture returns games, players and scores that are the same in every run.
func newFixture(t testing.TB) *fixture {
	t.Helper()
	ada := replay.Player{ID: "adaadaadaadaadaadaadaadaad", Name: "ada"}
	me := replay.Player{ID: "memememememememememememeem", Name: "guest-k3xq7a"}
	f := &fixture{
		Now: fixedTime.Add((secondsOfGames + 5) * time.Second).UnixMilli(), Font: goregular.TTF,
		Games: map[string]json.RawMessage{}, Events: map[string][]json.RawMessage{}, New: map[string]string{},
	}
	add := func(id, variant string, seats []replay.Seat, moves int, resign bool) string {
		events, g := playedGame(t, id, variant, seats, moves, resign)
		if strings.HasPrefix(id, "done") || strings.HasPrefix(id, "mine") {
			g.ChallengeId, g.Seed = "dail"+filling, nil
		}
		for _, e := range events {
			f.Events[id] = append(f.Events[id], jsonOf(t, e))
		}
		f.Games[id] = jsonOf(t, g)
		return id
	}
	solo, three := []replay.Seat{{Player: ada}}, []replay.Seat{{Player: ada}, {Bot: "greedy"}, {Bot: "minimax"}}
	f.Live = []string{
		add("live"+filling, "classic", solo, 150, false),
		add("trib"+filling, "tribolo", three, 20, false),
	}
	f.Over = []string{add("over"+filling, "classic", solo, 120, true)}
	f.Mine = add("mine"+filling, "classic", []replay.Seat{{Player: me}}, 60, false)
	f.Done = add("done"+filling, "classic", []replay.Seat{{Player: me}}, 140, true)
	f.Bots = add("bots"+filling, "classic", []replay.Seat{{Bot: "greedy"}}, 100, false)
	f.New["classic"] = add("news"+filling, "classic", []replay.Seat{{Player: me}}, 0, false)
	f.New["tribolo"] = add("newt"+filling, "tribolo", []replay.Seat{{Player: me}, {Bot: "greedy"}, {Bot: "minimax"}}, 0, false)
	f.Player = jsonOf(t, &pb.Player{Id: ada.ID, Name: ada.Name, CreateTime: timestamppb.New(fixedTime)})
	all := &pb.ListVariantsResponse{}
	for _, v := range variants.All() {
		all.Variants = append(all.Variants, translate.Variant(v))
	}
	f.Variants = jsonOf(t, all)
	for i := range 12 {
		f.Entries = append(f.Entries, jsonOf(t, &pb.Entry{
			Rank: int32(i + 1), Player: &pb.Player{Id: fmt.Sprint("p", i), Name: fmt.Sprint("player-", i*i)},
			Score: int32(40000 - 3000*i), GameId: f.Over[0], Time: timestamppb.New(fixedTime.Add(time.Duration(-i) * time.Hour)),
		}))
	}
	return f
}

// filling extends a four-letter prefix to a full game id.
const filling = "gamegamegamegamegamega"

func jsonOf(t testing.TB, m proto.Message) json.RawMessage {
	t.Helper()
	text, err := protojson.Marshal(m)
	require.NoError(t, err)
	return text
}

// script returns a script that makes the page use the fixture. It responds to requests, stops the
// clock, and loads the fixture's font, if any, which looks the same on every machine.
func (f *fixture) script(t testing.TB) string {
	t.Helper()
	data, err := json.Marshal(f)
	require.NoError(t, err)
	return "const fixture = " + string(data) + ";\n" + fixtureScript + challengesScript
}

var (
	//go:embed testdata/fixture.js
	fixtureScript string
	//go:embed testdata/challenges.js
	challengesScript string
)
