package play

import (
	"context"
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/solver"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// request is a call that changes the game. Only one is in flight at a time.
type request struct {
	move   *Move          // the move to make, or nil
	solver *solver.Solver // the solver that chooses a move, or nil
	undo   bool           // undo the last move
	join   *int32         // the seat to take back from its stand-in

	since  time.Time    // when the request was sent
	before *pb.Position // position at that time
}

// queueLimit is the maximum number of moves queued behind the one in flight. In a shared game, no
// moves are queued, and a move is made only on the board for which the player chose it.
const queueLimit = 64

// reply is the answer to a request: an event or a game.
type reply struct {
	request *request
	event   *pb.Event
	game    client.Game
}

// push makes a move, or queues it behind the requests that come before it.
func (p *page) push(m *Move) tea.Cmd {
	switch {
	case p.Over():
		return nil
	case p.contest != nil && p.contest.Expired():
		return p.Refuse("Time is up.")
	case p.shared() && !p.mine():
		return p.Refuse("It is not your turn.")
	case p.inFlight != nil && (p.shared() || len(p.queue) >= queueLimit):
		return nil
	}
	p.queue = append(p.queue, &request{move: m})
	return p.send()
}

// first replaces the queue with a single request.
func (p *page) first(r *request) tea.Cmd {
	p.queue = []*request{r}
	return p.send()
}

// send sends the first request of the queue, unless one is in flight. It skips moves that
// have become illegal.
func (p *page) send() tea.Cmd {
	if p.inFlight != nil {
		return nil
	}
	for len(p.queue) > 0 && p.queue[0].move != nil && !p.queue[0].move.Legal(&p.State) {
		p.queue = p.queue[1:]
	}
	if len(p.queue) == 0 || p.Over() {
		p.queue = nil
		return nil
	}
	r := p.queue[0]
	p.queue, p.inFlight = p.queue[1:], r
	r.since, r.before = p.env.Now, p.Game.GetPosition()
	server, game, version := p.env.Server, p.Game, p.Game.GetVersion()
	return ui.Call(p.Tasks, func(ctx context.Context) (_ reply, err error) {
		a := reply{request: r}
		switch {
		case r.join != nil:
			a.game, err = server.Join(ctx, game.GetId(), r.join)
		case r.undo:
			a.event, err = server.Undo(ctx, game, version)
		case r.solver != nil:
			m, err := r.solver.Choose(ctx, game.GetPosition(), nil)
			if err != nil {
				return a, err
			}
			a.event, err = server.Move(ctx, game, version, client.Slide(pb.Direction(m.Direction)), true)
			return a, err
		default:
			a.event, err = server.Move(ctx, game, version, r.move.Move, false)
		}
		return a, err
	}, p.answered)
}

// answered handles the reply to the request in flight.
func (p *page) answered(a reply, err error) tea.Cmd {
	r := a.request
	conflict := errors.Is(err, client.ErrVersionConflict) || errors.Is(err, client.ErrGameOver)
	refused := errors.Is(err, client.ErrIllegalMove) && p.shared() || errors.Is(err, client.ErrNotYourTurn)
	if conflict || refused {
		// The game has changed, for example because the user moved in another client. The
		// request stays in flight until the new board is known. If the time of an attempt has run
		// out, the event that ends it may not have arrived yet.
		expired := p.contest != nil && errors.Is(err, client.ErrGameOver)
		return p.Fetch(p.env, p.Tasks, func(g client.Game, err error) tea.Cmd {
			return p.refetched(r, conflict && !expired, g, err)
		})
	}
	p.inFlight = nil
	var changed bool
	switch {
	case errors.Is(err, client.ErrIllegalMove):
		return p.send()
	case errors.Is(err, client.ErrUndoNotAllowed):
		p.Refuse("There is no move to undo.")
		return p.send()
	case err != nil && r.solver != nil && r.solver != p.solving: // the solver was stopped
		return p.send()
	case err != nil:
		p.queue, p.solving = nil, nil
		p.fail(err)
		return nil
	case a.game.Game != nil:
		changed = p.Replace(a.game.Game)
	default:
		changed = p.Apply(a.event)
	}
	p.Say("")
	cmds := []tea.Cmd{p.changed(changed), p.after(r), p.send()}
	if changed && r.undo && p.shared() {
		cmds = append(cmds, p.Fetch(p.env, p.Tasks, p.fetched)) // it can change the seats
	}
	return tea.Batch(cmds...)
}

// fetched handles a fetched game.
func (p *page) fetched(g client.Game, err error) tea.Cmd {
	if err != nil {
		p.fail(err)
		return nil
	}
	return p.changed(p.Replace(g.Game))
}

// refetched handles the game that was fetched because a request was refused. It retries a move if
// again is set, or tells the user that the game has changed.
func (p *page) refetched(r *request, again bool, g client.Game, err error) tea.Cmd {
	p.inFlight = nil
	changed := p.fetched(g, err)
	switch {
	case err != nil:
		p.queue, p.solving = nil, nil
	case r.solver != nil:
	case r.move != nil && again && (!p.shared() || sameTurn(r.before, g.GetPosition())):
		p.queue = slices.Insert(p.queue, 0, r)
	case !p.Over():
		p.Refuse("The game has changed. Try again.")
	}
	return tea.Batch(changed, p.after(r), p.send())
}

// sameTurn reports whether it is the same seat's turn on the same board.
func sameTurn(a, b *pb.Position) bool {
	return a.Turn != nil && b.Turn != nil && a.GetTurn() == b.GetTurn() &&
		slices.Equal(a.GetTribolo().GetCells(), b.GetTribolo().GetCells())
}

// updated handles an update of the game, or the failure of its stream.
func (p *page) updated(u client.Update, changed bool) tea.Cmd {
	if p.Err != nil {
		p.fail(p.Err)
		p.Say("") // The status says why for as long as the page is open.
	}
	return tea.Batch(p.changed(changed), p.React(u.Reactions))
}

// changed handles a change to the game. It animates the change, rings the bell if it is the
// user's turn, and looks up the user's place once the game is over.
func (p *page) changed(changed bool) tea.Cmd {
	if !changed {
		return nil
	}
	if p.held() != nil {
		p.Say("") // The status says how to take the seat back.
	}
	if p.Dialog == ui.Dialog(p.giveUp) { // It names the points, which queued moves change.
		*p.giveUp = *p.askNew()
	}
	cmds := []tea.Cmd{p.ring(), p.Show(p.env, p.Tasks, len(p.queue) == 0), p.ShowNews(p.Milestone)}
	if p.Over() {
		p.ended = p.env.Now
		p.queue, p.solving, p.places = nil, nil, places{}
		p.Withdraw()
		if p.contest == nil { // Continue looks up the place of an attempt.
			cmds = append(cmds, p.rank(1))
		}
	}
	return tea.Batch(cmds...)
}

// wantUndo undoes the last move. It asks for confirmation if the game is ranked.
func (p *page) wantUndo() tea.Cmd {
	if p.Moves() <= int32(p.seat()) { // the player's first move is still to come
		return p.Refuse("There is no move to undo.")
	}
	return p.unrank("Undo the last move?", "undo it", func() tea.Cmd { return p.first(&request{undo: true}) })
}

// takeBack takes the user's seat back from its stand-in.
func (p *page) takeBack() tea.Cmd {
	if p.inFlight != nil {
		return nil
	}
	seat := p.held().GetIndex()
	return p.first(&request{join: &seat})
}

const (
	thinkTime   = 200 * time.Millisecond // time limit of a solver's search
	solverPause = 100 * time.Millisecond // pause after each of its moves
)

// wantSolver lets a solver play. It asks for confirmation if the game is ranked and has
// moves.
func (p *page) wantSolver(name string) tea.Cmd {
	solve := func() tea.Cmd {
		s, err := solver.New(p.Game.GetVariant(), p.Game.GetRulesRevision(), name, thinkTime)
		if err != nil {
			return p.Refuse(err.Error())
		}
		p.solving, p.queue = s, nil
		return p.solveOn(s)
	}
	if p.Moves() == 0 {
		return solve()
	}
	return p.unrank("Let "+name+" play?", "let it play", solve)
}

// solveOn makes the next move of a solver, unless it was stopped.
func (p *page) solveOn(by *solver.Solver) tea.Cmd {
	if by != p.solving || p.Over() {
		return nil
	}
	p.queue = append(p.queue, &request{solver: by})
	return p.send()
}

// after schedules the solver's next move if the solver made the last one.
func (p *page) after(r *request) tea.Cmd {
	if r.solver == nil || r.solver != p.solving {
		return nil
	}
	return p.Later(solverPause, func() tea.Cmd { return p.solveOn(r.solver) })
}
