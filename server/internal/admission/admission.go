// Package admission limits the resources that clients use on a server: connections, gRPC
// streams and HTTP requests, the memory for their headers and responses, and the time
// that a request may take to arrive.
package admission

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/gridstand/gridstand/server/internal/periodic"
	"github.com/gridstand/gridstand/server/internal/ratelimit"
	"github.com/gridstand/gridstand/server/limits"
)

const (
	// sweepEvery is how often the server looks for streams whose request has not arrived.
	// A stream's age is measured in sweeps, so that a server short of processor time does
	// not blame its own delays on the client.
	sweepEvery = 250 * time.Millisecond
	// requestTimeout is the maximum time, in sweeps, between the arrival of a stream's
	// headers and that of its request.
	requestTimeout = int64(5 * time.Second / sweepEvery)
	// lateAfter is the time, in sweeps, after which a stream counts as late if its handler
	// is still waiting for the request. Few streams are late, because most requests arrive
	// together with their headers.
	lateAfter = int64(2)
	// maxWaiting is how many streams of an address may wait for their request, including those
	// that are not late. Otherwise a client could open hundreds of thousands before they are late.
	maxWaiting = 4096
	// retryAfter is how long a client over a limit should wait before it retries.
	retryAfter = 5 * time.Second
	// The next read from a connection is delayed by refusedPenalty for each stream that
	// was refused before its request arrived, and by callPenalty for each refused or
	// canceled call, up to maxPenalty.
	refusedPenalty = 5 * time.Millisecond
	callPenalty    = time.Millisecond
	maxPenalty     = 250 * time.Millisecond
	// An address may make failuresPerSecond mistakes a second, such as malformed HTTP requests, with
	// a burst of ten seconds' worth. Otherwise these requests, which fail before another limit
	// counts them, could keep the server busy. Connections with further mistakes are treated
	// like those with refused calls.
	failuresPerSecond = 200
	// A connection may hold 1/connectionShare of the bytes that its address may hold.
	// While the address is over its limit, each of its connections may hold only
	// littleHeld bytes. A connection that holds more is closed.
	connectionShare = 8
	littleHeld      = 128 << 10
	// largeAnswer is the size in bytes above which a response is dropped if the client is
	// behind a proxy and the response would put the client's address over its limit on
	// held bytes.
	largeAnswer = 16 << 10
)

// Config configures a Control. All fields are required.
type Config struct {
	Limits *limits.Limits
	// Proxies are trusted to report the addresses of their clients.
	Proxies ratelimit.Proxies
	// Refuse returns the error with the status to send for an exceeded limit. Answer
	// responds to an HTTP request with such an error.
	Refuse func(*limits.ExceededError) error
	Answer func(http.ResponseWriter, *http.Request, error)
	// Stall is the maximum time that a client may take to read part of an HTTP response.
	Stall time.Duration
	// Stopping is the error that calls get while the server is stopping.
	Stopping error
	// Closed is called for each connection that is closed because of a limit. Refused is
	// called for each stream that a limit refuses before its request has arrived. Both
	// receive the name of the limit and the client's address.
	Closed, Refused func(limit, address string)
}

// Control decides which connections, streams and requests a server accepts. It is the
// listener of the gRPC server, which must be created with its Options and Credentials, and
// whose services must be registered through its Registrar. An HTTP server serves Handler on
// the HTTP connections.
type Control struct {
	net.Listener
	Config
	pace        *ratelimit.Pacer // for new connections
	reflections *ratelimit.Pacer
	failures    *ratelimit.Pacer // for mistakes
	input       *ratelimit.Pacer // for bytes
	http        *httpListener
	refusals    map[*int]string // texts, by the limits that are exceeded

	// addresses holds the addresses that have open connections, forwarded calls or unread
	// responses to these.
	addresses *ratelimit.Addresses[*addressState]

	mu    sync.Mutex
	conns map[*conn]struct{}

	sweeps                 atomic.Int64
	stopping               atomic.Bool
	handlers               atomic.Int64 // HTTP handlers that have not returned
	open, waiting, running atomic.Int64 // counts of streams and HTTP requests; see Streams and Running
}

