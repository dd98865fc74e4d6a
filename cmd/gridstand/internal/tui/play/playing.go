package play

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/solver"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

const (
	slowTime = time.Second // delay before the page reports a missing reply
	endTime  = time.Second // how long w still counts as the up key after the end of the game
)

// page shows the game that the user plays, as of the last event that the server acknowledged. It sends the
// user's moves and opens the next game.
type page struct {
	gamestate.State
	*ui.Tasks
	env  *ui.Env
	mode Mode
	// contest is the challenge if the game is an attempt, or nil.
	contest *gamestate.Contest

	// inFlight is the request that is waiting for a reply, or nil. queue has the requests
	// to send after it.
	inFlight *request
	queue    []*request
	solving  *solver.Solver // the solver that is playing, or nil
	places   places
	giveUp   *ui.Question // the last question whether to give up, or nil

	ended    time.Time // when the page saw the game end; zero if it was already over
	rung     bool      // whether the bell rang for the user's current turn
	lost     bool      // the server no longer has the game or the account
	asksName bool      // whether the result asks the user for a name
}

func (p *page) Init() tea.Cmd {
	after := max(p.Game.GetVersion()-gamestate.LogLimit, 1) // the log shows what happened before
	options := client.WatchOptions{AfterVersion: &after, EveryEvent: true}
	cmds := []tea.Cmd{p.Follow(p.env, p.Tasks, options, p.updated), p.ring()}
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

// fail shows an error. If the server no longer has the account or the game, the game cannot
// be resumed.
func (p *page) fail(err error) {
	p.Fail(err)
	p.lost = p.lost || errors.Is(err, client.ErrBadToken) || errors.Is(err, client.ErrGameNotFound)
}

// ring returns a command that rings the terminal's bell if the user's turn begins. It removes the answer to
// an earlier key, such as "It is not your turn."
func (p *page) ring() tea.Cmd {
	before := p.rung
	p.rung = p.mine()
	if p.rung && !before {
		p.Say("")
		return tea.Raw("\a")
	}
	return nil
}

// rank requests the places. It repeats the request soon if it failed or if the result of the game is not recorded
// yet. tries is 0 for the first request before the end, and otherwise counts the requests.
func (p *page) rank(tries int) tea.Cmd {
	server, game := p.env.Server, p.Game
	return ui.Call(p.Tasks, func(ctx context.Context) (places, error) {
		day, err := server.Place(ctx, game.GetVariant(), pb.Window_WINDOW_DAY)
		if err != nil {
			return places{}, err
		}
		all, err := server.Place(ctx, game.GetVariant(), pb.Window_WINDOW_ALL_TIME)
		return places{&day, &all}, err
	}, func(found places, err error) tea.Cmd {
		if p.Over() && tries == 0 {
			return nil // it was not over yet
		}
		if err != nil || p.Over() && !found.have(&p.State, p.ScoreOf(p.seat())) {
			return p.Again(max(tries, 1), func() tea.Cmd { return p.rank(tries + 1) })
		}
		p.places = found
		p.SetRecord(found.all.GetScore())
		return nil
	})
}

// seat returns the index of the user's first seat.
func (p *page) seat() int { return max(slices.IndexFunc(p.Game.GetSeats(), p.env.Owns), 0) }

// shared reports whether the game has several seats, which take turns.
func (p *page) shared() bool { return len(p.Game.GetSeats()) > 1 }

// mine reports whether it is the user's turn in a shared game.
func (p *page) mine() bool {
	seat := p.Game.Turn()
	return p.shared() && !p.Over() && p.env.Owns(seat) && seat.GetStandIn() == ""
}

// held returns the first of the user's seats that has a stand-in, or nil.
func (p *page) held() *pb.Seat {
	return ui.Find(p.Game.GetSeats(), func(seat *pb.Seat) bool {
		return p.env.Owns(seat) && seat.GetStandIn() != "" && !seat.GetResigned() && !p.Over()
	})
}

// alone reports whether no other player has a seat or can take one. If so, moves can be
// undone.
func (p *page) alone() bool {
	return !slices.ContainsFunc(p.Game.GetSeats(), func(seat *pb.Seat) bool {
		return seat.GetOpen() != nil || seat.GetPlayer() != nil && !p.env.Owns(seat)
	})
}

// nextOptions returns the options for a new game like this one. In a shared game, the user
// and the bots keep their seats, and the other seats are open.
func (p *page) nextOptions() client.GameOptions {
	options := client.GameOptions{Private: p.Game.GetPrivate(), TurnLimit: p.Game.GetTurnLimit().AsDuration()}
	if !p.shared() {
		return options
	}
	for _, seat := range p.Game.GetSeats() {
		who := cmp.Or(seat.GetBot(), ui.SeatOpen)
		if p.env.Owns(seat) {
			who = ui.SeatMe
		}
		options.Seats = append(options.Seats, ui.SeatRequest(who))
	}
	return options
}
