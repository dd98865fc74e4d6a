// Package admission bounds what clients hold open on a server: connections, streams of
// gRPC and requests by HTTP, the headers and answers kept for them, and the time until a
// request arrives.
package admission

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gridstand/gridstand/server/internal/periodic"
	"github.com/gridstand/gridstand/server/internal/ratelimit"
	"github.com/gridstand/gridstand/server/limits"
)

const (
	// sweepEvery is how often streams without a request are checked. Ages of streams
	// are counted in sweeps, so that a process that was starved does not blame its
	// own delay on the client.
	sweepEvery = 250 * time.Millisecond
	// requestTimeout is how long a request may take to arrive after its headers.
	requestTimeout = int64(5 * time.Second / sweepEvery)
	// lateAfter is when a stream whose handler waits for the request starts to
	// count as one without a request. Most requests arrive with their headers.
	lateAfter = int64(2)
	// retryAfter is when a client that holds too much open should try again.
	retryAfter = 5 * time.Second
	// The next read of a connection is delayed by refusedPenalty for each stream that
	// was refused before its request arrived, and by callPenalty for each call that
	// was refused or cancelled; in total by maxPenalty at most.
	refusedPenalty = 5 * time.Millisecond
	callPenalty    = time.Millisecond
	maxPenalty     = 250 * time.Millisecond
	// A connection may hold one in connectionShare of the bytes that its address may
	// hold. If the address exceeds its limit, connections that hold more than
	// littleHeld are closed.
	connectionShare = 8
	littleHeld      = 128 << 10
	// largeAnswer is the size from which an answer is dropped if its address is behind
	// a proxy and would exceed its limit on bytes.
	largeAnswer = 16 << 10
)

// Config configures a Control. All fields are required.
type Config struct {
	Limits *limits.Limits
	// Proxies are trusted to name the address of a call.
	Proxies ratelimit.Proxies
	// Refuse returns the status for a limit that was exceeded, and Answer answers a
	// request by HTTP with a status.
	Refuse func(*limits.ExceededError) error
	Answer func(http.ResponseWriter, *http.Request, error)
	// Stall is how long a client may take to read a part of an answer by HTTP.
	Stall time.Duration
	// Stopping is the status for calls to a server that is stopping.
	Stopping error
	// Closed is called for each connection that is closed because of a limit, and
	// Refused for each stream that is refused because of one before its request has
	// arrived, with the limit's name and the address that it is counted for.
	Closed, Refused func(limit, address string)
}

// Control accepts connections, streams and requests. It is the listener of a gRPC server
// that was made with its Options and Credentials and whose services are registered
// through it. An HTTP server serves Handler on the connections of HTTP.
type Control struct {
	net.Listener
	Config
	pace        *ratelimit.Pacer // of new connections
	reflections *ratelimit.Pacer
	http        *httpListener

	// addresses have connections or forwarded calls.
	addresses *ratelimit.Addresses[*addressState]

	mu    sync.Mutex
	conns map[*conn]struct{}

	sweeps                 atomic.Int64
	stopping               atomic.Bool
	handlers               atomic.Int64 // of HTTP
	open, waiting, running atomic.Int64 // streams and requests; running are unary calls with their request
}

// addressState counts what an address has open.
type addressState struct {
	key         string
	connections atomic.Int64
	// open counts all streams and requests, and late those of which a part has not
	// arrived in time.
	// held is the size of the headers of open streams and of unread answers.
	open, late, held           atomic.Int64
	healthWatches, reflections atomic.Int64
	sse                        atomic.Int64 // requests for Server-Sent Events
}

// New returns a Control for the connections of a listener. The caller runs Run.
func New(l net.Listener, c Config) *Control {
	control := &Control{
		Listener: l, Config: c,
		pace:        ratelimit.PerSecond(c.Limits.NewConnectionsPerAddressPerSecond),
		reflections: ratelimit.PerSecond(c.Limits.ReflectionsPerAddressPerSecond),
		addresses:   ratelimit.NewAddresses(func(key string) *addressState { return &addressState{key: key} }),
		conns:       map[*conn]struct{}{},
		http:        newHTTPListener(l),
	}
	control.sweeps.Store(1) // 0 stands for never.
	return control
}

// Run ends streams whose request does not arrive, until ctx ends.
func (c *Control) Run(ctx context.Context) {
	periodic.Run(ctx, sweepEvery, c.sweep)
}

// Connections returns how many connections are open.
func (c *Control) Connections() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.conns)
}

// Close implements net.Listener.
func (c *Control) Close() error {
	_ = c.http.Close()
	return c.Listener.Close()
}

// Streams returns how many streams and requests by HTTP are open, and how many of them
// wait for a part of the request.
func (c *Control) Streams() (open, waiting int) { return int(c.open.Load()), int(c.waiting.Load()) }

// Running returns how many unary calls and requests by HTTP are running. It leaves out
// those that wait for the client, which sends the request or reads the answer.
func (c *Control) Running() int { return int(c.running.Load()) }

// Stop refuses new streams, and closes connections during their handshake, for which
// gRPC would wait.
func (c *Control) Stop() {
	c.stopping.Store(true)
	for _, conn := range c.all() {
		if conn.handshaking.Load() {
			_ = conn.Close()
		}
	}
}

// CloseAll closes every connection, with the calls on it.
func (c *Control) CloseAll() {
	for _, conn := range c.all() {
		_ = conn.Close()
	}
}

func (c *Control) all() []*conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]*conn, 0, len(c.conns))
	for conn := range c.conns {
		all = append(all, conn)
	}
	return all
}

// exceeds reports whether n is over a limit; a limit of 0 is never exceeded.
func exceeds(n int64, limit int) bool { return limit > 0 && n > int64(limit) }
