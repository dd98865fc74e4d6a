package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// player plays the games at its places in turn, one move at a time.
type player struct {
	run    *run
	number int
	client *client.Client
	places []place
}

// place holds one game after another.
type place struct {
	// request identifies a CreateGame whose outcome is unknown, or is "".
	request string
	game    *game
}

// game is one game of the run.
type game struct {
	id        string
	seat      *client.Seat
	known     client.Game // only its player accesses it until all players are done
	lost      bool        // the server can no longer return it
	attaching sync.WaitGroup
	unwatched error  // why a watcher could not attach; valid after attaching
	unwatch   func() // ends the watchers

	mu    sync.Mutex
	first int32 // version that the first of the moves in sent creates
	sent  []time.Time
}

func (g *game) over() bool { return g.lost || g.known.Over() }

// send records that the move that creates the next version is being sent.
func (g *game) send(now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := int(g.known.GetVersion() + 1 - g.first)
	for len(g.sent) <= at {
		g.sent = append(g.sent, time.Time{})
	}
	g.sent[at] = now
}

// sentAt returns when the move that created a version was sent, or a zero time if that is unknown.
func (g *game) sentAt(version int32) (sent time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if at := int(version - g.first); 0 <= at && at < len(g.sent) {
		sent = g.sent[at]
	}
	return sent
}

// register creates the player's account.
func (p *player) register(ctx context.Context) error {
	_, token, err := p.client.CreatePlayer(ctx, fmt.Sprintf("%s-%d", p.run.accounts, p.number), true)
	if err != nil {
		p.run.fail("CreatePlayer", err)
		return err
	}
	p.client = p.client.As(token)
	return nil
}

// create creates a game, in which the player has all seats. After an unknown outcome, the next call
// gets the same game.
func (p *player) create(ctx context.Context, at *place) error {
	if at.request == "" {
		at.request = client.NewSecret()
	}
	options := client.GameOptions{Private: !p.run.public, RequestID: at.request}
	for range p.run.seats {
		options.Seats = append(options.Seats, &pb.SeatRequest{Occupant: &pb.SeatRequest_Caller{Caller: &pb.Caller{}}})
	}
	known, err := p.client.NewGame(ctx, p.run.variant, options)
	if err != nil {
		p.run.fail("CreateGame", err)
		if !errors.Is(err, client.ErrUnsettled) && !errors.Is(err, client.ErrBadStream) {
			at.request = ""
		}
		return err
	}
	p.run.created.Add(1)
	at.request = ""
	at.game = &game{id: known.GetId(), seat: p.client.Seat(known), known: known, first: known.GetVersion() + 1, unwatch: func() {}}
	return nil
}

// play makes moves until stop is done. A call in progress may continue until calls is done.
func (p *player) play(stop, calls, watching context.Context) {
	for i := 0; p.run.pace.Wait(stop) == nil; i++ {
		if err := p.turn(calls, watching, &p.places[i%len(p.places)]); err != nil {
			pause(stop, err)
		}
	}
}

// turn makes a move, or creates another game if this one is over.
func (p *player) turn(calls, watching context.Context, at *place) error {
	if at.game.over() {
		if err := p.create(calls, at); err != nil {
			return err
		}
		p.run.watch(watching, at.game)
		at.game.attaching.Wait()
		return nil
	}
	g, sent := at.game, time.Now()
	g.send(sent)
	repeating := client.WithOnRetry(calls, func(_ int, _ time.Duration, err error) { p.run.fail("Move", err) })
	event, err := g.seat.Move(repeating, g.known.GetVersion(), randomMove(g.known.GetPosition()), true)
	if err != nil {
		p.run.fail("Move", err)
		return errors.Join(err, p.refresh(calls, g))
	}
	p.run.moves.Add(1)
	p.run.move.record(time.Since(sent))
	g.known.Apply(event)
	return nil
}

// refresh fetches the game after a failed move. A game that the server can no longer return counts as
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

// end ends the game at a place. It first finds the game if the outcome of its creation is unknown.
func (p *player) end(ctx context.Context, at *place) {
	if at.request != "" && p.create(ctx, at) != nil {
		p.run.leave("a game of " + p.run.accounts + fmt.Sprintf("-%d that may have been created", p.number))
		return
	}
	g := at.game
	if g == nil || g.over() {
		return
	}
	event, err := p.client.Resign(ctx, g.known)
	if errors.Is(err, client.ErrGameOver) {
		err = p.refresh(ctx, g) // an earlier call took effect
	}
	if err != nil {
		p.run.fail("Resign", err)
		p.run.leave(g.id)
		g.unwatch()
		return
	}
	g.known.Apply(event)
	p.run.resigned.Add(1)
}

// randomMove returns a random legal move.
func randomMove(p *pb.Position) client.Move {
	if board := p.GetTribolo(); board != nil {
		if n := len(board.GetLegalMoves()); n > 0 {
			return client.Jump(board.GetLegalMoves()[rand.IntN(n)].GetCell())
		}
		return client.Jump(&pb.Cell{})
	}
	if legal := p.GetTwenty48().GetLegalMoves(); len(legal) > 0 {
		return client.Slide(legal[rand.IntN(len(legal))])
	}
	return client.Slide(pb.Direction_DIRECTION_UP) // no legal move: the server returns an error
}

// minPause is the minimum time between a failure and the next try.
const minPause = 250 * time.Millisecond

// pause waits after a failure, at least as long as the server asks, or until ctx is done.
func pause(ctx context.Context, err error) {
	wait(ctx, max(minPause, client.FromError(err).RetryAfter))
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
