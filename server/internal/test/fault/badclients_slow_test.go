//go:build slow

package fault

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/gridstand/gridstand/internal/id"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/front"
)

const (
	// idlers and eventReaders exceed the default limit on the connections of one address. browsers is
	// the number of connections of other floods by HTTP.
	idlers, eventReaders, browsers = 17_000, 4200, 1200
	flooders                       = 4
	// framers is the number of connections that send small frames.
	framers = 32
	// tinyBatch is the number of tiny calls in a write. The server has parsed some of them
	// after tinyReady of a connection's writes.
	tinyBatch, tinyReady = 500, 20
	// listsReady is the number of unread lists of a connection that bring the server to its limit.
	listsReady = 100
	// refusedPause is how long a client waits after the server has closed its connection at once.
	refusedPause = 100 * time.Millisecond
	// leavers is the number of workers, each with its own connection, that open watches and leave.
	leavers = 4
	// handshakeTimeout is the server's timeout for handshakes.
	handshakeTimeout = 10 * time.Second
	// dialers is the number of connections that are opened concurrently.
	dialers = 100
	// connects and watches are how many new connections and watches per second one address may open by
	// default.
	connects, watches = 2000, 2000
	// remembered is the number of a game's latest events that a server keeps in memory for its watchers.
	remembered = 64
)

// badClient is a client that abuses a server instead of playing.
type badClient struct {
	name string
	// limited is set if the server must eventually refuse the client, by failing its calls with
	// a retry hint or by closing its connections.
	limited bool
	// perSecond is 0 if the client exceeds a limit on any machine. Otherwise it exceeds one only if
	// the machine can serve more than this number of its connections or streams per second.
	perSecond int
	// work runs until ctx is done.
	work func(ctx context.Context, f *flood) error
}

var badClients = []badClient{
	{"silent connections of four addresses", true, 0, func(ctx context.Context, f *flood) error {
		const preface = http2.ClientPreface
		var from []*net.Dialer
		for n := range 4 {
			from = append(from, dialFrom(f.w.t, 60+n))
		}
		return f.connect(ctx, idlers, func(n int) []byte { return []byte(preface[:n%len(preface)]) }, from...)
	}},
	{"small frames", false, 0, func(ctx context.Context, f *flood) error {
		frames := bytes.Repeat([]byte("\x00\x00\x00\xff\x00\x00\x00\x00\x00"), 100) // of an unknown type
		return f.raw(ctx, framers, func(c *rawConn, _ uint32) error { return c.write(frames) })
	}},
	{"malformed calls", false, 0, func(ctx context.Context, f *flood) error {
		return f.tinyCalls(ctx, "/gridstand.v1.GameService/Unknown", "connection", "close") // not allowed with HTTP/2
	}},
	{"tiny health checks", true, 0, func(ctx context.Context, f *flood) error {
		return f.tinyCalls(ctx, grpc_health_v1.Health_Check_FullMethodName)
	}},
	{"watchers that never read", false, 0, func(ctx context.Context, f *flood) error { return f.unreadWatches(ctx) }},
	{"lists that are not read", true, 0, func(ctx context.Context, f *flood) error {
		return f.raw(ctx, flooders, func(c *rawConn, n uint32) error {
			if n == listsReady {
				f.ready()
			}
			_, err := c.call(pb.GameService_ListGames_FullMethodName, &pb.ListGamesRequest{PageSize: 200})
			return err
		})
	}},
	{"malformed and huge frames", true, connects, func(ctx context.Context, f *flood) error {
		garbage := make([]byte, 64<<10)
		random := rand.NewChaCha8([32]byte{31})
		_, _ = random.Read(garbage)
		return f.repeat(ctx, func(rng *rand.Rand) error {
			conn, err := f.dialer.DialContext(ctx, "tcp", f.server.addr)
			if err != nil {
				return err
			}
			defer func() { _ = conn.Close() }()
			head := []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")
			if rng.IntN(2) == 0 { // a frame of 16 MB
				head = append(head, 0xff, 0xff, 0xff, byte(rng.IntN(10)), 0, 0, 0, 0, 1)
			}
			// The server may have closed the connection.
			_, _ = conn.Write(append(head, garbage[rng.IntN(len(garbage)/2):]...))
			return nil
		})
	}},
	{"floods of games", true, 0, func(ctx context.Context, f *flood) error {
		c := f.w.player(f.server, f.dialOption())
		return f.repeat(ctx, func(*rand.Rand) error {
			_, err := c.create(ctx, ofVariant("classic"))
			return err
		})
	}},
	{"floods of players", true, 0, func(ctx context.Context, f *flood) error {
		c := f.w.anonymous(f.server, f.dialOption())
		return f.repeat(ctx, func(*rand.Rand) error {
			_, err := c.players.CreatePlayer(ctx, &pb.CreatePlayerRequest{Name: "f" + id.New()[:20]})
			return err
		})
	}},
	{"watchers that leave immediately", true, watches, func(ctx context.Context, f *flood) error {
		return f.watchAgain(ctx, &pb.WatchRequest{GameId: f.gameID}, 1)
	}},
	{"watches that are resumed from memory", true, watches / (1 + remembered/front.EventsPerRead), func(ctx context.Context, f *flood) error {
		return f.watchAgain(ctx, &pb.WatchRequest{GameId: f.gameID, AfterVersion: new(int32(longer - remembered))}, remembered)
	}},
	{"wrong tokens", true, 0, func(ctx context.Context, f *flood) error {
		c := f.w.anonymous(f.server, f.dialOption())
		return f.repeat(ctx, func(*rand.Rand) error {
			c := *c
			c.token = id.New() + "." + id.New()
			_, err := c.players.GetPlayer(c.authorized(ctx), &pb.GetPlayerRequest{PlayerId: "me"})
			if refusalOf(err).Code == codes.Unauthenticated {
				return nil
			}
			return err
		})
	}},
	{"requests sent very slowly", true, 0, func(ctx context.Context, f *flood) error {
		return f.raw(ctx, 3, func(c *rawConn, _ uint32) error {
			stream, err := c.open(pb.GameService_ListGames_FullMethodName)
			if err == nil {
				err = c.send(stream, false, []byte{0, 0, 0, 15})
			}
			for range 64 {
				if err == nil {
					err = c.send(stream, false, []byte{0})
				}
			}
			return err
		})
	}},
	{"long headers of streams", true, 0, func(ctx context.Context, f *flood) error {
		request := frame(&pb.WatchRequest{GameId: f.gameID})
		long := strings.Repeat("x", 14<<10)
		return f.raw(ctx, 3, func(c *rawConn, n uint32) error {
			stream, err := c.open(pb.GameService_Watch_FullMethodName, "x-long", long+fmt.Sprint(n))
			if err == nil {
				err = c.send(stream, true, request)
			}
			return err
		})
	}},
	{"moves that are reset immediately", true, 0, func(ctx context.Context, f *flood) error {
		return f.raw(ctx, 3, func(c *rawConn, n uint32) error {
			if n == tinyReady {
				f.ready() // The connection may be closed before it has made 2,000 calls.
			}
			stream, err := c.open(pb.GameService_Move_FullMethodName)
			if err == nil {
				err = c.reset(stream)
			}
			return err
		})
	}},
	{"streams that are reset immediately", false, 0, func(ctx context.Context, f *flood) error {
		return f.raw(ctx, 3, func(c *rawConn, _ uint32) error {
			stream, err := c.call(pb.GameService_GetGame_FullMethodName, &pb.GetGameRequest{GameId: f.gameID})
			if err == nil {
				err = c.reset(stream)
			}
			return err
		})
	}},
}

