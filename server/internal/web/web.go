// Package web implements the HTTP server. It serves the contract over Connect and
// gRPC-Web, games and challenges as Server-Sent Events, and the web pages. All calls run through the gRPC
// interceptors, so that authentication, limits and errors are the same as for gRPC.
package web

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/front"
	"github.com/gridstand/gridstand/server/internal/rpc"
	"github.com/gridstand/gridstand/server/internal/web/picture"
)

// Config configures the HTTP server. All fields are required unless their comments say
// otherwise.
type Config struct {
	Service *rpc.Service
	// Unary or Stream intercepts each call, as on the gRPC server.
	Unary  grpc.UnaryServerInterceptor
	Stream grpc.StreamServerInterceptor
	Logger *slog.Logger
	// Stall is how long the client of an event stream may read nothing before its connection is closed.
	Stall time.Duration
	// Origins is the set of origins whose pages may make calls with a token. It may be
	// empty.
	Origins Origins
	// Proxies are trusted to report the scheme of a request. It may be empty.
	Proxies front.Proxies
}

// Server is the HTTP server. Its event streams survive Shutdown and continue until Run
// ends.
type Server struct {
	*http.Server
	config Config
	group  sync.WaitGroup // of the event streams

	mu sync.Mutex
	// streams contains the event streams whose connections are hijacked from net/http.
	streams map[*eventStream]struct{}
	closed  bool
}

// Limits on connections whose clients send no request, or send it slowly.
const (
	headerTimeout  = 5 * time.Second
	requestTimeout = 10 * time.Second
	idleTimeout    = time.Minute
	// maxHeaderBytes limits a request's first line and headers to 16 kB: package net/http allows 4 kB
	// more than its limit.
	maxHeaderBytes = 12 << 10
)

// NewServer returns the HTTP server. The handlers get a connection's RemoteAddr as the
// peer of its requests, so the limits apply to that address. The caller must call Run.
func NewServer(c Config) *Server {
	s := &Server{config: c, streams: map[*eventStream]struct{}{}}
	s.Server = &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: headerTimeout, ReadTimeout: requestTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeaderBytes,
		ErrorLog:       slog.NewLogLogger(c.Logger.Handler(), slog.LevelDebug),
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return peer.NewContext(ctx, &peer.Peer{Addr: conn.RemoteAddr()})
		},
	}
	return s
}

// handler returns the handler of all requests.
func (s *Server) handler() http.Handler {
	c, mux := s.config, http.NewServeMux()
	registerConnect(mux, c)
	mux.Handle("GET /g/{id}/events", s.events(pb.GameService_Watch_FullMethodName, c.watchGame))
	mux.Handle("GET /c/{id}/events", s.events(pb.ChallengeService_WatchChallenge_FullMethodName, c.watchChallenge))
	for _, path := range []string{"/g/{id}/events", "/c/{id}/events"} {
		mux.HandleFunc(path, notRead)
	}
	drawn := &pictures{describe: c.describe, draw: picture.Draw, charge: c.Service.Charge}
	for kind := range pictured {
		mux.Handle("GET /"+kind+"/{id}/picture.png", drawn)
	}
	site := pages(c.about, c.Service.WebURL, len(c.Service.Challenges.Dailies) > 0)
	mux.Handle("GET /assets/{version}/{file}", site) // Without its files a page shows nothing, so they do not wait.
	mux.Handle("/", c.inTurn(site))
	return c.entry(crossOrigin{c.Origins, c.Service.WebURL, checkCalls(maxMessage(&c.Service.Limits), mux)})
}

// inTurn lets an address's requests for pages wait for each other and for its calls.
func (c Config) inTurn(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := c.Service.EnterCall(r.Context()); err != nil {
			WriteError(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// forwarded lists the headers that package rpc and the interceptors read, in lower case.
var forwarded = []string{"authorization", "content-type", "x-forwarded-for", "gridstand-ssh-key"}

// entry prepares each request: it copies the forwarded headers into the gRPC metadata in the request's
// context, tells browsers not to guess the type of the response, and logs panics that no interceptor
// handles, such as those in pages and pictures, which package net/http would mix with client errors in
// its log. X-Forwarded-Proto, which determines the scheme of the URLs in a page, counts only from a
// trusted proxy, because a cache may serve the page to others.
func (c Config) entry(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if err, _ := p.(error); !errors.Is(err, http.ErrAbortHandler) {
				rpc.LogPanic(c.Logger, r.URL.Path, p)
			}
			panic(http.ErrAbortHandler)
		}()
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if p, ok := peer.FromContext(r.Context()); !ok || !c.Proxies.Trusted(p.Addr) {
			r.Header.Del("X-Forwarded-Proto")
		}
		md := metadata.MD{}
		for _, name := range forwarded {
			md[name] = r.Header.Values(name)
		}
		next.ServeHTTP(w, r.WithContext(metadata.NewIncomingContext(r.Context(), md)))
	})
}
