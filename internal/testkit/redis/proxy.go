package redistest

import (
	"bytes"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"
)

// Proxy sits between clients and a server, usually Redis, and simulates network faults: it loses
// responses, delays them, and cuts connections. Its methods are safe for concurrent use.
type Proxy struct {
	listener net.Listener
	group    sync.WaitGroup

	mu      sync.Mutex
	target  string
	pairs   map[*pair]struct{}
	trouble [2]*Trouble   // by Way
	losing  int           // number of responses still to lose
	lost    chan struct{} // receives a token per lost response
	held    chan struct{} // closed when held responses may continue; nil if none are held
}

// Way is a direction of a proxy.
type Way int

// The directions of a proxy.
const (
	ToServer Way = iota
	ToClient
)

// Trouble is what is wrong with one direction of a proxy.
type Trouble struct {
	Delay, Jitter time.Duration // wait before passing on bytes
	Pieces        int           // pass on at most this many bytes at a time, if not 0
	Limit         int           // close a connection after this many bytes, if not 0
	Vanish        bool          // pass on nothing, but leave the connection open
	Cut, Reset    bool          // close, or reset, every connection
}

// pair is a client's connection to the proxy and the matching connection to the server.
type pair struct {
	client, server *net.TCPConn
	doomed         bool // lose the next response; guarded by Proxy.mu
}

func (p *pair) close() {
	_ = p.client.Close()
	_ = p.server.Close()
}

// StartProxy starts a proxy to the server at addr. It is stopped when the test ends.
func StartProxy(t testing.TB, addr string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("starting a proxy: %v", err)
	}
	p := &Proxy{
		listener: listener, target: addr, pairs: map[*pair]struct{}{}, trouble: [2]*Trouble{{}, {}}, lost: make(chan struct{}, 1024),
	}
	p.group.Go(p.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		p.Refuse()
		p.release()
		p.group.Wait()
	})
	return p
}

// Addr returns the address of the proxy.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Lose forwards the next n requests that run a script to the server, waits for each response, and then
// cuts the connection instead of forwarding the response. The returned channel receives a token for
// each.
func (p *Proxy) Lose(n int) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.losing = n
	return p.lost
}

// Hold delays all responses until release is called. The server keeps working.
func (p *Proxy) Hold() (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held == nil {
		p.held = make(chan struct{})
	}
	return p.release
}

func (p *Proxy) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held != nil {
		close(p.held)
		p.held = nil
	}
}

// Disturb makes one direction faulty until heal is called. heal closes the connections if bytes have
// vanished from them.
func (p *Proxy) Disturb(way Way, f Trouble) (heal func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trouble[way] = &f
	p.end(&f)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.trouble[way] = &Trouble{}
		p.end(&Trouble{Cut: f.Vanish})
	}
}

// Cut closes every connection, and ends the trouble of Refuse. Clients may reconnect immediately.
func (p *Proxy) Cut() {
	p.Refuse()
	p.Accept()
}

// Redirect sends new connections to the server at another address.
func (p *Proxy) Redirect(addr string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = addr
}

// Refuse closes every connection, including new ones, until Accept is called.
func (p *Proxy) Refuse() { p.Disturb(ToServer, Trouble{Cut: true}) }

// Accept accepts connections again after Refuse.
func (p *Proxy) Accept() { p.Disturb(ToServer, Trouble{}) }

// end closes or resets the open connections if the trouble is of that kind. The caller holds mu.
func (p *Proxy) end(f *Trouble) {
	for pair := range p.pairs {
		if f.Reset {
			_, _ = pair.client.SetLinger(0), pair.server.SetLinger(0)
		}
		if f.Cut || f.Reset {
			pair.close()
		}
	}
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		target := p.target
		p.mu.Unlock()
		server, err := net.Dial("tcp", target)
		if err != nil {
			_ = client.Close()
			continue
		}
		c := &pair{client: client.(*net.TCPConn), server: server.(*net.TCPConn)}
		p.mu.Lock()
		p.pairs[c] = struct{}{}
		p.end(p.trouble[ToServer])
		p.end(p.trouble[ToClient])
		p.mu.Unlock()
		p.group.Go(func() { p.pass(ToServer, c, c.client, c.server) })
		p.group.Go(func() {
			p.pass(ToClient, c, c.server, c.client)
			p.mu.Lock()
			defer p.mu.Unlock()
			delete(p.pairs, c)
		})
	}
}

// pass copies bytes in one direction until either connection is closed, and closes both.
func (p *Proxy) pass(way Way, c *pair, from, to net.Conn) {
	defer c.close()
	buffer, before, passed := make([]byte, 64<<10), (*Trouble)(nil), 0
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		f, held, over := p.judge(way, c, buffer[:n])
		if over {
			return
		}
		if held != nil {
			<-held
		}
		if f != before {
			before, passed = f, 0
		}
		if f.Vanish {
			continue
		}
		if f.Limit > 0 {
			n = min(n, f.Limit-passed)
		}
		passed += n
		if f.write(to, buffer[:n]) != nil || f.Limit > 0 && passed == f.Limit {
			return
		}
	}
}

// judge returns what happens to bytes of one direction: its trouble, a channel to wait for, and whether
// they are lost with their connection.
func (p *Proxy) judge(way Way, c *pair, b []byte) (f *Trouble, held <-chan struct{}, over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f = p.trouble[way]
	switch {
	case way == ToServer && p.losing > 0 && bytes.Contains(b, []byte("evalsha")):
		p.losing--
		c.doomed = true
	case way == ToClient && c.doomed:
		p.lost <- struct{}{} // has room for more than any test loses
		return f, nil, true
	case way == ToClient && p.held != nil:
		return f, p.held, false
	}
	return f, nil, false
}

// write writes the bytes late or in pieces.
func (f *Trouble) write(to net.Conn, b []byte) error {
	if late := f.Delay + rand.N(f.Jitter+1); late > 1 {
		<-time.After(late)
	}
	for f.Pieces > 0 && len(b) > f.Pieces {
		if _, err := to.Write(b[:f.Pieces]); err != nil {
			return err
		}
		b = b[f.Pieces:]
		<-time.After(100 * time.Microsecond)
	}
	_, err := to.Write(b)
	return err
}
