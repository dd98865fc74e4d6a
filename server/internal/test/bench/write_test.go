//go:build slow && unix

package bench

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync"
	"syscall"
)

// recordWriter writes the same record to all readers' connections, with one system call each. No
// event server can do less work than that.
type recordWriter struct {
	record []byte

	mu    sync.Mutex
	conns []net.Conn // keep the descriptors open
	fds   []uintptr
}

// writeRecords accepts readers, and writes the record to all of them when asked.
func writeRecords(record []byte) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }()
	w := &recordWriter{record: record}
	go w.accept(listener)
	answer(listener.Addr(), w.publish)
	return nil
}

// accept answers each request with headers only, and keeps its connection for publish.
func (w *recordWriter) accept(listener net.Listener) {
	for {
		conn, err := listener.Accept()
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

func (w *recordWriter) publish() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, fd := range w.fds {
		_, _ = syscall.Write(int(fd), w.record)
	}
}
