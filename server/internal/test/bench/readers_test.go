//go:build slow

package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/gridstand/gridstand/internal/ratio"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// recordWriter writes the same record to all readers' connections, with one system call each. No
// event server can do less work than that.
type recordWriter struct {
	listener net.Listener
	record   []byte
	group    sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
	fds   []uintptr
}

func newRecordWriter(event *pb.Event) (*recordWriter, error) {
	data, err := protojson.Marshal(&pb.WatchResponse{Update: &pb.WatchResponse_Event{Event: event}})
	if err != nil {
		return nil, err
	}
	var record bytes.Buffer
	fmt.Fprintf(&record, "id: %d\ndata: ", event.GetVersion())
	if err := json.Compact(&record, data); err != nil {
		return nil, err
	}
	record.WriteString("\n\n")
	w := &recordWriter{record: record.Bytes()}
	if w.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	w.group.Go(w.serve)
	return w, nil
}

// serve answers each request with headers only, and keeps its connection for publish.
func (w *recordWriter) serve() {
	for {
		conn, err := w.listener.Accept()
		if err != nil {
			return
		}
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
			continue
		}
		raw, err := conn.(*net.TCPConn).SyscallConn()
		if err != nil {
			continue
		}
		w.mu.Lock()
		_ = raw.Control(func(fd uintptr) { w.fds = append(w.fds, fd) })
		w.conns = append(w.conns, conn)
		w.mu.Unlock()
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
	}
}

// publish writes the record to all readers. A reader that is too far behind gets only part of
// the record, and notices that when it reads the next one.
func (w *recordWriter) publish() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, fd := range w.fds {
		writeTo(fd, w.record)
	}
}

func (w *recordWriter) close() {
	_ = w.listener.Close()
	w.group.Wait()
	for _, conn := range w.conns {
		_ = conn.Close()
	}
}

// BenchmarkCostOfARecord measures the processor time that an event costs the server per reader
// of Server-Sent Events, each with its own connection. It compares that with a single write of
// the same bytes, and with the cost per gRPC watcher, each with its own connection. It also
// compares readers with TLS, which need a goroutine each, with readers without TLS.
func BenchmarkCostOfARecord(b *testing.B) {
	const readers = watchers / 4 // two games run at a time, and each reader needs a file descriptor
	const unit = "µs/event"
	server := startOurs(b)
	work := func(server *process, to watchedGame) ratio.Side {
		return func() float64 { return costOfAnEvent(b, server, "work", to) }
	}
	b.Run("beside_one_write", func(b *testing.B) {
		p := startedPlayer(b, server, "written")
		game := readGame(b, server, p, readers)
		plain := startBareProcess(b, writing, p.event)
		address := fmt.Sprintf("127.0.0.1:%d", int(plain.ask(b, "readers")))
		request := &pb.WatchRequest{GameId: p.game.GetId()}
		written := watchedGame{
			openAudience(b, address, watchPlan{requests: sameRequest(request, readers), perConnection: 1, events: true}),
			bareMove(plain.dial(b), p.event),
		}
		ratio.Compare(b, unit, ratio.AtMost(1.4), work(server, game), work(plain, written))
	})
	b.Run("beside_a_watcher_with_a_connection", func(b *testing.B) {
		read, watched := startedPlayer(b, server, "read"), startedPlayer(b, server, "watched")
		ratio.Compare(b, unit, ratio.AtMost(0.65),
			work(server, readGame(b, server, read, readers)),
			work(server, watchGame(b, server, watched, readers, 1)))
	})
	b.Run("with_TLS_beside_without", func(b *testing.B) {
		cert, key := servertest.Certificate(b)
		secure := startOurs(b, certVariable+"="+cert, keyVariable+"="+key)
		encrypted, plain := startedPlayer(b, secure, "encrypted"), startedPlayer(b, server, "plain")
		ratio.Compare(b, unit, ratio.Goal{},
			work(secure, readGame(b, secure, encrypted, readers)), work(server, readGame(b, server, plain, readers)))
	})
}
