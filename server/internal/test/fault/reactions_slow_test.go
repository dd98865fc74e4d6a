//go:build slow

package fault

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

const (
	cheers        = 10_000 // reactions a second
	fans          = 12_000 // accounts, so that each reacts less than once a second
	fanConns      = 8      // their connections
	fansAtOnce    = 8      // calls at once on each connection
	createdAtOnce = 100    // accounts
	maxLate       = 100 * time.Millisecond
)

// Ensure that ten thousand reactions a second to one game lose none of its player's moves, that a
// watcher gets them with at most two audiences a second, and that the log has none of them. The test
// logs the latency of the player's moves, next to that before, and to that of the player of another game
// on the server, who has the same processors and no reactions.
func TestFlood_Reactions(t *testing.T) {
	t.Parallel()
	manyFiles.Lock()
	defer manyFiles.Unlock()
	env := newUncheckedEnv(t)
	server, g := env.serveMeasured(unlimited...)
	b, beside := newBaseline(t, env.player(server)), newBaseline(t, env.player(server))
	tokens := env.fans(server)

	b.measureBeside(t, beside) // warm up
	calm := b.measureMoves(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	watched := time.Now()
	audiences, shown := b.audiences(ctx, t)
	var sent atomic.Int64
	var group sync.WaitGroup
	env.cheer(ctx, &group, server, b.game.GetId(), tokens, &sent)
	waittest.Until(t, "each account has reacted", func() bool { return sent.Load() >= fans })
	before, began, worked := sent.Load(), time.Now(), g.exactly(t, "process_cpu_seconds_total")
	var busy, others []time.Duration
	for len(busy) == 0 || time.Since(began) < 3*floodFor {
		busy, others = append(busy, b.measureMove(t)), append(others, beside.measureMove(t))
		<-time.After(5 * time.Millisecond) // so that the game does not end
	}
	took := time.Since(began)
	cores := (g.exactly(t, "process_cpu_seconds_total") - worked) / took.Seconds()
	perSecond := float64(sent.Load()-before) / took.Seconds()
	cancel()
	group.Wait()
	t.Logf("%.0f reactions a second for %.0f s; server %.1f cores; %d audiences showed %d", perSecond, took.Seconds(), cores, audiences.Load(), shown.Load())
	assert.Positive(t, shown.Load())
	assert.LessOrEqual(t, audiences.Load(), int64(2*time.Since(watched).Seconds())+3)
	t.Logf("figure: reactions to one game a second | %.0f | %d", perSecond, cheers)
	logMoves(t, "reactions", busy, calm)
	logMoves(t, "reactions, beside a game without", busy, others)
	b.finish(t)
}

// fans creates the accounts, and returns their tokens.
func (env *env) fans(server *testServer) []string {
	tokens := make([]string, fans)
	var group sync.WaitGroup
	on := env.anonymous(server)
	for first := range createdAtOnce {
		group.Go(func() {
			for i := first; i < fans; i += createdAtOnce {
				created, err := on.players.CreatePlayer(env.t.Context(), &pb.CreatePlayerRequest{Name: "f" + id.New()[:20], Secret: id.New()})
				if assert.NoError(env.t, err) {
					tokens[i] = created.GetToken()
				}
			}
		})
	}
	group.Wait()
	return tokens
}

// cheer makes the accounts react by turns until ctx is done. It counts the reactions that the server
// accepted. It writes frames itself, because gRPC's client would take as much of the processors as the
// server.
func (env *env) cheer(ctx context.Context, group *sync.WaitGroup, server *testServer, gameID string, tokens []string, sent *atomic.Int64) {
	for first := range fanConns {
		conn, err := dialRaw(ctx, &net.Dialer{}, server.addr, 1<<16)
		require.NoError(env.t, err)
		require.NoError(env.t, conn.framer.WriteWindowUpdate(0, 1<<30))
		context.AfterFunc(ctx, func() { _ = conn.conn.Close() })
		calls := make(chan struct{}, fansAtOnce)
		group.Go(func() {
			conn.read(func(_ uint32, status string) {
				if status == "0" {
					sent.Add(1)
				}
				<-calls
			})
		})
		group.Go(func() {
			due := time.Now()
			for n := first; ; n += fanConns {
				<-time.After(time.Until(due))
				// who was late does not catch up, because no account may react twice in a second
				due = due.Add(max(0, time.Since(due)-maxLate)).Add(fanConns * time.Second / cheers)
				select {
				case calls <- struct{}{}:
				case <-ctx.Done():
					return
				}
				request := &pb.ReactRequest{GameId: gameID, Reaction: pb.Reaction(1 + n%6)}
				if _, err := conn.call(pb.GameService_React_FullMethodName, request, "authorization", "Bearer "+tokens[n%fans]); err != nil {
					return
				}
			}
		})
	}
}

// audiences counts the audiences that a watcher of the game gets with reactions, and those reactions.
func (b *baseline) audiences(ctx context.Context, t *testing.T) (audiences, shown *atomic.Int64) {
	t.Helper()
	audiences, shown = &atomic.Int64{}, &atomic.Int64{}
	stream, err := b.player.games.Watch(b.player.authorized(ctx), &pb.WatchRequest{GameId: b.game.GetId()})
	require.NoError(t, err)
	go func() {
		for {
			update, err := stream.Recv()
			if err != nil {
				return
			}
			for i, n := range update.GetReactions() {
				if i == 0 {
					audiences.Add(1)
				}
				shown.Add(int64(n))
			}
		}
	}()
	return audiences, shown
}