// flood holds the target and the counters of one bad client.
type flood struct {
	w      *env
	server *testServer
	// gameID is a game with as many events as longer says, and past one with pastLength events. heavy are
	// games of owner with heavyLength events, which the server does not have in memory.
	gameID, past string
	heavy        []string
	owner        *caller
	// dialer connects from the bad client's own address, if the system has more than one
	// loopback address.
	dialer *net.Dialer
	ready  func() // called once the client is active
	// granted and refused count the calls by repeat that were answered and that were refused.
	granted, refused atomic.Int64
	// dropped counts requests that the server ended before their bodies had arrived.
	dropped atomic.Int64
	// slow is set if connect opened its connections so slowly that the server closed the first ones,
	// because their handshakes timed out, before it could reach its limit.
	slow atomic.Bool
	// unread is set if the client does not read most of the responses to its reads. On a fast machine,
	// only the server then knows that it refused some.
	unread atomic.Bool
}

// within reports whether the calls have stayed below a limit for longer than a minute. On a slow
// machine, there may be nothing to refuse.
func (f *flood) within(perSecond int, since time.Time) bool {
	took := time.Since(since)
	return perSecond > 0 && took > time.Minute && f.granted.Load() <= int64(float64(perSecond)*(front.Burst+took.Seconds()))
}

// dialFrom returns a dialer from this machine's nth loopback address, so that bad clients have
// different addresses. It uses the default address if the system has only one.
func dialFrom(t *testing.T, n int) *net.Dialer {
	t.Helper()
	local := &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(n))}
	probe, err := net.ListenTCP("tcp", local)
	if err != nil {
		return &net.Dialer{}
	}
	_ = probe.Close()
	return &net.Dialer{LocalAddr: local}
}

// dialOption makes gRPC dial from the bad client's address.
func (f *flood) dialOption() grpc.DialOption {
	return grpc.WithContextDialer(func(ctx context.Context, target string) (net.Conn, error) {
		return f.dialer.DialContext(ctx, "tcp", target)
	})
}

