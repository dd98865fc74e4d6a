package web

import (
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// proxy forwards connections to a server, and can cut and stall them.
type proxy struct {
	net.Listener

	mu      sync.Mutex
	server  string // address of the server
	conns   map[net.Conn]struct{}
	budget  func() int // returns how many bytes a new connection may send to the browser before it is cut; nil for no cuts
	cuts    int
	resumed chan struct{} // closed when a stall ends; nil if there is none
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
		p.resume()
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
	responses := stallable{server, p}
	var requests sync.WaitGroup
	requests.Go(func() {
		_, _ = io.Copy(server, browser)
		_ = server.Close()
	})
	if limit < 0 {
		_, _ = io.Copy(browser, responses)
	} else if n, _ := io.CopyN(browser, responses, int64(limit)); n == int64(limit) {
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

// stallable reads from a server. During a stall, it holds back what it has just read and reads no
// more.
type stallable struct {
	server io.Reader
	proxy  *proxy
}

// Read implements io.Reader.
func (s stallable) Read(b []byte) (int, error) {
	n, err := s.server.Read(b)
	s.proxy.mu.Lock()
	resumed := s.proxy.resumed
	s.proxy.mu.Unlock()
	if resumed != nil {
		<-resumed
	}
	return n, err
}

// stall stops forwarding data to the browser until resume is called. The browser can still connect
// and send requests.
func (p *proxy) stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.resumed = make(chan struct{})
}

// resume ends a stall, if there is one.
func (p *proxy) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.resumed != nil {
		close(p.resumed)
		p.resumed = nil
	}
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
