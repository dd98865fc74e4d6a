package lightwatch_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/internal/lightwatch"
	grpctest "github.com/gridstand/gridstand/internal/testkit/grpc"
	tlstest "github.com/gridstand/gridstand/internal/testkit/tls"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server implements Watch with a function.
type server struct {
	pb.UnimplementedGameServiceServer
	watch func(request *pb.WatchRequest, stream grpc.ServerStreamingServer[pb.WatchResponse]) error
}

func (s *server) Watch(request *pb.WatchRequest, stream grpc.ServerStreamingServer[pb.WatchResponse]) error {
	return s.watch(request, stream)
}

// serve starts a gRPC server that stops when the test ends.
func serve(
	t *testing.T, watch func(*pb.WatchRequest, grpc.ServerStreamingServer[pb.WatchResponse]) error, options ...grpc.ServerOption,
) (string, *grpc.Server) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := grpc.NewServer(options...)
	pb.RegisterGameServiceServer(s, &server{watch: watch})
	grpctest.Serve(t, s, listener)
	return listener.Addr().String(), s
}

// dial opens a connection that is closed when the test ends.
func dial(t *testing.T, address string, options lightwatch.Options) *lightwatch.Conn {
	t.Helper()
	c, err := lightwatch.Dial(t.Context(), address, options)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// certificate returns a certificate for localhost and the authority that issued it.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	authority, dir := tlstest.NewAuthority(t), t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	authority.Issue(t, "localhost", cert, key)
	pair, err := tls.LoadX509KeyPair(cert, key)
	require.NoError(t, err)
	pem, err := os.ReadFile(authority.File)
	require.NoError(t, err)
	authorities := x509.NewCertPool()
	require.True(t, authorities.AppendCertsFromPEM(pem))
	return pair, authorities
}

// told is a receiver that records its first 1000 calls as strings. It must not block, because the connection
// waits for its receivers.
type told struct {
	refuse error // returned by Update
	said   chan string
	ended  chan error
}

func newTold() *told { return &told{said: make(chan string, 1000), ended: make(chan error, 1)} }

func (r *told) record(call string) {
	select {
	case r.said <- call:
	default:
	}
}

func (r *told) Opened() { r.record("opened") }

func (r *told) Update(u *lightwatch.Update) error {
	switch u.Kind {
	case lightwatch.Game:
		r.record(fmt.Sprintf("game %s at %d, over %v", u.GameID, u.Version, u.Over))
	case lightwatch.Event:
		r.record(fmt.Sprintf("event %d of %s at %d, over %v", u.Version, u.GameID, u.Time().UnixMilli(), u.Over))
	default:
		r.record("other")
	}
	return r.refuse
}

func (r *told) Ended(err error) { r.ended <- err }

// hears waits until the receiver has recorded the given calls, in order.
func (r *told) hears(t *testing.T, want ...string) {
	t.Helper()
	for _, want := range want {
		require.Equal(t, want, waittest.Receive(t, want, r.said))
	}
}

// ends waits until the stream ends and returns its error.
func (r *told) ends(t *testing.T) error {
	t.Helper()
	return waittest.Receive(t, "the end of the stream", r.ended)
}

func event(version int32, at int64, over bool) *pb.WatchResponse {
	e := &pb.Event{
		GameId: "game", Version: version, Time: timestamppb.New(time.UnixMilli(at)), Seat: new(int32),
		Position: &pb.Position{Scores: []int32{1, 2}}, Ranked: true, Action: &pb.Event_Moved{Moved: &pb.Moved{}},
	}
	if over {
		e.Result = &pb.Result{}
		e.Seed = []byte("seed")
	}
	return &pb.WatchResponse{Update: &pb.WatchResponse_Event{Event: e}}
}

func game(version int32, s pb.GameStatus) *pb.WatchResponse {
	return &pb.WatchResponse{Update: &pb.WatchResponse_Game{Game: &pb.Game{
		Id: "game", Variant: "classic", Seats: []*pb.Seat{{}}, Status: s, Version: version, Position: &pb.Position{},
		CreateTime: timestamppb.Now(),
	}}}
}

// TestWatch reads a whole game, in plain text and with TLS, with wide and narrow windows. A narrow
// window must be replenished, and splits messages across frames.
func TestWatch(t *testing.T) {
	t.Parallel()
	pair, authorities := certificate(t)
	for name, options := range map[string]lightwatch.Options{
		"wide":      {},
		"narrow":    {Window: 100, Streams: 1},
		"TLS":       {TLS: &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12}, Authority: "localhost:1"},
		"both":      {TLS: &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12, ServerName: "localhost"}, Window: 50},
		"authority": {Authority: "elsewhere:1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var server []grpc.ServerOption
			if options.TLS != nil {
				server = append(server, grpc.Creds(credentials.NewServerTLSFromCert(&pair)))
			}
			const events = 500
			address, _ := serve(t, func(request *pb.WatchRequest, stream grpc.ServerStreamingServer[pb.WatchResponse]) error {
				assert.Equal(t, "game", request.GetGameId())
				if err := stream.Send(game(2, pb.GameStatus_GAME_STATUS_ACTIVE)); err != nil {
					return err
				}
				if err := stream.Send(&pb.WatchResponse{Update: &pb.WatchResponse_Audience{}}); err != nil {
					return err
				}
				for i := range events {
					if err := stream.Send(event(int32(i), 1e12+int64(i), false)); err != nil {
						return err
					}
				}
				return errors.Join(stream.Send(event(events, 5, true)), stream.Send(game(7, pb.GameStatus_GAME_STATUS_FINISHED)))
			}, server...)
			c := dial(t, address, options)
			var all []*told
			for range 5 {
				r := newTold()
				_, err := c.Watch(&pb.WatchRequest{GameId: "game"}, r)
				require.NoError(t, err)
				all = append(all, r)
			}
			for _, r := range all {
				r.hears(t, "opened", "game game at 2, over false", "other")
				for i := range events {
					r.hears(t, fmt.Sprintf("event %d of game at %d, over false", i, int64(1e12)+int64(i)))
				}
				r.hears(t, fmt.Sprintf("event %d of game at 5, over true", events), "game game at 7, over true")
				require.NoError(t, r.ends(t))
			}
			assert.NoError(t, c.Err())
		})
	}
}

