package web

import (
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// proxy forwards connections to a server and can cut them.
type proxy struct {
	net.Listener

	mu      sync.Mutex
	server  string // address of the server
	conns   map[net.Conn]struct{}
	budget  func() int // returns how many bytes a new connection may send to the browser before it is cut; nil for no cuts
	cuts    int
	running sync.WaitGroup
}

// startProxy starts a proxy in front of a server. It is stopped when the test ends.
func startProxy(t testing.TB, server string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{Listener: l, server: server, conns: map[net.Conn]struct{}{}}
	p.running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p.running.Go(func() { p.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		p.cutAll()
		p.running.Wait()
	})
	return p
}

func (p *proxy) address() string { return p.Addr().String() }

// serve forwards one connection.
func (p *proxy) serve(browser net.Conn) {
	defer func() { _ = browser.Close() }()
	p.mu.Lock()
	address := p.server
	p.mu.Unlock()
	server, err := net.Dial("tcp", address)
	if err != nil {
		return // The server is unavailable; the browser must handle that.
	}
	defer func() { _ = server.Close() }()
	p.mu.Lock()
	p.conns[browser] = struct{}{}
	limit := -1
	if p.budget != nil {
		limit = p.budget()
	}
	p.mu.Unlock()
	var requests sync.WaitGroup
	requests.Go(func() {
		_, _ = io.Copy(server, browser)
		_ = server.Close()
	})
	if limit < 0 {
		_, _ = io.Copy(browser, server)
	} else if n, _ := io.CopyN(browser, server, int64(limit)); n == int64(limit) {
		p.mu.Lock()
		p.cuts++
		p.mu.Unlock()
	}
	_ = browser.Close()
	requests.Wait()
	p.mu.Lock()
	delete(p.conns, browser)
	p.mu.Unlock()
}

// cutAll closes all connections.
func (p *proxy) cutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		_ = conn.Close()
	}
}

// cutAfter cuts all open connections. It also cuts each later one once the browser has received as
// many bytes as the given function returned for that connection.
func (p *proxy) cutAfter(bytes func() int) {
	p.mu.Lock()
	p.budget = bytes
	p.mu.Unlock()
	p.cutAll()
}

// cut returns the number of connections that reached their limit and were cut.
func (p *proxy) cut() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cuts
}
