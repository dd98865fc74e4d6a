//go:build slow

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
	// workloadClients is the number of clients of each workload, callsPerClient the number of
	// calls per client, and canceledCalls the number of calls per workload that are canceled
	// before they are answered. Each call whose outcome is unknown gives the checker more orders
	// to search.
	workloadClients, callsPerClient, canceledCalls = 6, 50, 12
	// searchTimeout limits how long the checker searches. A search usually takes milliseconds.
	searchTimeout = patience
)

// Seat requests that tests use to create games.
var (
	callerSeat = &pb.SeatRequest{Occupant: &pb.SeatRequest_Caller{Caller: &pb.Caller{}}}
	openSeat   = &pb.SeatRequest{Occupant: &pb.SeatRequest_Open{Open: &pb.Open{}}}
)

// scenario specifies a workload's game and the number of accounts that play it.
type scenario struct {
	request *pb.CreateGameRequest
	players int
}

var scenarios = map[string]scenario{
	"classic":       {&pb.CreateGameRequest{Variant: "classic"}, 1},
	"restless":      {&pb.CreateGameRequest{Variant: "restless"}, 1},
	"3x3":           {&pb.CreateGameRequest{Variant: "3x3"}, 1},
	"in every seat": {&pb.CreateGameRequest{Variant: "tribolo", Seats: []*pb.SeatRequest{callerSeat, callerSeat, callerSeat}}, 1},
	"people":        {&pb.CreateGameRequest{Variant: "tribolo", Seats: []*pb.SeatRequest{callerSeat, openSeat, openSeat}}, 3},
}

// maxPlayers is the largest number of accounts in a scenario.
const maxPlayers = 3

// workload is a set of concurrent calls by many clients on one game, along with their history.
type workload struct {
	env     *env
	game    *pb.Game // state before the first call
	clients []*caller
	history history
	// pause is the delay before each call.
	pause   time.Duration
	cancels atomic.Int32 // number of calls that may still be canceled
}

func newWorkload(env *env, g *pb.Game, clients []*caller) *workload {
	w := &workload{env: env, game: g, clients: clients, history: history{began: time.Now()}}
	w.cancels.Store(canceledCalls)
	return w
}

// open creates the scenario's game. clients is indexed by account, then by server.
func (s scenario) open(ctx context.Context, clients [maxPlayers][]*caller) (*workload, error) {
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
	for i := range workloadClients {
		player := clients[i%s.players]
		all = append(all, player[i/s.players%len(player)])
	}
	return newWorkload(host.env, g, all), nil
}

// accounts creates maxPlayers accounts, each with a client on every server.
func accounts(env *env, servers ...*testServer) [maxPlayers][]*caller {
	var all [maxPlayers][]*caller
	for i := range all {
		player := env.player(servers[i%len(servers)])
		for _, s := range servers {
			all[i] = append(all[i], player.on(s))
		}
	}
	return all
}

