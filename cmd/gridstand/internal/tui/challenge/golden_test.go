package challenge

import (
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// shown returns a challenge's page after it has received one snapshot.
func shown(t *testing.T, env *ui.Env, c *pb.Challenge, standings ...*pb.Standing) *page {
	t.Helper()
	env.Server = &tuitest.Server{}
	p := New(t.Context(), env, c.GetId(), false).(*page)
	p.Watch()
	p.Continue(tuitest.Result(p.Contest.Update, tuitest.Snapshot(c, tuitest.Noon, standings...), nil))
	return p
}

// boards adds a board for every entrant.
func boards(p *page) *page {
	for i, e := range p.GetEntrants() {
		g := tuitest.Game(tuitest.Board(4, 4))
		g.Id, g.GetPosition().Scores = e.GetGameId(), []int32{p.Standing(e.GetGameId()).GetScore()}
		g.GetPosition().GetTwenty48().Tiles[i] = 2048
		p.Games[e.GetGameId()].Update(client.Update{Game: g})
	}
	return p
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(env *ui.Env) *page{
		"roster": func(env *ui.Env) *page { return shown(t, env, tuitest.WaitingRace()) },
		"wall": func(env *ui.Env) *page {
			env.Me = "carol"
			return boards(shown(t, env, tuitest.Race(), tuitest.RaceStandings()...))
		},
		"results": func(env *ui.Env) *page {
			c := tuitest.Race()
			c.CloseTime = timestamppb.New(tuitest.Noon.Add(-time.Second))
			return boards(shown(t, env, c, tuitest.RaceStandings()...))
		},
	} {
		tuitest.Golden(t, name, func(env *ui.Env) ui.Page { return open(env) })
	}
}
