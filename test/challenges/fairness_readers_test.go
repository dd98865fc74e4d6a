package challenges_test

import (
	"context"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/internal/sshsig"
	connecttest "github.com/gridstand/gridstand/internal/testkit/connect"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	sshtest "github.com/gridstand/gridstand/internal/testkit/ssh"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// reader calls the server over gRPC and HTTP and records everything that it receives.
type reader struct {
	role       string
	server     net.Addr
	player     *playertest.Player // nil if anonymous
	headers    []string
	conn       *grpc.ClientConn
	web        *http.Client
	browsers   map[string]grpc.ClientConnInterface // by protocol; nil over SSH
	grpc, http tape
	game       *pb.Game // the player's attempt, if any
	finishes   bool     // whether the player ends the attempt in the running stage
}

func (r *reader) ctx(t *testing.T) context.Context {
	return metadata.NewOutgoingContext(t.Context(), metadata.Pairs(r.headers...))
}

// overSSH reports whether an SSH host makes the reader's calls. An SSH host uses only gRPC.
func (r *reader) overSSH() bool { return len(r.headers) > 2 }

// reader returns a new reader that sends the given headers with its calls.
func (env *env) reader(role string, p *playertest.Player, headers ...string) *reader {
	env.made++
	r := &reader{role: role, player: p, headers: headers, server: env.servers[env.made%len(env.servers)].Addr()}
	r.grpc.at, r.http.at = &env.stage, &env.stage
	r.conn = servertest.Dial(env.t, r.server, grpc.WithContextDialer(r.grpc.dial), grpc.WithStatsHandler(&r.grpc),
		grpc.WithDefaultCallOptions(grpc.WaitForReady(true))) // wait while servers restart
	transport := &http.Transport{
		DialContext:        func(ctx context.Context, _, address string) (net.Conn, error) { return r.http.dial(ctx, address) },
		DisableCompression: true,
	}
	env.t.Cleanup(transport.CloseIdleConnections)
	r.web = &http.Client{Transport: transport}
	if !r.overSSH() {
		r.browsers = map[string]grpc.ClientConnInterface{}
		for _, protocol := range connecttest.Protocols() {
			r.browsers[protocol] = tapedConn{connecttest.DialOver(env.t, r.server, protocol, transport), &r.http}
		}
	}
	return r
}

// account returns a reader with a new account.
func (env *env) account(role string, finishes bool) *reader {
	r := env.reader(role, nil)
	r.player = playertest.New(env.t.Context(), env.t, r.conn, "Ms-"+role)
	r.headers = []string{"authorization", "Bearer " + r.player.Token}
	r.finishes = finishes
	return r
}

// bySSH returns a reader with another reader's account, whose calls are made by an SSH host.
func (env *env) bySSH(r *reader, credential string) *reader {
	key := linkKey(env.t, r)
	s := env.reader(r.role+" by SSH", r.player, "authorization", "Bearer "+credential, "gridstand-ssh-key", key)
	s.game, s.finishes = r.game, r.finishes
	return s
}

// linkKey links a new key to a reader's account and returns its fingerprint.
func linkKey(t *testing.T, r *reader) string {
	t.Helper()
	signature, err := sshsig.Sign(sshtest.Key(t), "gridstand", r.player.ID)
	require.NoError(t, err)
	added, err := pb.NewPlayerServiceClient(r.conn).AddKey(r.player.Ctx, &pb.AddKeyRequest{Signature: signature})
	require.NoError(t, err)
	return added.GetKey().GetFingerprint()
}

// keepStreams makes each reader open, over each protocol, streams of everything that the reader may
// see, and read them until they end.
func (env *env) keepStreams() {
	for _, r := range env.readers {
		conns := append(slices.Collect(maps.Values(r.browsers)), r.conn)
		sees := env.attempt(running, r).reason == ""
		for _, conn := range conns {
			env.kept.Go(func() {
				updates, err := pb.NewChallengeServiceClient(conn).WatchChallenge(r.ctx(env.t), &pb.WatchChallengeRequest{ChallengeId: env.challenge.GetId()})
				for err == nil {
					_, err = updates.Recv()
				}
			})
			if !sees {
				continue
			}
			updates, err := r.watch(env.t, conn, env.owner.game.GetId())
			require.NoError(env.t, err, r.role)
			env.kept.Go(func() {
				for err == nil {
					_, err = updates.Recv()
				}
			})
		}
		if sees && !r.overSSH() {
			env.kept.Go(func() {
				env.ask(r, http.MethodGet, "/g/"+env.owner.game.GetId()+"/events", nil, func(string) bool { return false })
			})
		}
	}
}

// watch opens a stream of a game and reads its first message.
func (r *reader) watch(t *testing.T, conn grpc.ClientConnInterface, gameID string) (grpc.ServerStreamingClient[pb.WatchResponse], error) {
	updates, err := pb.NewGameServiceClient(conn).Watch(r.ctx(t), &pb.WatchRequest{GameId: gameID, EveryEvent: true})
	if err == nil {
		_, err = updates.Recv()
	}
	return updates, err
}

// tape records the bytes that a reader receives, by stage.
type tape struct {
	at *atomic.Int32

	mu    sync.Mutex
	parts [stages][]byte
}

// Write implements io.Writer.
func (l *tape) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.at.Load()
	l.parts[at] = append(l.parts[at], b...)
	return len(b), nil
}

func (l *tape) part(s stage) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.parts[s])
}

// dial returns a connection that records the bytes it receives.
func (l *tape) dial(ctx context.Context, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	return recordedConn{conn, l}, err
}

// tapedConn records the messages of streams, because a browser protocol may compress them.
type tapedConn struct {
	grpc.ClientConnInterface
	tape *tape
}

// NewStream implements grpc.ClientConnInterface.
func (c tapedConn) NewStream(ctx context.Context, d *grpc.StreamDesc, method string, options ...grpc.CallOption) (grpc.ClientStream, error) {
	stream, err := c.ClientConnInterface.NewStream(ctx, d, method, options...)
	return tapedStream{stream, c.tape}, err
}

type tapedStream struct {
	grpc.ClientStream
	tape *tape
}

// RecvMsg implements grpc.ClientStream.
func (s tapedStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if message, ok := m.(proto.Message); ok && err == nil {
		_, _ = s.tape.Write(encode(message))
	}
	return err
}

type recordedConn struct {
	net.Conn
	tape *tape
}

// Read implements net.Conn.
func (c recordedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	_, _ = c.tape.Write(b[:n])
	return n, err
}