// addressState counts what the clients of an address use now. The table refusals names the limits.
type addressState struct {
	key           string
	connections   atomic.Int64 // open connections
	open          atomic.Int64 // streams and HTTP requests
	waiting       atomic.Int64 // of these, those whose request has not arrived
	late          atomic.Int64 // of these, those whose request has not arrived in time
	held          atomic.Int64 // size of the headers of open streams and of unread responses, in bytes
	healthWatches atomic.Int64 // streams that watch the server's health
	reflections   atomic.Int64 // reflection streams
	sse           atomic.Int64 // HTTP requests for Server-Sent Events
	// busy is the number of calls over HTTP/2 that the server works on: those whose handler has
	// not begun, and those whose request has arrived, except streams.
	busy    atomic.Int64
	parsing atomic.Int64  // bytes that the server has read and may not have parsed yet
	input   *rate.Limiter // for bytes
	turn    chan struct{} // has one element while it is a connection's turn
}

// New returns a Control for the listener's connections. The caller must call Run.
func New(l net.Listener, c Config) *Control {
	control := &Control{
		Listener: l, Config: c,
		pace:        ratelimit.PerSecond(c.Limits.NewConnectionsPerAddressPerSecond),
		reflections: ratelimit.PerSecond(c.Limits.ReflectionsPerAddressPerSecond),
		failures:    ratelimit.PerSecond(failuresPerSecond),
		input:       ratelimit.NewPacer(bytesPerSecond, burstSeconds*bytesPerSecond),
		conns:       map[*conn]struct{}{},
		http:        newHTTPListener(l),
		refusals:    refusals(c.Limits),
	}
	control.addresses = ratelimit.NewAddresses(func(key string) *addressState {
		return &addressState{key: key, input: control.input.Limiter(key), turn: make(chan struct{}, 1)}
	})
	control.sweeps.Store(1) // Start at 1, because a call.began of 0 means that no handler is waiting yet.
	return control
}

// Run ends streams whose request does not arrive in time, until ctx is done.
func (c *Control) Run(ctx context.Context) {
	periodic.Run(ctx, sweepEvery, c.sweep)
}

// Connections returns the number of open connections.
func (c *Control) Connections() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.conns)
}

// Clients estimates the number of connected programs and browsers: each gRPC connection is
// a program, and an address with only HTTP connections is a browser.
func (c *Control) Clients() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	clients := map[*addressState]int{}
	for one := range c.conns {
		if !one.dispatched.Load() && !one.handshaking.Load() {
			clients[one.from]++
		}
	}
	for one := range c.conns {
		if one.dispatched.Load() && clients[one.from] == 0 {
			clients[one.from] = 1
		}
	}
	total := 0
	for _, n := range clients {
		total += n
	}
	return total
}

// Close implements net.Listener.
func (c *Control) Close() error {
	_ = c.http.Close()
	return c.Listener.Close()
}

// Streams returns the number of open streams and HTTP requests, and the number of those for
// which the server has not yet received the whole request.
func (c *Control) Streams() (open, waiting int) { return int(c.open.Load()), int(c.waiting.Load()) }

// Running returns the number of unary calls and HTTP requests that the server is handling.
// It excludes those that are waiting for the client to send the request or to read the
// response.
func (c *Control) Running() int { return int(c.running.Load()) }

// Stop refuses new HTTP requests; rpc refuses calls. It also closes connections that are in their
// handshake, because gRPC would wait for them.
func (c *Control) Stop() {
	c.stopping.Store(true)
	for _, conn := range c.all() {
		if conn.handshaking.Load() {
			_ = conn.Close()
		}
	}
}

// CloseAll closes every connection together with its calls.
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
