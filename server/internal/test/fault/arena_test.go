package fault

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/id"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
)

const (
	// askers are the clients of each game, asks the calls that each of them
	// makes, and quits those of all of them that nobody waits to be answered.
	// With each call that may have taken effect, or may still, at any time, the
	// checker has more orders to look through.
	askers, asks, quits = 6, 50, 12
	// searchFor bounds the checker; it takes milliseconds where all is well.
	searchFor = time.Minute
)

// stage is a game for an arena: by how many accounts it is played.
type stage struct {
	request *pb.CreateGameRequest
	players int
}

var stages = map[string]stage{
	"classic":       {&pb.CreateGameRequest{Variant: "classic"}, 1},
	"restless":      {&pb.CreateGameRequest{Variant: "restless"}, 1},
	"3x3":           {&pb.CreateGameRequest{Variant: "3x3"}, 1},
	"in every seat": {&pb.CreateGameRequest{Variant: "tribolo", Seats: []*pb.SeatRequest{me, me, me}}, 1},
	"people":        {&pb.CreateGameRequest{Variant: "tribolo", Seats: []*pb.SeatRequest{me, anyone, anyone}}, 3},
}

// maxPlayers is of how many accounts a stage may need clients.
const maxPlayers = 3

// arena is a game about which many clients ask.
type arena struct {
	w       *world
	game    *pb.Game // as it was before anybody asked
	clients []*caller
	history history
	// told is where answers are noted; nil for nowhere.
	told *ledger
	// pace is how long a client thinks before a call.
	pace  time.Duration
	quits atomic.Int32 // so many more calls may be given up
}

func newArena(w *world, g *pb.Game, clients []*caller) *arena {
	a := &arena{w: w, game: g, clients: clients, told: w.told, history: history{began: time.Now()}}
	a.quits.Store(quits)
	return a
}

// open creates a stage's game. By account, and then by server, there is a client.
func (s stage) open(ctx context.Context, clients [maxPlayers][]*caller) (*arena, error) {
	request := proto.CloneOf(s.request)
	request.RequestId = id.New()
	host := clients[0][0]
	g, err := host.create(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("creating a game: %w", err)
	}
	for _, guest := range clients[1:s.players] {
		if g, err = guest[0].join(ctx, g.GetId()); err != nil {
			return nil, fmt.Errorf("joining %s: %w", g.GetId(), err)
		}
	}
	var all []*caller
	for i := range askers {
		player := clients[i%s.players]
		all = append(all, player[i/s.players%len(player)])
	}
	return newArena(host.w, g, all), nil
}

// accounts makes as many accounts as a stage may need, each with a client on
// every server.
func accounts(w *world, servers ...*testServer) [maxPlayers][]*caller {
	var all [maxPlayers][]*caller
	for i := range all {
		player := w.player(servers[i%len(servers)])
		for _, s := range servers {
			all[i] = append(all[i], player.on(s))
		}
	}
	return all
}

