package faulttest

import (
	"context"
	"sync"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
			liar := &liar{GameServiceClient: host.games, c: w.anybody(host.server), lie: lie}
			liar.start = w.genesis(t, liar.c, g)
			var clients []*client
			for range askers {
				c := *host
				c.games = liar
				clients = append(clients, &c)
			}
			a := newArena(w, g, clients)
			a.told = nil // It would tell of the lies, too.
			require.NoError(t, a.run(t.Context(), 7))
			require.Positive(t, liar.lies)
			assert.Equal(t, porcupine.Illegal, a.judge(t, liar.start), "%d lies", liar.lies)
		})
	}
}
