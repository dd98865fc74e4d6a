package faulttest

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
	"github.com/gridstand/gridstand/server/redistest"
)

const (
	// askers are the clients of each game, asks the calls that each of them
	// makes. Beyond some dozens that nobody answered the checker takes long.
	askers, asks = 6, 50
	// searchFor bounds the checker.
	searchFor = time.Minute
)

// arena is a game about which many clients ask.
type arena struct {
	w       *world
	gameID  string
	began   int32 // version that the game had
	clients []*client
	history history
}

func newArena(w *world, g *pb.Game, clients []*client) *arena {
	return &arena{w: w, gameID: g.GetId(), began: g.GetVersion(), clients: clients, history: history{began: time.Now()}}
}

// run has every client make calls, some of which it gives up before they are
// answered.
func (a *arena) run(ctx context.Context, seed uint64) error {
	group, ctx := errgroup.WithContext(ctx)
	for who, c := range a.clients {
		rng := rand.New(rand.NewPCG(seed, uint64(who)))
		group.Go(func() error {
			var known *pb.Game
			for range asks {
				ask := a.choose(rng, c, known)
				call, cancel := ctx, context.CancelFunc(func() {})
				if rng.IntN(25) == 0 {
					call, cancel = context.WithTimeout(ctx, time.Duration(rng.IntN(4000))*time.Microsecond)
				}
				message, err := a.history.ask(call, who, ask, func(ctx context.Context) (proto.Message, error) {
					return c.do(ctx, a.gameID, ask)
				})
				cancel()
				if err != nil {
					return err
				}
				known = learn(known, message)
			}
			return nil
		})
	}
	return group.Wait()
}

// learn is what a client knows of a game after a message.
func learn(known *pb.Game, message proto.Message) *pb.Game {
	switch m := message.(type) {
	case *pb.Game:
		if m != nil {
			return m
		}
	case *pb.Event:
		if m != nil && known != nil && m.GetVersion() > known.GetVersion() {
			known = proto.CloneOf(known)
			known.Version, known.Position, known.Result = m.GetVersion(), m.GetPosition(), m.GetResult()
		}
	}
	return known
}

// choose draws a call that makes sense as far as a client knows, or almost.
func (a *arena) choose(rng *rand.Rand, c *client, known *pb.Game) ask {
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
func (c *client) do(ctx context.Context, gameID string, a ask) (proto.Message, error) {
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

// judge searches an order of all calls in which the rules give every answer.
func (a *arena) judge(t *testing.T) porcupine.CheckResult {
	t.Helper()
	m := model(a.w.genesis(t, a.gameID, a.began))
	result, info := porcupine.CheckOperationsVerbose(m, a.history.all, searchFor)
	if result != porcupine.Ok {
		path := filepath.Join(t.ArtifactDir(), a.gameID+".html")
		file, err := os.Create(path)
		require.NoError(t, err)
		require.NoError(t, porcupine.Visualize(m, info, file))
		require.NoError(t, file.Close())
		t.Log("the history is drawn in", path)
	}
	return result
}

// genesis is a game as it was at a version, with its seed and its past.
func (w *world) genesis(t *testing.T, gameID string, version int32) *node {
	t.Helper()
	entries, err := w.store.XRange(t.Context(), logKey(gameID), "-", "+").Result()
	require.NoError(t, err)
	secret, _ := entries[0].Values["s"].(string)
	seed, err := game.SeedFromBytes([]byte(secret))
	require.NoError(t, err)
	fresh := w.serve(w.addr)
	defer fresh.stop()
	events, err := w.anybody(fresh).transcript(t.Context(), gameID, version)
	require.NoError(t, err)
	created, err := translate.Entry(events[0])
	require.NoError(t, err)
	first, err := replay.Start(gameID, created, seed, time.Unix(0, 0))
	require.NoError(t, err)
	n, err := newNode(nil, first).along(events[1:])
	require.NoError(t, err)
	return n
}

// arenas are games with the accounts that sit in them, each with clients on
// both servers.
func arenas(t *testing.T, w *world, first, second *server) map[string]*arena {
	t.Helper()
	all := map[string]*arena{}
	add := func(name string, g *pb.Game, players ...*client) {
		var clients []*client
		for i := range askers {
			clients = append(clients, players[i%len(players)].on([]*server{first, second}[i/len(players)%2]))
		}
		all[name] = newArena(w, g, clients)
	}
	for _, variant := range []string{"classic", "restless", "3x3"} {
		host := w.player(first)
		add(variant, host.start(t, variant), host)
	}
	host := w.player(first)
	add("in every seat", host.table(t, &pb.CreateGameRequest{Seats: []*pb.SeatRequest{me, me, me}}), host)
	players := []*client{w.player(first), w.player(second), w.player(first)}
	people := players[0].table(t, &pb.CreateGameRequest{Seats: []*pb.SeatRequest{me, anyone, anyone}})
	for _, p := range players[1:] {
		var err error
		people, err = p.join(t.Context(), people.GetId())
		require.NoError(t, err)
	}
	add("people", people, players...)
	return all
}

// Ensure that everything that many clients are told of a game, on two servers
// whose ways to Redis break again and again, can be told in one order in which
// each call happens at a moment between its beginning and its end.
func TestLinearizable(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		proxies := []*redistest.Proxy{redistest.StartProxy(t, w.addr), redistest.StartProxy(t, w.addr)}
		first, second := w.serve(proxies[0].Addr()), w.serve(proxies[1].Addr())
		all := arenas(t, w, first, second)
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		group, ctx := errgroup.WithContext(t.Context())
		for _, a := range all {
			group.Go(func() error { return a.run(ctx, seed) })
		}
		done := make(chan error, 1)
		go func() { done <- group.Wait() }()
		rng := rand.New(rand.NewPCG(seed, 99))
		var faults int
		for running := true; running; faults++ {
			harass(t, w, rng, proxies[rng.IntN(2)])
			select {
			case err := <-done:
				require.NoError(t, err)
				running = false
			case <-time.After(time.Duration(rng.IntN(100)) * time.Millisecond):
			}
		}
		for name, a := range all {
			unknown := 0
			for _, op := range a.history.all {
				if op.Output.(answer).unknown {
					unknown++
				}
			}
			t.Logf("%s: %d calls, %d of unknown outcome, among %d faults", name, len(a.history.all), unknown, faults)
			assert.Equal(t, porcupine.Ok, a.judge(t), name)
		}
	})
}

