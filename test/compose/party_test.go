package compose

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/client"
	watchtest "github.com/gridstand/gridstand/internal/testkit/watch"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// party is a group of players, who play one game after another, and spectators of each game. They
// keep playing and watching between begin and end, whatever happens to the servers.
type party struct {
	t       *testing.T
	leave   chan struct{} // closed to end the party
	players []*player
}

// player is a client that plays games with its own account.
type player struct {
	*client.Client
	variant string
	moves   atomic.Int64 // acknowledged moves
	leave   <-chan struct{}

	// gone is closed after the last game. From then on, other goroutines may read the fields below.
	gone  chan struct{}
	games []*played
	err   error
}

// played is a game and everything that clients were told about it.
type played struct {
	id    string
	acked []*pb.Event

	watchers sync.WaitGroup
	mu       sync.Mutex
	seen     []*watchtest.History
	failed   []error
}

// pace is the interval between a player's moves.
const pace = 40 * time.Millisecond

// begin starts a party at the given address.
func begin(t *testing.T, address string) *party {
	t.Helper()
	p := &party{t: t, leave: make(chan struct{})}
	// Many short games, one long game, and one against the server's bots.
	for i, variant := range []string{"classic", "6x6", "tribolo"} {
		c := dial(t, address)
		_, token, err := c.CreatePlayer(t.Context(), fmt.Sprintf("player-%d", i+1), false)
		require.NoError(t, err)
		c.SetToken(token)
		p.players = append(p.players, &player{Client: c, variant: variant, leave: p.leave, gone: make(chan struct{})})
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(func() {
		cancel()
		for _, one := range p.players {
			<-one.gone
		}
	})
	for _, one := range p.players {
		go func() {
			defer close(one.gone)
			one.err = one.play(ctx)
		}()
	}
	return p
}

// goesOn waits until the server has acknowledged several more moves by every player.
func (p *party) goesOn(what string) {
	p.t.Helper()
	const more = 5
	start := time.Now()
	goals := map[*player]int64{}
	for _, one := range p.players {
		goals[one] = one.moves.Load() + more
	}
	var after []string
	for _, one := range p.players {
		require.Eventually(p.t, func() bool { return one.moves.Load() >= goals[one] || one.isGone() }, patience, 20*time.Millisecond,
			"%s: the player of %s is stuck", what, one.variant)
		if one.isGone() {
			require.NoError(p.t, one.err, "%s: the player of %s has stopped", what, one.variant)
		}
		after = append(after, fmt.Sprintf("%s after %.1f s", one.variant, time.Since(start).Seconds()))
	}
	p.t.Logf("%s: everyone keeps playing, %s", what, strings.Join(after, ", "))
}

// end makes all players resign their games and waits until the spectators have seen the games end.
func (p *party) end() {
	p.t.Helper()
	close(p.leave)
	late := time.After(patience)
	for _, one := range p.players {
		select {
		case <-one.gone:
		case <-late:
			require.Fail(p.t, "the party did not end", "%s is still played or watched", one.variant)
		}
		require.NoError(p.t, one.err, "a player of %s", one.variant)
		for _, g := range one.games {
			require.NoError(p.t, errors.Join(g.failed...), "a spectator of %s", g.id)
		}
	}
}

func (p *player) isGone() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// play plays games until the party ends.
func (p *player) play(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		if err != nil {
			cancel() // Spectators would otherwise wait forever for the game to end.
		}
		for _, g := range p.games {
			g.watchers.Wait()
		}
		cancel()
	}()
	for {
		g, err := p.newGame(ctx)
		if err != nil {
			return err
		}
		one := &played{id: g.GetId()}
		p.games = append(p.games, one)
		one.watch(ctx, p.Client, client.WatchOptions{GameID: one.id, AfterVersion: proto.Int32(0), EveryEvent: true})
		one.watch(ctx, p.Client, client.WatchOptions{GameID: one.id})
		if err := p.game(ctx, g, one); err != nil {
			return fmt.Errorf("%s: %w", one.id, err)
		}
		select {
		case <-p.leave:
			return nil
		default:
		}
	}
}

// newGame tries to create a game until it succeeds. Any error except one about an invalid request
// may be due to a killed container.
func (p *player) newGame(ctx context.Context) (client.Game, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	again := time.NewTicker(time.Second)
	defer again.Stop()
	options := client.GameOptions{RequestID: client.NewSecret()}
	for {
		g, err := p.NewGame(ctx, p.variant, options)
		if err == nil || errors.Is(err, client.ErrInvalid) {
			return g, err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return client.Game{}, err
		}
	}
}

// game plays a game to its end or resigns it.
func (p *player) game(ctx context.Context, g client.Game, noted *played) error {
	seat := p.Seat(g)
	w := p.Watch(ctx, client.WatchOptions{GameID: g.GetId(), AfterVersion: proto.Int32(g.GetVersion()), EveryEvent: true})
	defer w.Close()
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	for !g.Over() {
		select {
		case <-p.leave:
			e, err := seat.Resign(ctx)
			if errors.Is(err, client.ErrGameOver) {
				return nil
			}
			noted.acked = append(noted.acked, e)
			return err
		case <-ticker.C:
		}
		if turn := g.Turn(); turn == nil || turn.GetIndex() != seat.Index() {
			update, err := w.Next()
			if err != nil {
				return err
			}
			g.Update(update)
			continue
		}
		e, err := seat.Move(ctx, g.GetVersion(), anyMove(g.GetPosition()), false)
		if err != nil {
			return err
		}
		noted.acked = append(noted.acked, e)
		p.moves.Add(1)
		g.Apply(e)
	}
	return nil
}

// anyMove returns a random legal move.
func anyMove(p *pb.Position) client.Move {
	if b := p.GetTribolo(); b != nil {
		return client.Jump(b.GetLegalMoves()[rand.IntN(len(b.GetLegalMoves()))].GetCell())
	}
	legal := p.GetTwenty48().GetLegalMoves()
	return client.Slide(legal[rand.IntN(len(legal))])
}

// watch starts a spectator who watches the game to its end and checks every message.
func (g *played) watch(ctx context.Context, c *client.Client, options client.WatchOptions) {
	history := watchtest.Begin(&pb.WatchRequest{
		GameId: options.GameID, AfterVersion: options.AfterVersion, EveryEvent: options.EveryEvent,
	})
	g.watchers.Go(func() {
		err := follow(c.Watch(ctx, options), history)
		if err == nil && !history.Over() {
			err = errors.New("the stream ended before the game")
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		g.seen = append(g.seen, history)
		if err != nil {
			g.failed = append(g.failed, fmt.Errorf("after version %d: %w", history.Version(), err))
		}
	})
}

func follow(w *client.Watch, history *watchtest.History) error {
	defer w.Close()
	for {
		u, err := w.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case u.Game != nil:
			err = history.Take(&pb.WatchResponse{Update: &pb.WatchResponse_Game{Game: u.Game}})
		case u.Event != nil:
			err = history.Take(&pb.WatchResponse{Update: &pb.WatchResponse_Event{Event: u.Event}})
		}
		if err != nil {
			return err
		}
	}
}
