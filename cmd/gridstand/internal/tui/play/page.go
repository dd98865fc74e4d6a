// Package play implements the page of a game that the user plays. The page is the same for
// every kind of game; a Mode adds what is specific to one kind.
package play

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/contest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/widget"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

const (
	markTime = 150 * time.Millisecond // how long the last change is marked
	slowCall = 250 * time.Millisecond // after a call slower than this, moves are not animated
	slowTime = time.Second            // delay before the page reports a missing reply
	endTime  = time.Second            // how long w still counts as the up key after the end of the game
)

// page shows only events that the server acknowledged.
type page struct {
	seated
	tasks *ui.Tasks
	// options are the options for new games with one seat.
	options client.GameOptions

	mode Mode // nil if this program cannot play the game
	// contest is the challenge if the game is an attempt, or nil. asked is set once its
	// boards or standings have been requested.
	contest *contest.Contest
	asked   bool
	// rematch is the id of the request that creates a rematch.
	rematch string
	// opened is the game as it was opened. It never changes, so commands can read it.
	opened    *pb.Game
	leaveGame context.CancelFunc // ends the stream of the game

	// inFlight is the request that is waiting for a reply, or nil. queue has the requests
	// to send after it. dropped is set if a move was dropped because the queue was full.
	inFlight *request
	queue    []*request
	dropped  bool
	solving  *solving // the solver that is playing, or nil
	motion   ui.Motion
	slow     bool // the last call took longer than slowCall
	places   places

	// question is the open question, or nil.
	question *widget.Question
	// starting is set while the next game is being created.
	starting bool
	// closed is set while the result is hidden because the user closed it.
	closed  bool
	ended   time.Time // when the page saw the game end; zero if it was already over
	problem string    // the last error
	notice  []string  // other news, in alternative wordings, longest first
	// bellVersion is the version at which the bell rang for the user's current turn, or 0.
	bellVersion int32
	lost        bool // the server no longer has the game or the account
}

// New returns the page of a game in which the user has a seat. Its commands end when ctx is
// done.
func New(ctx context.Context, env *ui.Env, g *pb.Game, options client.GameOptions) ui.Page {
	p := &page{seated: seated{env: env}, tasks: ui.NewTasks(ctx), options: options}
	p.open(g)
	return p
}

// open shows a game in place of the previous one.
func (p *page) open(g *pb.Game) {
	if p.leaveGame != nil {
		p.leaveGame()
	}
	*p = page{
		seated: seated{gamestate.New(g), p.env}, tasks: p.tasks, options: p.options,
		motion: p.motion, slow: p.slow, opened: g, mode: newMode(g),
		places: places{all: p.places.all},
	}
	if m, ok := p.mode.(*sliding); ok && g.GetChallengeId() != "" {
		p.contest = contest.New(p.env, p.tasks, g.GetChallengeId())
		p.mode = &attempt{m, p.contest}
	}
	p.motion.Reset()
}

func (p *page) Init() tea.Cmd {
	ctx, cancel := context.WithCancel(p.tasks.Ctx)
	p.leaveGame = cancel
	after := p.opened.GetVersion()
	stream := p.env.Server.Watch(ctx, p.opened.GetId(), ui.WatchOptions{After: &after})
	follow := ui.Follow(p.tasks, stream, ofGame(p, p.updated))
	if p.contest != nil {
		return tea.Batch(follow, p.contest.Load())
	}
	tries := 0
	if p.Over() {
		tries = 1
	}
	return tea.Batch(follow, p.rank(tries), p.ring())
}

func (p *page) Tasks() *ui.Tasks { return p.tasks }

func (p *page) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return p.key(msg)
	case ui.Then:
		cmd := msg()
		if p.contest != nil {
			cmd = tea.Batch(cmd, p.attempted())
		}
		return cmd
	}
	return nil
}

// ofGame returns a continuation that does nothing if the page shows another game by then.
func ofGame[T any](p *page, then func(T, error) tea.Cmd) func(T, error) tea.Cmd {
	game := p.opened
	return func(result T, err error) tea.Cmd {
		if p.opened != game {
			return nil
		}
		return then(result, err)
	}
}

// act carries out the effect of a key or click.
func (p *page) act(a Act) tea.Cmd {
	if a.Say != nil {
		p.say(a.Say...)
	}
	if a.Move == nil {
		return nil
	}
	return p.push(a.Move)
}

// say sets the notice. It takes alternative wordings, longest first.
func (p *page) say(texts ...string) { p.notice = texts }

// leave closes the page. It first asks for confirmation if the game would be lost.
func (p *page) leave() tea.Cmd {
	switch {
	case p.Over() || p.lost:
		return ui.Back
	case p.contest != nil && p.contest.Race() && !p.contest.Expired():
		p.question = p.askGiveUp()
		return nil
	case p.env.Local == nil || p.env.Local.Resume != "":
		return ui.Back
	}
	p.question = &widget.Question{
		Title: "Quit this game?", Text: "It ends with this program. You cannot resume it.",
		Yes: "quit", No: "play on", Then: func() tea.Cmd { return ui.Back },
	}
	return nil
}

// fail shows an error. If the server no longer has the account or the game, the game cannot
// be resumed.
func (p *page) fail(err error) {
	p.problem = ui.Explain(err, ui.SameKey)
	p.lost = p.lost || errors.Is(err, client.ErrBadToken) || errors.Is(err, client.ErrGameNotFound)
}
