//go:build slow && unix

package bench

import (
	"bufio"
	"bytes"
	"context"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	connecttest "github.com/gridstand/gridstand/internal/testkit/connect"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// watchers is the number of watchers of one game. shared is how many of them share a connection, in
// the benchmark that shares them, as behind a proxy.
const (
	watchers = 2000
	shared   = 250
)

// BenchmarkWatch measures what a watcher costs: memory, and the processor time of an event. The time
// of an iteration is that from a move until every watcher has its event. Server-Sent Events are compared
// with the least that they can cost, one write(2) of the same bytes to each connection; the events of
// both alternate.
func BenchmarkWatch(b *testing.B) {
	b.Run("grpc", func(b *testing.B) {
		measureWatch(b, func(s *process, _ int) open { return s.watch(servertest.Dial(b, s.address)) })
	})
	b.Run("grpc_on_shared_connections", func(b *testing.B) {
		var conn *grpc.ClientConn
		measureWatch(b, func(s *process, i int) open {
			if i%shared == 0 {
				conn = servertest.Dial(b, s.address)
			}
			return s.watch(conn)
		})
	})
	b.Run("connect", func(b *testing.B) {
		measureWatch(b, func(s *process, _ int) open {
			return s.watch(connecttest.Dial(b, s.address, connecttest.Binary))
		})
	})
	b.Run("sse", measureEvents)
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
	url := "http://" + p.address.String() + "/g/" + gameID + "/events?after_version=" + strconv.Itoa(int(version))
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
	server  *process
	publish func()       // sends an event to every watcher
	memory  float64      // of a watcher
	waiting atomic.Int64 // watchers without the current event
	arrived chan struct{}
	failed  chan error
}

// newAudience opens the watchers' streams. They end with the benchmark.
func newAudience(b *testing.B, server *process, publish func(), open func(ctx context.Context, i int) (func() error, error)) *audience {
	b.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	b.Cleanup(cancel)
	a := &audience{server: server, publish: publish, arrived: make(chan struct{}, 1), failed: make(chan error, watchers)}
	before := server.ask(b, "memory")
	for i := range watchers {
		next, err := open(ctx, i)
		require.NoError(b, err)
		go a.read(ctx, next)
	}
	for range 5 {
		a.send(b)
	}
	a.memory = (server.ask(b, "memory") - before) / watchers
	return a
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

// send publishes an event and waits until every watcher has received it.
func (a *audience) send(b *testing.B) {
	b.Helper()
	a.waiting.Store(watchers)
	a.publish()
	select {
	case <-a.arrived:
	case err := <-a.failed:
		b.Fatal("a stream ended: ", err)
	}
}

// measure sends events to the audiences in turn, and returns the processor time of an event for each,
// in microseconds.
func measure(b *testing.B, all ...*audience) []float64 {
	b.Helper()
	used, events := make([]float64, len(all)), 0
	for i, a := range all {
		used[i] = -a.server.ask(b, "work")
	}
	for b.Loop() {
		for _, a := range all {
			a.send(b)
		}
		events++
	}
	for i, a := range all {
		used[i] = (used[i] + a.server.ask(b, "work")) / float64(events*watchers)
	}
	b.ReportMetric(used[0], "cpu-µs/event")
	b.ReportMetric(all[0].memory, "B/watcher")
	return used
}

// measureWatch measures the watchers whose streams kind opens.
func measureWatch(b *testing.B, kind func(server *process, i int) open) {
	b.Helper()
	server := startFile(b)
	p := newPlayer(b, servertest.Dial(b, server.address), "ada")
	measure(b, newAudience(b, server, func() { require.NoError(b, p.move()) }, func(ctx context.Context, i int) (func() error, error) {
		return kind(server, i)(ctx, p.game.GetId(), p.game.GetVersion())
	}))
}

// measureEvents measures Server-Sent Events.
func measureEvents(b *testing.B) {
	server := startFile(b)
	p := newPlayer(b, servertest.Dial(b, server.address), "ada")
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	lines, err := server.events(ctx, p.game.GetId(), p.game.GetVersion())
	require.NoError(b, err)
	require.NoError(b, p.move())
	control := start(b, recordVariable+"="+readRecord(b, lines))
	cancel()
	used := measure(b,
		newAudience(b, server, func() { require.NoError(b, p.move()) }, func(ctx context.Context, _ int) (func() error, error) {
			return server.watchEvents(ctx, p.game.GetId(), p.game.GetVersion())
		}),
		newAudience(b, control, func() { control.ask(b, "publish") }, func(ctx context.Context, _ int) (func() error, error) {
			return control.watchEvents(ctx, p.game.GetId(), 0)
		}))
	b.ReportMetric(used[1], "write-cpu-µs/event")
	b.ReportMetric(used[0]/used[1], "times-write")
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
