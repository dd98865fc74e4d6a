package play

import (
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// somePlay is the page of a game of 2048 just after a move.
func somePlay(t *testing.T, env *ui.Env) *Model {
	t.Helper()
	p := New(t.Context(), env, tuitest.Game(tuitest.Board(4, 4)), client.GameOptions{}).(*Model)
	p.State.Update(client.Update{Connection: client.Connection{State: client.Live}}, tuitest.Noon)
	p.Gained, p.Marks = 128, board.Marks{Spawned: 6, Merged: []int{9}}
	for i, what := range []string{"↓", "←", "↑", "←", "↓", "→"} {
		gains := []int32{128, 0, 16, 4, 0, 8}
		p.Log = append(p.Log, gamestate.Entry{Move: 612 - int32(i), What: what, Gained: gains[i]})
	}
	p.places = places{
		day: &ui.Place{Rank: 4, Total: 87, Score: 36228, GameID: "other"},
		all: &ui.Place{Rank: 31, Total: 1204, Score: 36228, GameID: "other"},
	}
	return p
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T, env *ui.Env) *Model{
		"play": somePlay,
		"result": func(t *testing.T, env *ui.Env) *Model {
			p := somePlay(t, env)
			finish(p, pb.Result_REASON_NO_MOVES)
			p.places.day.GameID = tuitest.GameID
			return p
		},
		"question": func(t *testing.T, env *ui.Env) *Model {
			p := somePlay(t, env)
			p.question = askNew(&p.seated, nil)
			return p
		},
		"tribolo": func(t *testing.T, env *ui.Env) *Model {
			p := someTribolo(t, env)
			p.Game.GetPosition().TurnDeadline = timestamppb.New(tuitest.Noon.Add(41 * time.Second))
			p.jumping().targets, p.jumping().cursor = true, most(p.Tribolo()).GetCell()
			return p
		},
		"tribolo-first": func(t *testing.T, env *ui.Env) *Model {
			p := someTribolo(t, env)
			p.places.all, p.Game.GetPosition().MoveCount = &ui.Place{}, 0
			p.jumping().cursor = &pb.Cell{X: 3, Y: 5}
			return p
		},
		"tribolo-result": func(t *testing.T, env *ui.Env) *Model {
			p := someTribolo(t, env)
			finish(p, pb.Result_REASON_NO_MOVES)
			p.places.day = &ui.Place{Rank: 2, Total: 31, Score: 12, GameID: tuitest.GameID}
			p.places.all = &ui.Place{Rank: 40, Total: 912, Score: 88, GameID: "other"}
			return p
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tuitest.Golden(t, name, func(env *ui.Env) ui.Page { return open(t, env) })
		})
	}
}
