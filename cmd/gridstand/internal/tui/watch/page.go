package watch

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// page shows one game at a time.
type page struct {
	*ui.Tasks
	env     *ui.Env
	game    *game    // nil if there is no game to show
	chooser *chooser // nil if the user chose the game
	// replay is set if the route asks for a replay. It is cleared once the game is loaded and the replay
	// starts.
	replay   bool
	player   player
	problem  string    // why there is no other game to show
	reacted  time.Time // when the user last reacted
	reacting bool      // whether a reaction is in flight, which may create the user's account
}

// New returns the page of a route that has Watch, TV, Wall or Follow.
func New(ctx context.Context, env *ui.Env, r ui.Route) ui.Page {
	if r.Wall || len(r.Watch) > 1 {
		return newWall(ctx, env, r.Watch, r.Wall)
	}
	p := &page{env: env, Tasks: ui.NewTasks(ctx), player: player{speed: 1}, replay: r.Replay}
	if r.TV || r.Follow != nil {
		p.chooser = &chooser{player: r.Follow}
	} else {
		p.game = newGame(r.Watch[0], env.Now)
	}
	return p
}

func (p *page) Init() tea.Cmd {
	if p.chooser == nil {
		return p.watch()
	}
	return tea.Batch(p.find(), p.Later(checkTime, p.check))
}

// Continue implements ui.Page. It handles what has changed in the game.
func (p *page) Continue(then ui.Then) tea.Cmd {
	running := p.game.running()
	cmd := then()
	if p.game == nil {
		return cmd
	}
	if p.chooser != nil && running && !p.game.running() {
		p.chooser.ended(p.env.Now)
	}
	if p.replay && p.game.Board() != nil {
		p.replay = false
		return tea.Batch(cmd, p.seek(1), p.play())
	}
	return cmd
}

// check requests another game if it is time to, and checks again after checkTime.
func (p *page) check() tea.Cmd {
	again := p.Later(checkTime, p.check)
	if p.chooser.due(p.game, p.env.Now) {
		return tea.Batch(again, p.find())
	}
	return again
}

// find requests a game from the server.
func (p *page) find() tea.Cmd { return p.chooser.find(p.env, p.Tasks, p.found) }

// found switches to the game that was found.
func (p *page) found(best *pb.Game, err error) tea.Cmd {
	to, problem := p.chooser.found(best, err, p.game, p.env.Now)
	p.problem = problem
	switch {
	case problem != "" && p.game.running(): // the answer to a key
		p.problem = ""
		p.Refuse(problem)
	case to != nil:
		p.drop()
		p.game = newGame(to.GetId(), p.env.Now)
		return p.watch()
	case best == nil && err == nil && p.chooser.player == nil && p.game != nil && !p.game.running() && !p.game.lookingBack():
		p.drop() // no game is live
	}
	return nil
}

func (p *page) drop() {
	if p.game != nil {
		p.game.Unfollow()
	}
	p.game = nil
	p.News = ""
	p.stop()
}

// player replays a game from an older version.
type player struct {
	speed int      // 1, 2 or 4
	next  ui.Timer // started for each step
	on    bool
}

// Limits and timing of the player.
const (
	maxSpeed = 4
	stepTime = 500 * time.Millisecond // time between moves at speed 1
)

func (p *page) play() tea.Cmd {
	p.player.on = true
	return p.playNext()
}

func (p *page) playNext() tea.Cmd {
	return p.player.next.Start(p.Tasks, stepTime/time.Duration(p.player.speed), p.step)
}

func (p *page) stop() { p.player.on = false }

// step shows the next move.
func (p *page) step() tea.Cmd {
	g := p.game
	if g == nil || !p.player.on {
		return nil
	}
	if g.past.wanted != 0 {
		return p.playNext() // the wanted version is not loaded yet
	}
	if !g.lookingBack() {
		p.stop()
		return nil
	}
	cmd := p.seek(g.position() + 1)
	if !g.lookingBack() {
		p.stop()
		return cmd
	}
	return tea.Batch(cmd, p.playNext())
}