// run has every client make calls, some of which it gives up before they are
// answered, and then everybody resign.
func (a *arena) run(ctx context.Context, seed uint64) error {
	group, inGroup := errgroup.WithContext(ctx)
	for who, c := range a.clients {
		rng := rand.New(rand.NewPCG(seed, uint64(who)))
		group.Go(func() error {
			var known *pb.Game
			for range asks {
				message, err := a.ask(inGroup, rng, who, a.choose(rng, c, known))
				if err != nil {
					return err
				}
				known = learn(known, message)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, seat := range a.game.GetSeats() {
		who := slices.IndexFunc(a.clients, func(c *caller) bool { return c.id == seat.GetPlayer().GetId() })
		if _, err := a.ask(ctx, nil, who, ask{player: a.clients[who].id, kind: askResign, seat: i}); err != nil {
			return err
		}
	}
	return nil
}

// ask makes a call, notes what came of it, and returns the message, if the
// answer was one. rng draws whether it is given up, nil for not.
func (a *arena) ask(ctx context.Context, rng *rand.Rand, who int, ask ask) (proto.Message, error) {
	if a.pace > 0 {
		select {
		case <-time.After(a.pace):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if rng != nil && rng.IntN(25) == 0 && a.quits.Add(-1) >= 0 {
		var cancel context.CancelFunc
		// From so soon that it is not sent, to so late that nothing but a fault keeps it.
		ctx, cancel = context.WithTimeout(ctx, time.Microsecond<<rng.IntN(21))
		defer cancel()
	}
	c := a.clients[who]
	message, err := a.history.ask(ctx, who, ask, func(ctx context.Context) (proto.Message, error) {
		message, err := c.do(ctx, a.game.GetId(), ask)
		return message, c.rough(ctx, err)
	})
	if err != nil || message == nil || a.told == nil {
		return message, err
	}
	return message, a.told.message(message)
}

// learn is what a client knows of a game after a message.
func learn(known *pb.Game, message proto.Message) *pb.Game {
	switch m := message.(type) {
	case *pb.Game:
		return m
	case *pb.Event:
		if known != nil && m.GetVersion() > known.GetVersion() {
			known = proto.CloneOf(known)
			known.Version, known.Position, known.Result = m.GetVersion(), m.GetPosition(), m.GetResult()
		}
	}
	return known
}

// choose draws a call that makes sense as far as a client knows, or almost.
func (a *arena) choose(rng *rand.Rand, c *caller, known *pb.Game) ask {
	get := ask{player: c.id, kind: askGet}
	if known == nil || known.GetResult() != nil {
		return get
	}
	one := ask{player: c.id, version: known.GetVersion()}
	switch n := rng.IntN(100); {
	case n < 25:
		return get
	case n < 33:
		one.kind = askUndo
		if one.version > 1 && rng.IntN(2) == 0 {
			one.to = 1 + rng.Int32N(one.version-1)
		}
	case n < 35 && one.version > asks:
		one.kind, one.seat = askResign, rng.IntN(len(known.GetSeats()))
		if rng.IntN(2) == 0 {
			one.version = 0
		}
	case n < 40 && known.GetPosition().GetTribolo() != nil:
		one.move = game.To(game.Cell{X: rng.Int32N(16), Y: rng.Int32N(11)})
	case n < 40:
		one.move = game.Slide(game.Direction(1 + rng.IntN(4)))
	default:
		if legal := known.GetPosition().GetTribolo().GetLegalMoves(); len(legal) > 0 {
			one.move = translate.To(legal[rng.IntN(min(2, len(legal)))].GetCell())
			return one
		}
		d, ok := translate.Direction(random(rng, known.GetPosition()))
		if !ok {
			return get
		}
		one.move = game.Slide(d)
	}
	return one
}

// do sends a call.
func (c *caller) do(ctx context.Context, gameID string, a ask) (proto.Message, error) {
	ctx = c.authorized(ctx)
	switch a.kind {
	case askMove:
		request := &pb.MoveRequest{GameId: gameID, Version: a.version, Move: &pb.MoveRequest_Direction{
			Direction: pb.Direction(a.move.Direction),
		}}
		if a.move.Direction == 0 {
			request.Move = &pb.MoveRequest_Cell{Cell: &pb.Cell{X: a.move.Cell.X, Y: a.move.Cell.Y}}
		}
		response, err := c.games.Move(ctx, request)
		return response.GetEvent(), err
	case askUndo:
		request := &pb.UndoRequest{GameId: gameID, Version: a.version}
		if a.to > 0 {
			request.ToVersion = &a.to
		}
		response, err := c.games.Undo(ctx, request)
		return response.GetEvent(), err
	case askResign:
		request := &pb.ResignRequest{GameId: gameID, Seat: proto.Int32(int32(a.seat))}
		if a.version > 0 {
			request.Version = &a.version
		}
		response, err := c.games.Resign(ctx, request)
		return response.GetEvent(), err
	default:
		response, err := c.games.GetGame(ctx, &pb.GetGameRequest{GameId: gameID})
		return response.GetGame(), err
	}
}

// judge searches an order of all calls in which the rules, from the game as it
// began on, give every answer. It fails the test if there is none, or none is
// found in time, and draws the history then.
func (a *arena) judge(t *testing.T, start *node) porcupine.CheckResult {
	t.Helper()
	m := model(start)
	result := porcupine.CheckOperationsTimeout(m, a.history.all, searchFor)
	if result != porcupine.Ok {
		_, info := porcupine.CheckOperationsVerbose(m, a.history.all, searchFor)
		path := filepath.Join(t.ArtifactDir(), a.game.GetId()+".html")
		file, err := os.Create(path)
		require.NoError(t, err)
		require.NoError(t, porcupine.Visualize(m, info, file))
		require.NoError(t, file.Close())
		t.Log("the history is drawn in", path)
	}
	return result
}

// genesis is a game as it was at a version, with its seed and its past. anybody
// is a client of a server that holds it.
func (w *world) genesis(t *testing.T, anybody *caller, g *pb.Game) *node {
	t.Helper()
	entries, err := w.store.XRangeN(t.Context(), logKey(g.GetId()), "-", "+", 1).Result()
	require.NoError(t, err)
	require.Len(t, entries, 1)
	secret, _ := entries[0].Values["s"].(string)
	seed, err := game.SeedFromBytes([]byte(secret))
	require.NoError(t, err)
	events, err := anybody.transcript(t.Context(), g.GetId(), g.GetVersion())
	require.NoError(t, err)
	created, err := translate.Entry(events[0])
	require.NoError(t, err)
	first, err := replay.Start(g.GetId(), created, seed, time.Unix(0, 0))
	require.NoError(t, err)
	n, err := newNode(nil, first).along(events[1:])
	require.NoError(t, err)
	return n
}
