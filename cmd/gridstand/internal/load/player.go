package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Names of calls. Errors are counted by call.
const (
	callCreatePlayer = "CreatePlayer"
	callCreateGame   = "CreateGame"
	callMove         = "Move"
	callWatch        = "Watch"
	callResign       = "Resign"
)

// player plays the games of its tables in turn, one call at a time.
type player struct {
	run    *run
	number int
	client *client.Client
	tables []*table
}

// register creates the player's account.
func (p *player) register(ctx context.Context) error {
	_, token, err := p.client.CreatePlayer(ctx, fmt.Sprintf("%s-%d", p.run.accounts, p.number), true)
	if err != nil {
		p.run.fail(callCreatePlayer, err)
		return err
	}
	p.client = p.client.As(token)
	return nil
}

// play makes moves until the stop context is done. A call in progress may continue until
// the calls context is done.
func (p *player) play(stop, calls context.Context) {
	for i := 0; p.run.pace.Wait(stop) == nil; i++ {
		t := p.tables[i%len(p.tables)]
		err := p.turn(calls, t)
		if err != nil && !pause(stop, err) {
			return
		}
	}
}

// turn makes a move, or creates another game if this one is over.
func (p *player) turn(ctx context.Context, t *table) error {
	g := t.game
	if g.over() {
		return p.begin(ctx, t)
	}
	sent := p.run.now()
	g.send(sent)
	e, err := g.seat.Move(ctx, g.known.GetVersion(), random(g.known.GetPosition()), true)
	if err != nil {
		p.run.fail(callMove, err)
		return errors.Join(err, p.refresh(ctx, g))
	}
	p.run.moves.Add(1)
	p.run.move.record(p.run.now() - sent)
	g.known.Apply(e)
	return nil
}

// refresh fetches the game after a failed move. A game that can no longer be read counts as
// over.
func (p *player) refresh(ctx context.Context, g *game) error {
	now, err := p.client.Game(ctx, g.id)
	if err != nil {
		g.lost = errors.Is(err, client.ErrGameDamaged) || errors.Is(err, client.ErrGameNotFound)
		return err
	}
	g.known.Replace(now.Game)
	return nil
}

// begin creates a game and puts it on the table. The player takes all seats, so the game
// need not wait for others.
func (p *player) begin(ctx context.Context, t *table) error {
	options := client.GameOptions{Private: !p.run.Public}
	for range p.run.seats {
		options.Seats = append(options.Seats, &pb.SeatRequest{Occupant: &pb.SeatRequest_Caller{Caller: &pb.Caller{}}})
	}
	g, err := p.client.NewGame(ctx, p.run.Variant, options)
	if err != nil {
		p.run.fail(callCreateGame, err)
		return err
	}
	seat := p.client.Seat(g)
	seat.OnRetry = func(_ int, _ time.Duration, err error) { p.run.fail(callMove, err) }
	p.run.games.Add(1)
	t.begin(newGame(g, seat))
	return nil
}

// random returns a random legal move.
func random(p *pb.Position) client.Move {
	if board := p.GetTribolo(); board != nil {
		if n := len(board.GetLegalMoves()); n > 0 {
			return client.Jump(board.GetLegalMoves()[rand.IntN(n)].GetCell())
		}
		return client.Jump(&pb.Cell{})
	}
	if n := len(p.GetTwenty48().GetLegalMoves()); n > 0 {
		return client.Slide(p.GetTwenty48().GetLegalMoves()[rand.IntN(n)])
	}
	return client.Slide(pb.Direction_DIRECTION_UP) // no legal move: the server returns an error
}

// resign ends the game on a table if it is not over. The player has all seats of the game.
func (p *player) resign(ctx context.Context, t *table) {
	g := t.game
	if g == nil || g.over() {
		return
	}
	e, err := p.client.Resign(ctx, g.known)
	if err != nil {
		p.run.fail(callResign, err)
		p.run.left.Add(1)
		return
	}
	g.known.Apply(e)
	p.run.resigned.Add(1)
}

// minPause is the minimum time between a failure and the retry.
const minPause = 250 * time.Millisecond

// pause waits after a failure, at least as long as the server asks, and reports whether
// ctx is still active.
func pause(ctx context.Context, err error) bool {
	return wait(ctx, max(minPause, client.FromError(err).RetryAfter)) == nil
}

// wait waits for d, or returns ctx.Err() if ctx is done first.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
