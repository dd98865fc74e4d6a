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

// playing is the game that the user plays, as of the last event that the server acknowledged. It
// sends the user's moves and creates the next game.
type playing struct {
	seated
	*ui.Tasks
	// options are the options for new games with one seat.
	options client.GameOptions

	mode Mode
	// contest is the challenge if the game is an attempt, or nil. asked is set once its
	// boards or standings have been requested.
	contest *contest.Contest
	asked   bool
	// rematch is the id of the request that creates a rematch.
	rematch string
	// opened is the game as it was opened. It never changes, so commands can read it.
	opened    client.Game
	leaveGame context.CancelFunc // ends the stream of the game

	// inFlight is the request that is waiting for a reply, or nil. queue has the requests
	// to send after it. dropped is set if a move was dropped because the queue was full.
	inFlight *request
	queue    []*request
	dropped  bool
	solving  *solving // the solver that is playing, or nil
	slow     bool     // the last call took longer than slowCall
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

// open shows a game in place of the previous one.
func (p *playing) open(g client.Game) {
	if p.leaveGame != nil {
		p.leaveGame()
	}
	*p = playing{
		seated: seated{gamestate.New(g.Game), p.env}, Tasks: p.Tasks, options: p.options,
		slow: p.slow, opened: g, mode: newMode(g.Game), places: places{all: p.places.all},
	}
	if g.GetChallengeId() != "" && p.Twenty48() != nil {
		p.contest = contest.New(p.env, p.Tasks, g.GetChallengeId())
		p.mode = &attempt{sliding{}, p.contest}
	}
}

func (p *playing) Init() tea.Cmd {
	ctx, cancel := context.WithCancel(p.Ctx)
	p.leaveGame = cancel
	after := max(p.opened.GetVersion()-gamestate.LogLimit, 1) // the log shows what happened before
	stream := p.env.Server.Watch(ctx, client.WatchOptions{GameID: p.opened.GetId(), AfterVersion: &after, EveryEvent: true})
	cmds := []tea.Cmd{ui.Follow(p.Tasks, stream, ofGame(p, p.updated)), p.ring()}
	if p.contest != nil {
		cmds = append(cmds, p.contest.Load())
	}
	switch {
	case !p.Over(): // For an attempt, too: the places show whether the user is new and needs hints.
		cmds = append(cmds, p.rank(0))
	case p.contest == nil:
		cmds = append(cmds, p.rank(1))
	}
	return tea.Batch(cmds...)
}

// ofGame returns a continuation that does nothing if the page shows another game by then.
func ofGame[T any](p *playing, then func(T, error) tea.Cmd) func(T, error) tea.Cmd {
	game := p.opened
	return func(result T, err error) tea.Cmd {
		if p.opened != game {
			return nil
		}
		return then(result, err)
	}
}

// say sets the notice. It takes alternative wordings, longest first.
func (p *playing) say(texts ...string) { p.notice = texts }

// fail shows an error. If the server no longer has the account or the game, the game cannot
// be resumed.
func (p *playing) fail(err error) {
	p.problem = ui.Explain(err, ui.SameKey)
	p.lost = p.lost || errors.Is(err, client.ErrBadToken) || errors.Is(err, client.ErrGameNotFound)
}

// ring returns a command that rings the terminal's bell if the user's turn begins.
func (p *playing) ring() tea.Cmd {
	switch {
	case !p.mine():
		p.bellVersion = 0
	case p.bellVersion == 0:
		p.bellVersion = p.Game.GetVersion()
		return tea.Raw("\a")
	}
	return nil
}

// lookUp requests the place of a game that has just ended.
func (p *playing) lookUp() tea.Cmd {
	if p.contest != nil {
		return p.attempted()
	}
	return p.rank(1)
}

// attempted handles a change to the challenge. For a race, it starts watching the race and
// all its boards. For any other challenge, it looks up the user's place once the attempt is
// over.
func (p *playing) attempted() tea.Cmd {
	switch c := p.contest; {
	case p.asked || c.Challenge == nil:
		return nil
	case c.Race():
		p.asked = true
		return tea.Batch(c.Watch(), c.Follow(p.opened.GetId(), true))
	case p.Over():
		p.asked = true
		return c.LookUp()
	}
	return nil
}

// rank requests the places. It repeats the request soon if the game's result is not recorded
// yet, and after rankTime if the game is still in progress, unless it is an attempt at a challenge.
// tries counts the requests since the game ended.
func (p *playing) rank(tries int) tea.Cmd {
	server, game := p.env.Server, p.opened
	return ui.Call(p.Tasks, func(ctx context.Context) (places, error) {
		day, err := server.Place(ctx, game.GetVariant(), pb.Window_WINDOW_DAY)
		if err != nil {
			return places{}, err
		}
		all, err := server.Place(ctx, game.GetVariant(), pb.Window_WINDOW_ALL_TIME)
		return places{&day, &all}, err
	}, ofGame(p, func(found places, err error) tea.Cmd {
		if p.Over() && tries == 0 {
			return nil // it was not over yet
		}
		wait, next := rankTime, 0
		if p.Over() && tries < recordTries && (err != nil || !found.have(&p.State, p.ScoreOf(p.seat()))) {
			wait, next = time.Second<<min(tries-1, 3), tries+1
		} else if err == nil {
			p.places = found
		}
		if p.Over() && next == 0 || p.contest != nil {
			return nil
		}
		return p.Later(wait, func() tea.Cmd {
			if p.opened != game {
				return nil
			}
			return p.rank(next)
		})
	}))
}