// run makes every client's calls, cancels some of them, and then resigns every seat.
func (w *workload) run(ctx context.Context, seed uint64) error {
	group, inGroup := errgroup.WithContext(ctx)
	for who, c := range w.clients {
		rng := rand.New(rand.NewPCG(seed, uint64(who)))
		group.Go(func() error {
			var known *pb.Game
			for range callsPerClient {
				message, err := w.call(inGroup, rng, who, w.chooseCall(rng, c, known))
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
	for i, seat := range w.game.GetSeats() {
		who := slices.IndexFunc(w.clients, func(c *caller) bool { return c.id == seat.GetPlayer().GetId() })
		if _, err := w.call(ctx, nil, who, operation{player: w.clients[who].id, kind: opResign, seat: i}); err != nil {
			return err
		}
	}
	return nil
}

// call makes a call, records its outcome, and returns the message if the call succeeded. It uses
// rng to decide whether to cancel the call; if rng is nil, it never does.
func (w *workload) call(ctx context.Context, rng *rand.Rand, who int, op operation) (proto.Message, error) {
	if w.pause > 0 {
		select {
		case <-time.After(w.pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if rng != nil && rng.IntN(25) == 0 && w.cancels.Add(-1) >= 0 {
		var cancel context.CancelFunc
		// The timeout ranges from too short for the call to be sent at all to so long that it
		// matters only during a fault.
		ctx, cancel = context.WithTimeout(ctx, time.Microsecond<<rng.IntN(21))
		defer cancel()
	}
	c := w.clients[who]
	message, err := w.history.call(ctx, who, op, func(ctx context.Context) (proto.Message, error) {
		message, err := c.do(ctx, w.game.GetId(), op)
		return message, c.retryable(ctx, err)
	})
	if err != nil || message == nil {
		return message, err
	}
	if e, ok := message.(*pb.Event); ok {
		return message, w.env.observed.event(e)
	}
	return message, w.env.observed.game(message.(*pb.Game))
}

// learn returns what a client knows about a game after receiving a message. known is what it
// knew before.
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

// chooseCall draws a random call that is likely to be legal, judging by what the client knows.
func (w *workload) chooseCall(rng *rand.Rand, c *caller, known *pb.Game) operation {
	get := operation{player: c.id, kind: opGet}
	if known == nil || known.GetResult() != nil {
		return get
	}
	op := operation{player: c.id, version: known.GetVersion()}
	switch n := rng.IntN(100); {
	case n < 25:
		return get
	case n < 33:
		op.kind = opUndo
		if op.version > 1 && rng.IntN(2) == 0 {
			op.to = 1 + rng.Int32N(op.version-1)
		}
	case n < 35 && op.version > callsPerClient:
		op.kind, op.seat = opResign, rng.IntN(len(known.GetSeats()))
		if rng.IntN(2) == 0 {
			op.version = 0
		}
	case n < 40 && known.GetPosition().GetTribolo() != nil:
		op.move = game.To(game.Cell{X: rng.Int32N(16), Y: rng.Int32N(11)})
	case n < 40:
		op.move = game.Slide(game.Direction(1 + rng.IntN(4)))
	default:
		if legal := known.GetPosition().GetTribolo().GetLegalMoves(); len(legal) > 0 {
			op.move = translate.To(legal[rng.IntN(min(2, len(legal)))].GetCell())
			return op
		}
		d, ok := translate.Direction(random(rng, known.GetPosition()))
		if !ok {
			return get
		}
		op.move = game.Slide(d)
	}
	return op
}

// do sends a call.
func (c *caller) do(ctx context.Context, gameID string, op operation) (proto.Message, error) {
	ctx = c.authorized(ctx)
	switch op.kind {
	case opMove:
		request := &pb.MoveRequest{GameId: gameID, Version: op.version, Move: &pb.MoveRequest_Direction{
			Direction: pb.Direction(op.move.Direction),
		}}
		if op.move.Direction == 0 {
			request.Move = &pb.MoveRequest_Cell{Cell: &pb.Cell{X: op.move.Cell.X, Y: op.move.Cell.Y}}
		}
		response, err := c.games.Move(ctx, request)
		return response.GetEvent(), err
	case opUndo:
		request := &pb.UndoRequest{GameId: gameID, Version: op.version}
		if op.to > 0 {
			request.ToVersion = &op.to
		}
		response, err := c.games.Undo(ctx, request)
		return response.GetEvent(), err
	case opResign:
		request := &pb.ResignRequest{GameId: gameID, Seat: proto.Int32(int32(op.seat))}
		if op.version > 0 {
			request.Version = &op.version
		}
		response, err := c.games.Resign(ctx, request)
		return response.GetEvent(), err
	default:
		response, err := c.games.GetGame(ctx, &pb.GetGameRequest{GameId: gameID})
		return response.GetGame(), err
	}
}

// checkLinearizable searches for an order of all calls in which the rules, applied from start,
// explain every answer. If no such order exists, or none is found in time, it draws the history
// as an HTML file.
func (w *workload) checkLinearizable(t *testing.T, start *node) porcupine.CheckResult {
	t.Helper()
	m := model(start)
	result := porcupine.CheckOperationsTimeout(m, w.history.all, searchTimeout)
	if result != porcupine.Ok {
		_, info := porcupine.CheckOperationsVerbose(m, w.history.all, searchTimeout)
		path := filepath.Join(t.ArtifactDir(), w.game.GetId()+".html")
		file, err := os.Create(path)
		require.NoError(t, err)
		require.NoError(t, porcupine.Visualize(m, info, file))
		require.NoError(t, file.Close())
		t.Log("the history is drawn in the file", path)
	}
	return result
}

// genesis returns the node for the current version of g, with the game's seed and history.
// reader may be a client of any server.
func (env *env) genesis(t *testing.T, reader *caller, g *pb.Game) *node {
	t.Helper()
	seed := env.seed(t.Context(), t, g.GetId())
	events, err := reader.transcript(t.Context(), g.GetId(), g.GetVersion())
	require.NoError(t, err)
	created, err := translate.Entry(events[0])
	require.NoError(t, err)
	first, err := replay.Start(g.GetId(), created, seed, time.Unix(0, 0))
	require.NoError(t, err)
	n, err := newNode(nil, first).applyAll(events[1:])
	require.NoError(t, err)
	return n
}
