//go:build slow && unix

package bench

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	connecttest "github.com/gridstand/gridstand/internal/testkit/connect"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// watchers is the number of watchers of one game. shared is how many of them share a connection, in
// the benchmark that shares them, as behind a proxy.
const (
	watchers = 2000
	shared   = 250
)

// BenchmarkWatch measures what a watcher costs: memory, and the processor time of an event. The time
// of an iteration is that from a move until every watcher has its event.
func BenchmarkWatch(b *testing.B) {
	b.Run("grpc", func(b *testing.B) {
		measureWatch(b, func(s *process, _ int) open { return s.watch(s.dial(b)) })
	})
	b.Run("grpc_on_shared_connections", func(b *testing.B) {
		var conn *grpc.ClientConn
		measureWatch(b, func(s *process, i int) open {
			if i%shared == 0 {
				conn = s.dial(b)
			}
			return s.watch(conn)
		})
	})
	b.Run("connect", func(b *testing.B) {
		measureWatch(b, func(s *process, _ int) open {
			address, err := net.ResolveTCPAddr("tcp", s.address)
			require.NoError(b, err)
			return s.watch(connecttest.Dial(b, address, connecttest.Binary))
		})
	})
	b.Run("sse", func(b *testing.B) {
		measureWatch(b, func(s *process, _ int) open { return s.watchEvents })
	})
	b.Run("write", measureWrite)
}

// open opens a stream of a game after a version. The returned function waits for the next event.
type open func(ctx context.Context, gameID string, version int32) (next func() error, err error)

func (p *process) watch(conn grpc.ClientConnInterface) open {
	return func(ctx context.Context, gameID string, version int32) (func() error, error) {
		stream, err := pb.NewGameServiceClient(conn).Watch(ctx, &pb.WatchRequest{GameId: gameID, AfterVersion: &version})
		return func() error {
			for {
				update, err := stream.Recv()
				if err != nil || update.GetEvent() != nil {
					return err
				}
			}
		}, err
	}
}

func (p *process) watchEvents(ctx context.Context, gameID string, version int32) (func() error, error) {
	lines, err := p.events(ctx, gameID, version)
	return func() error {
		for {
			line, err := lines.ReadSlice('\n')
			if err != nil || bytes.HasPrefix(line, []byte(`data: {"event"`)) {
				return err
			}
		}
	}, err
}

// events opens a stream of Server-Sent Events on its own connection.
func (p *process) events(ctx context.Context, gameID string, version int32) (*bufio.Reader, error) {
	url := "http://" + p.address + "/g/" + gameID + "/events?after_version=" + strconv.Itoa(int(version))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = response.Body.Close() })
	return bufio.NewReader(response.Body), nil
}

// audience is the watchers of a game.
type audience struct {
	waiting atomic.Int64 // watchers without the current event
	arrived chan struct{}
	failed  chan error
}

// publish calls publish and waits until every watcher has received its event.
func (a *audience) publish(b *testing.B, publish func()) {
	b.Helper()
	a.waiting.Store(watchers)
	publish()
	select {
	case <-a.arrived:
	case err := <-a.failed:
		b.Fatal("a stream ended: ", err)
	}
}

// read receives events until ctx is done.
func (a *audience) read(ctx context.Context, next func() error) {
	for {
		if err := next(); err != nil {
			if ctx.Err() == nil {
				a.failed <- err
			}
			return
		}
		if a.waiting.Add(-1) == 0 {
			a.arrived <- struct{}{}
		}
	}
}

// measureWatch measures the watchers whose streams kind opens.
func measureWatch(b *testing.B, kind func(server *process, i int) open) {
	b.Helper()
	server := startFile(b)
	p := newPlayer(b, server.dial(b), "ada")
	require.NoError(b, p.move())
	measure(b, server, func(ctx context.Context, i int) (func() error, error) {
		return kind(server, i)(ctx, p.game.GetId(), p.game.GetVersion())
	}, func() { require.NoError(b, p.move()) })
}

// measureWrite measures the least that Server-Sent Events can cost: one write(2) of the same bytes to
// each connection.
func measureWrite(b *testing.B) {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	server := startFile(b)
	p := newPlayer(b, server.dial(b), "ada")
	lines, err := server.events(ctx, p.game.GetId(), p.game.GetVersion())
	require.NoError(b, err)
	require.NoError(b, p.move())
	control := start(b, recordVariable+"="+readRecord(b, lines))
	measure(b, control, func(ctx context.Context, _ int) (func() error, error) {
		return control.watchEvents(ctx, p.game.GetId(), 0)
	}, func() { control.ask(b, "publish") })
}

// readRecord returns the first record of an event.
func readRecord(b *testing.B, lines *bufio.Reader) string {
	b.Helper()
	var record bytes.Buffer
	for {
		line, err := lines.ReadBytes('\n')
		require.NoError(b, err)
		record.Write(line)
		switch {
		case len(line) > 1:
		case bytes.Contains(record.Bytes(), []byte(`data: {"event"`)):
			return record.String()
		default:
			record.Reset()
		}
	}
}

// measure opens the watchers' streams, and measures the server's memory, and the processor time of
// events.
func measure(b *testing.B, server *process, open func(ctx context.Context, i int) (func() error, error), publish func()) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	a := &audience{arrived: make(chan struct{}, 1), failed: make(chan error, watchers)}
	memory := server.ask(b, "memory")
	for i := range watchers {
		next, err := open(ctx, i)
		require.NoError(b, err)
		go a.read(ctx, next)
	}
	for range 5 {
		a.publish(b, publish)
	}
	memory = server.ask(b, "memory") - memory
	before, events := server.ask(b, "work"), 0
	for b.Loop() {
		a.publish(b, publish)
		events++
	}
	b.ReportMetric((server.ask(b, "work")-before)/float64(events*watchers), "cpu-µs/event")
	b.ReportMetric(memory/watchers, "B/watcher")
}
