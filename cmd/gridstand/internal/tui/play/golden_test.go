package play

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// somePlay returns the page of a game of 2048 right after a move.
func somePlay(t *testing.T, env *ui.Env) *page {
	t.Helper()
	p := New(t.Context(), env, tuitest.Game(tuitest.Board(4, 4))).(*page)
	p.State.Update(client.Update{Connection: client.Connection{State: client.Live}})
	p.Gained, p.Marks = 128, board.Marks{Spawned: 6, Merged: []int{9}}
	for i, what := range []string{"↓", "←", "↑", "←", "↓", "→"} {
		gains := []int32{128, 0, 16, 4, 0, 8}
		p.Log = append(p.Log, gamestate.Entry{Move: 612 - int32(i), What: what, Gained: gains[i]})
	}
	p.places = places{
		day: &ui.Place{Entry: &pb.Entry{Rank: 4, Score: 36228, GameId: "other"}, Total: 87},
		all: &ui.Place{Entry: &pb.Entry{Rank: 31, Score: 36228, GameId: "other"}, Total: 1204},
	}
	return p
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T, env *ui.Env) *page{
		"play": somePlay,
		"result": func(t *testing.T, env *ui.Env) *page {
			p := somePlay(t, env)
			finish(p, pb.Result_REASON_GOAL_REACHED)
			p.places.day.GameId = tuitest.GameID
			return p
		},
		"moment": func(t *testing.T, env *ui.Env) *page {
			p := someRace(t, env)
			p.News = "2048!"
			return p
		},
		"race": func(t *testing.T, env *ui.Env) *page { return someRace(t, env) },
		"tribolo": func(t *testing.T, env *ui.Env) *page {
			p := someTribolo(t, env)
			p.Game.GetPosition().TurnDeadline = timestamppb.New(tuitest.Noon.Add(41 * time.Second))
			p.jumping().targets, p.jumping().cursor = true, most(p.Tribolo()).GetCell()
			return p
		},
	} {
		env := tuitest.Env(nil)
		mode := ui.Draw(env, open(t, env), false).MouseMode
		_, box := ui.NewHelp(open(t, env).Keys, false).Content(env)
		assert.Contains(t, ansi.Strip(box), "S ", "%s: the help lists S", name)
		assert.Equal(t, name == "tribolo", mode != tea.MouseModeNone, "%s takes the mouse only if a click acts", name)
		tuitest.Golden(t, name, func(env *ui.Env) ui.Page { return open(t, env) })
	}
}

// Ensure that a panel beside the board shows the best score and the place in a race however narrow it is.
func TestPanel_Narrow(t *testing.T) {
	t.Parallel()
	for _, theme := range []ui.Theme{{Still: true}, {Still: true, Profile: colorprofile.TrueColor}} {
		for width := 40; width <= 80; width++ {
			for fact, open := range map[string]func(*testing.T, *ui.Env) *page{"BEST": somePlay, "PLACE": someRace} {
				env := tuitest.Env(nil)
				env.Width, env.Height, env.Theme = width, 24, theme
				p := open(t, env)
				assert.Contains(t, ansi.Strip(tuitest.Harmless(t, env, p)), fact, width)
				p.Own().Stop()
			}
		}
	}
}

// Ensure that a board above its panel does not move when the panel gets shorter.
func TestPanel_Below(t *testing.T) {
	t.Parallel()
	p := somePlay(t, tuitest.Env(nil))
	defer p.Own().Stop()
	before := lipgloss.Height(p.View(58, 17).Body)
	p.Game.Ranked = false // has no rank
	assert.Equal(t, before, lipgloss.Height(p.View(58, 17).Body))
}

// someAttempt returns the page of an attempt at a challenge.
func someAttempt(t *testing.T, env *ui.Env, c *pb.Challenge) *page {
	t.Helper()
	env.Server = &tuitest.Server{}
	g := tuitest.Game(tuitest.Board(4, 4))
	g.ChallengeId = c.GetId()
	p := New(t.Context(), env, g).(*page)
	p.State.Update(client.Update{Connection: client.Connection{State: client.Live}})
	p.contest.Watch()
	p.Continue(tuitest.Result(p.contest.Update, tuitest.Snapshot(c, tuitest.Noon, tuitest.RaceStandings()...), nil))
	return p
}

// finish ends the game without an event.
func finish(p *page, reason pb.Result_Reason) {
	p.Game.Status = pb.GameStatus_GAME_STATUS_FINISHED
	p.Game.Result = &pb.Result{Reason: reason, Scores: p.Game.GetPosition().GetScores(), Winners: []int32{0}}
	p.Marks = board.NoMarks
	p.Gained = 0
}

// someRace returns the page of a race against two other entrants.
func someRace(t *testing.T, env *ui.Env) *page {
	t.Helper()
	p := someAttempt(t, env, tuitest.Race())
	for i, e := range p.contest.GetEntrants()[1:] {
		g := tuitest.Game(tuitest.Board(4, 4))
		g.Id, g.GetPosition().Scores = e.GetGameId(), []int32{p.contest.Standing(e.GetGameId()).GetScore()}
		g.GetPosition().GetTwenty48().Tiles[i] = 2048
		p.contest.Games[e.GetGameId()].Update(client.Update{Game: g})
	}
	return p
}
