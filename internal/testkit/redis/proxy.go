package redistest

import (
	"bytes"
	"net"
	"sync"
	"testing"
)

// Proxy stands between clients and a Redis and does what networks do: it loses
// answers, keeps them back, and cuts connections. Its methods are safe for
// concurrent use.
type Proxy struct {
	listener net.Listener
	group    sync.WaitGroup

	mu      sync.Mutex
	target  string
	pairs   map[*pair]struct{}
	losing  int           // requests whose answers are still to be lost
	marker  []byte        // that those requests contain
	sever   bool          // refuse everything after the next lost answer
	lost    chan struct{} // gets a token per answer lost
	held    chan struct{} // nil, or closed when answers may go on
	refused bool
}

// pair is one connection of a client and its other half.
type pair struct {
	client, server net.Conn
	doomed         bool // the next answer is lost; guarded by Proxy.mu
}

func (p *pair) close() {
	_ = p.client.Close()
	_ = p.server.Close()
}

// StartProxy starts a proxy to the Redis at addr that ends with the test.
func StartProxy(t testing.TB, addr string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("starting a proxy: %v", err)
	}
	p := &Proxy{listener: listener, target: addr, pairs: map[*pair]struct{}{}, lost: make(chan struct{}, 1024)}
	p.group.Go(p.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		p.Refuse()
		p.release()
		p.group.Wait()
	})
	return p
}

// Addr is where clients find the proxy.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Lose lets the next n requests that contain marker through to Redis, waits
// until it has answered, and then cuts the connection instead of passing the
// answer on. The channel gets a token for each.
func (p *Proxy) Lose(n int, marker string) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.losing, p.marker, p.sever = n, []byte(marker), false
	return p.lost
}

// Sever does to one request what Lose does, and then Refuse: all that the
// client never learns of, and can do nothing about, is what Redis made of that
// request and those before it.
func (p *Proxy) Sever(marker string) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.losing, p.marker, p.sever = 1, []byte(marker), true
	return p.lost
}

// Hold keeps all answers back until release is called. Redis goes on working.
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

// Cut closes every connection; clients may reconnect immediately.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for pair := range p.pairs {
		pair.close()
	}
}

// Redirect takes new connections to the Redis at another address.
func (p *Proxy) Redirect(addr string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = addr
}

// Refuse cuts every connection, and every new one, until Accept.
func (p *Proxy) Refuse() {
	p.mu.Lock()
	p.refused = true
	p.mu.Unlock()
	p.Cut()
}

// Accept ends Refuse.
func (p *Proxy) Accept() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refused = false
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
		c := &pair{client: client, server: server}
		p.mu.Lock()
		if p.refused {
			p.mu.Unlock()
			c.close()
			continue
		}
		p.pairs[c] = struct{}{}
		p.mu.Unlock()
		p.group.Go(func() { p.requests(c) })
		p.group.Go(func() {
			defer func() {
				p.mu.Lock()
				delete(p.pairs, c)
				p.mu.Unlock()
			}()
			p.answers(c)
		})
	}
}

func (p *Proxy) requests(c *pair) {
	defer c.close()
	buffer := make([]byte, 64*1024)
	for {
		n, err := c.client.Read(buffer)
		if err != nil {
			return
		}
		p.mu.Lock()
		if p.losing > 0 && bytes.Contains(buffer[:n], p.marker) {
			p.losing--
			c.doomed = true
		}
		p.mu.Unlock()
		if _, err := c.server.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func (p *Proxy) answers(c *pair) {
	defer c.close()
	buffer := make([]byte, 64*1024)
	for {
		n, err := c.server.Read(buffer)
		if err != nil {
			return
		}
		p.mu.Lock()
		doomed, sever, held := c.doomed, p.sever, p.held
		p.mu.Unlock()
		if doomed {
			if sever {
				p.Refuse()
			}
			select {
			case p.lost <- struct{}{}:
			default: // Nobody counts.
			}
			return
		}
		if held != nil {
			<-held
		}
		if _, err := c.client.Write(buffer[:n]); err != nil {
			return
		}
	}
}
