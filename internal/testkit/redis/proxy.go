package redistest

import (
	"bytes"
	"net"
	"sync"
	"testing"
)

// Proxy sits between clients and a Redis server and simulates network faults: it loses responses,
// delays them, and cuts connections. Its methods are safe for concurrent use.
type Proxy struct {
	listener net.Listener
	group    sync.WaitGroup

	mu      sync.Mutex
	target  string
	pairs   map[*pair]struct{}
	losing  int           // number of responses still to lose
	marker  []byte        // substring of the requests whose responses are lost
	lost    chan struct{} // receives a token per lost response
	held    chan struct{} // closed when held responses may continue; nil if none are held
	refused bool
}

// pair is a client's connection to the proxy and the matching connection to Redis.
type pair struct {
	client, server net.Conn
	doomed         bool // lose the next response; guarded by Proxy.mu
}

func (p *pair) close() {
	_ = p.client.Close()
	_ = p.server.Close()
}

// StartProxy starts a proxy to the Redis server at addr. It is stopped when the test ends.
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

// Addr returns the address of the proxy.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Lose forwards the next n requests that contain marker to Redis, waits for each response, and then
// cuts the connection instead of forwarding the response. The returned channel receives a token for
// each.
func (p *Proxy) Lose(n int, marker string) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.losing, p.marker = n, []byte(marker)
	return p.lost
}

// Hold delays all responses until release is called. Redis keeps working.
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

// Cut closes every connection. Clients may reconnect immediately.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for pair := range p.pairs {
		pair.close()
	}
}

// Redirect sends new connections to the Redis server at another address.
func (p *Proxy) Redirect(addr string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = addr
}

// Refuse closes every connection, including new ones, until Accept is called.
func (p *Proxy) Refuse() {
	p.mu.Lock()
	p.refused = true
	p.mu.Unlock()
	p.Cut()
}

// Accept accepts connections again after Refuse.
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
		doomed, held := c.doomed, p.held
		p.mu.Unlock()
		if doomed {
			select {
			case p.lost <- struct{}{}:
			default: // No test reads the tokens.
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