// harass does something to one server's way to Redis, and ends it.
func harass(t *testing.T, w *world, rng *rand.Rand, proxy *redistest.Proxy) {
	wait := func() { <-time.After(time.Duration(rng.IntN(150)) * time.Millisecond) }
	switch rng.IntN(5) {
	case 0:
		proxy.Cut()
	case 1:
		release := proxy.Hold()
		wait()
		release()
	case 2:
		proxy.Refuse()
		wait()
		proxy.Accept()
	case 3:
		proxy.Lose(1+rng.IntN(3), "evalsha")
	case 4:
		assert.NoError(t, w.store.ScriptFlush(t.Context()).Err())
	}
}

// liar is a server that is wrong in one way, now and then.
type liar struct {
	pb.GameServiceClient
	c   *client
	lie func(l *liar, ctx context.Context, request *pb.MoveRequest) (*pb.MoveResponse, error)

	mu    sync.Mutex
	n     int
	lies  int
	stale *pb.GetGameResponse // what GetGame answers, where it is set
	start *node
}

// replayed is a game as its log has it now.
func (l *liar) replayed(ctx context.Context, gameID string) (*node, error) {
	g, err := l.c.get(ctx, gameID)
	if err != nil {
		return nil, err
	}
	events, err := l.c.readTranscript(ctx, gameID, g.GetVersion())
	if err != nil {
		return nil, err
	}
	return l.start.along(events[1:])
}

// now reports whether it is time for a lie.
func (l *liar) now() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n++
	return l.n%4 == 0
}

// lied counts a lie.
func (l *liar) lied() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lies++
}

func (l *liar) Move(ctx context.Context, request *pb.MoveRequest, options ...grpc.CallOption) (*pb.MoveResponse, error) {
	if l.lie != nil && l.now() {
		return l.lie(l, ctx, request)
	}
	return l.GameServiceClient.Move(ctx, request, options...)
}

func (l *liar) GetGame(ctx context.Context, request *pb.GetGameRequest, options ...grpc.CallOption) (*pb.GetGameResponse, error) {
	response, err := l.GameServiceClient.GetGame(ctx, request, options...)
	if l.lie != nil || err != nil {
		return response, err
	}
	lying := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stale == nil || !lying {
		l.stale = response // for later
		return response, nil
	}
	if l.stale.GetGame().GetVersion() < response.GetGame().GetVersion() {
		l.lies++
	}
	return l.stale, nil
}

// Ensure the search finds what a wrong server does.
func TestLinearizable_planted(t *testing.T) {
	t.Parallel()
	for name, lie := range map[string]func(*liar, context.Context, *pb.MoveRequest) (*pb.MoveResponse, error){
		"an old game": nil,
		"a move lost": func(l *liar, ctx context.Context, request *pb.MoveRequest) (*pb.MoveResponse, error) {
			// It is judged well, shown, and never written.
			n, err := l.replayed(ctx, request.GetGameId())
			if err != nil || n.Version != request.GetVersion() {
				return l.GameServiceClient.Move(ctx, request)
			}
			d, _ := translate.Direction(request.GetDirection())
			event, err := n.Apply(replay.Entry{Action: replay.Moved{Move: game.Slide(d)}}, n.UpdateTime)
			if err != nil {
				return l.GameServiceClient.Move(ctx, request)
			}
			l.lied()
			return &pb.MoveResponse{Event: translate.Event(event)}, nil
		},
		"a move twice": func(l *liar, ctx context.Context, request *pb.MoveRequest) (*pb.MoveResponse, error) {
			response, err := l.GameServiceClient.Move(ctx, request)
			if err == nil {
				again := proto.CloneOf(request)
				again.Version++
				if _, err := l.GameServiceClient.Move(ctx, again); err == nil {
					l.lied()
				}
			}
			return response, err
		},
		"a move refused and made": func(l *liar, ctx context.Context, request *pb.MoveRequest) (*pb.MoveResponse, error) {
			response, err := l.GameServiceClient.Move(ctx, request)
			if err == nil {
				l.lied()
				st, _ := status.New(codes.FailedPrecondition, "").WithDetails(&errdetails.ErrorInfo{Reason: pb.ReasonIllegalMove, Domain: pb.ErrorDomain})
				return nil, st.Err()
			}
			return response, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, redistest.StartMiniredis(t).Addr())
			host := w.player(w.serve(w.addr))
			g := host.start(t, "5x5")
			liar := &liar{GameServiceClient: host.games, c: w.anybody(host.server), lie: lie, start: w.genesis(t, g.GetId(), 1)}
			var clients []*client
			for range askers {
				c := *host
				c.games = liar
				clients = append(clients, &c)
			}
			a := newArena(w, g, clients)
			require.NoError(t, a.run(t.Context(), 7))
			require.Positive(t, liar.lies)
			assert.Equal(t, porcupine.Illegal, a.judge(t), "%d lies", liar.lies)
		})
	}
}
