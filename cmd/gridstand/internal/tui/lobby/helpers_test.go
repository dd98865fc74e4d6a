package lobby

import (
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/game/replay"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
)

// The ids of the games in the lists, besides tuitest.GameID.
const (
	waitingID = "waitingwaitingwaitingwaiti"
	triboloID = "tribolotribolotribolotribo"
	idleID    = "idleidleidleidleidleidleid"
	deadID    = "deaddeaddeaddeaddeaddeadde"
	doneID    = "donedonedonedonedonedonedo"
	recordID  = "recordrecordrecordrecordre"
)

// other returns one of bob's games, in progress. idle is the time between its last move and
// tuitest.Noon.
func other(id, variant string, idle time.Duration, score int32) *pb.Game {
	g := tuitest.Game(tuitest.Board(4, 4))
	g.Id, g.Variant, g.Watchers = id, variant, 0
	g.Seats[0].GetPlayer().Id, g.Seats[0].GetPlayer().Name = "bob", "bob"
	g.GetPosition().Scores = []int32{score}
	g.UpdateTime = timestamppb.New(tuitest.Noon.Add(-idle))
	g.CreateTime = timestamppb.New(tuitest.Noon.Add(-idle - time.Hour))
	return g
}

// lists returns the lists that a server sends to the account me.
func lists(t testing.TB, me, variant string, w pb.Window) ui.Lists {
	ada := replay.Seat{Player: replay.Player{ID: tuitest.Me, Name: "ada"}}
	carol := replay.Seat{Player: replay.Player{ID: "carol", Name: "carol with a long name"}}
	done := other(doneID, "3x3", 26*time.Hour, 1096)
	done.Status, done.Seats = pb.GameStatus_GAME_STATUS_FINISHED, tuitest.Game(nil).GetSeats()
	done.Result = &pb.Result{Reason: pb.Result_REASON_NO_MOVES, Scores: []int32{1096}}
	running := tuitest.Tribolo(t, triboloID, 9, ada, replay.Seat{Bot: "greedy"}, replay.Seat{Bot: "minimax"})
	waiting := tuitest.Tribolo(t, waitingID, 0, carol, replay.Seat{}, replay.Seat{Bot: "greedy"})
	l := ui.Lists{
		Variants: tuitest.Variants(), Variant: variant, Window: w, Moving: 2,
		Live: []*pb.Game{
			other(deadID, "classic", 13*time.Minute, 36228), other(idleID, "vt100", 40*time.Second, 512),
			tuitest.Game(tuitest.Board(4, 4)), translate.Game(running.State, 1), translate.Game(waiting.State, 1),
		},
	}
	for i, name := range []string{"bob", "ada", "carol with a long name", "dave"} {
		id := name
		if name == "ada" {
			id = tuitest.Me
		}
		l.Scores = append(l.Scores, &pb.Entry{
			Rank: int32(i + 1), Player: &pb.Player{Id: id, Name: name}, Score: 36228 / int32(i+1),
			GameId: fmt.Sprintf("%.25s%d", recordID, i), Time: timestamppb.New(tuitest.Noon.Add(-3 * time.Hour)),
		})
	}
	if me != "" {
		l.Mine = []*pb.Game{done, l.Live[3], l.Live[2]}
	}
	return l
}

// got returns the message that delivers lists to the lobby.
func got(p *page, lists ui.Lists, err error) ui.Then {
	return func() tea.Cmd { return p.listed(lists, err) }
}

// loaded returns the lobby with its lists loaded and the given game selected.
func loaded(t testing.TB, env *ui.Env, game string) *page {
	p := New(t.Context(), env).(*page)
	p.Continue(got(p, lists(t, env.Me, "classic", pb.Window_WINDOW_DAY), nil))
	for i, id := range p.cursors[paneLive].ids {
		if id == game {
			p.cursors[paneLive].at = i
		}
	}
	p.selected()
	return p
}