// dial returns a gRPC connection from the bad client's address. It is closed when ctx is done.
func (f *flood) dial(ctx context.Context) *grpc.ClientConn {
	conn, err := grpc.NewClient(f.server.addr, f.dialOption(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		panic(err) // The address is malformed.
	}
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	return conn
}

// pause waits for a time, so that retries do not use up the processor, or until ctx is done.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// connect opens connections, writes a greeting to each, and leaves them open. They are from the bad client's
// address, or from each of several others. It opens many of them concurrently. Otherwise, on a busy machine, the
// server would time out the first ones before the limit is reached.
func (f *flood) connect(ctx context.Context, n int, greeting func(int) []byte, from ...*net.Dialer) error {
	if len(from) == 0 {
		from = []*net.Dialer{f.dialer}
	}
	conns := make([]net.Conn, n)
	defer func() {
		for _, conn := range conns {
			if conn != nil {
				_ = conn.Close()
			}
		}
	}()
	began := time.Now()
	var group errgroup.Group
	group.SetLimit(dialers)
	for i := range conns {
		group.Go(func() (err error) {
			conns[i], err = from[i%len(from)].DialContext(ctx, "tcp", f.server.addr)
			if err == nil {
				// The server may have closed the connection.
				_, _ = bytes.NewReader(greeting(i)).WriteTo(conns[i])
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	f.slow.Store(time.Since(began) > handshakeTimeout)
	f.ready()
	<-ctx.Done()
	return nil
}

// raw opens raw connections and calls do on each of them as fast as possible, with n increasing
// from call to call. It counts refused calls, and reopens connections that are closed.
func (f *flood) raw(ctx context.Context, connections int, do func(c *rawConn, n uint32) error) error {
	var group errgroup.Group
	for range connections {
		group.Go(func() error {
			for n := uint32(0); ctx.Err() == nil; {
				c, err := dialRaw(ctx, f.dialer, f.server.addr, slowWindow)
				if err != nil { // The server may close connections at once.
					pause(ctx, refusedPause)
					continue
				}
				stop := context.AfterFunc(ctx, func() { _ = c.conn.Close() })
				var reading sync.WaitGroup
				reading.Go(func() {
					c.read(func(_ uint32, status string) {
						if status == strconv.Itoa(int(codes.ResourceExhausted)) {
							f.refused.Add(1)
						}
					})
				})
				for ; do(c, n) == nil; n++ {
					f.granted.Add(1)
					if n == 2000 {
						f.ready()
					}
				}
				stop()
				_ = c.conn.Close()
				reading.Wait()
				pause(ctx, refusedPause)
			}
			return nil
		})
	}
	return group.Wait()
}

// watchAgain opens watches, each of which it leaves after a number of messages.
func (f *flood) watchAgain(ctx context.Context, request *pb.WatchRequest, messages int) error {
	return f.repeatWith(ctx, leavers, func() func(*rand.Rand) error {
		c := f.w.anonymous(f.server, f.dialOption())
		return func(*rand.Rand) error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			stream, err := c.games.Watch(ctx, request)
			for range messages {
				if err == nil {
					_, err = stream.Recv()
				}
			}
			return err
		}
	})
}

// tinyCalls sends calls as fast as the connections take them.
func (f *flood) tinyCalls(ctx context.Context, method string, fields ...string) error {
	return f.raw(ctx, framers, func(c *rawConn, n uint32) error {
		if n == tinyReady {
			f.ready()
		}
		return c.calls(method, tinyBatch, fields...)
	})
}

// repeat runs several workers. Each calls do as fast as possible.
func (f *flood) repeat(ctx context.Context, do func(*rand.Rand) error) error {
	return f.repeatWith(ctx, flooders, func() func(*rand.Rand) error { return do })
}

// repeatWith is like repeat, but with the given number of workers, each with a function that begin creates
// for it before any of them runs.
func (f *flood) repeatWith(ctx context.Context, workers int, begin func() func(*rand.Rand) error) error {
	group, failed := errgroup.WithContext(ctx)
	all := make([]func(*rand.Rand) error, workers)
	for n := range all {
		all[n] = begin()
	}
	for n, do := range all {
		rng := rand.New(rand.NewPCG(uint64(n), 31))
		group.Go(func() error {
			for failed.Err() == nil {
				err := do(rng)
				r := refusalOf(err)
				switch {
				case ctx.Err() != nil: // do may return slightly before ctx is done
					return nil
				case r.Code == codes.ResourceExhausted && r.RetryAfter > 0:
					f.refused.Add(1)
				case r.Code == codes.ResourceExhausted:
					return fmt.Errorf("no retry hint: %w", err)
				case err == nil:
					f.granted.Add(1)
				case !unavailable(err):
					return err
				default:
					pause(failed, refusedPause)
				}
				f.ready()
			}
			return nil
		})
	}
	return group.Wait()
}