// Ensure that a refused stream's status arrives, with and without messages before it.
func TestStatus(t *testing.T) {
	t.Parallel()
	st, err := status.New(codes.ResourceExhausted, "too many, „ja“ 100 %").WithDetails(
		&errdetails.RetryInfo{RetryDelay: durationpb.New(3 * time.Second)})
	require.NoError(t, err)
	address, _ := serve(t, func(request *pb.WatchRequest, stream grpc.ServerStreamingServer[pb.WatchResponse]) error {
		switch request.GetGameId() {
		case "at once":
			return st.Err()
		case "later":
			if err := stream.Send(game(1, 0)); err != nil {
				return err
			}
			return st.Err()
		case "plain":
			return status.Error(codes.NotFound, "„nein“ 100 %")
		default:
			return nil
		}
	})
	c := dial(t, address, lightwatch.Options{})
	watch := func(gameID string) *told {
		r := newTold()
		_, err := c.Watch(&pb.WatchRequest{GameId: gameID}, r)
		require.NoError(t, err)
		return r
	}
	assert.NoError(t, watch("").ends(t))
	got := status.Convert(watch("plain").ends(t))
	assert.Equal(t, codes.NotFound, got.Code())
	assert.Equal(t, "„nein“ 100 %", got.Message())
	for _, gameID := range []string{"at once", "later"} {
		got := status.Convert(watch(gameID).ends(t))
		assert.Equal(t, st.Message(), got.Message())
		require.Len(t, got.Details(), 1)
		assert.Equal(t, 3*time.Second, got.Details()[0].(*errdetails.RetryInfo).GetRetryDelay().AsDuration())
	}
}

// open sends two events and leaves the stream open. It signals on left when the stream ends.
func open(left chan<- struct{}) func(*pb.WatchRequest, grpc.ServerStreamingServer[pb.WatchResponse]) error {
	return func(_ *pb.WatchRequest, stream grpc.ServerStreamingServer[pb.WatchResponse]) error {
		err := errors.Join(stream.Send(event(1, 1, false)), stream.Send(event(2, 1, false)))
		<-stream.Context().Done()
		left <- struct{}{}
		return errors.Join(err, stream.Context().Err())
	}
}

// TestEnds ends streams from the client's side. In each case the server must notice, and Ended must
// be called unless Cancel ended the stream.
func TestEnds(t *testing.T) {
	t.Parallel()
	left := make(chan struct{}, 10)
	address, _ := serve(t, open(left))
	leaves := func() {
		t.Helper()
		waittest.Receive(t, "the server to notice", left)
	}
	c := dial(t, address, lightwatch.Options{})

	refusing := newTold()
	refusing.refuse = errors.New("no more")
	_, err := c.Watch(&pb.WatchRequest{GameId: "game"}, refusing)
	require.NoError(t, err)
	require.ErrorIs(t, refusing.ends(t), refusing.refuse)
	leaves()

	canceled := newTold()
	stream, err := c.Watch(&pb.WatchRequest{GameId: "game"}, canceled)
	require.NoError(t, err)
	canceled.hears(t, "opened", "event 1 of game at 1, over false")
	stream.Cancel()
	stream.Cancel()
	leaves()
	assert.Empty(t, canceled.ended)

	closed := newTold()
	_, err = c.Watch(&pb.WatchRequest{GameId: "game"}, closed)
	require.NoError(t, err)
	closed.hears(t, "opened")
	require.NoError(t, c.Err())
	c.Close()
	assert.Equal(t, codes.Canceled, status.Code(closed.ends(t)))
	leaves()
	_, err = c.Watch(&pb.WatchRequest{}, newTold())
	assert.Equal(t, codes.Canceled, status.Code(err))
	assert.Error(t, c.Err())
}

// TestServerEnds stops a server, first gracefully, so that open streams continue while new
// ones are refused, and then immediately.
func TestServerEnds(t *testing.T) {
	t.Parallel()
	address, server := serve(t, open(make(chan struct{}, 10)))
	c := dial(t, address, lightwatch.Options{})
	first := newTold()
	_, err := c.Watch(&pb.WatchRequest{GameId: "game"}, first)
	require.NoError(t, err)
	first.hears(t, "opened")
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		server.GracefulStop()
	}()
	waittest.Until(t, "the connection refuses streams", func() bool { return c.Err() != nil })
	_, err = c.Watch(&pb.WatchRequest{GameId: "game"}, newTold())
	require.Equal(t, codes.Unavailable, status.Code(err))
	first.hears(t, "event 1 of game at 1, over false", "event 2 of game at 1, over false")
	assert.Empty(t, first.ended)
	server.Stop()
	assert.Equal(t, codes.Unavailable, status.Code(first.ends(t)))
	<-stopped
}
