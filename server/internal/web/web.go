// Package web is the HTTP door of a server: the contract by Connect and gRPC-Web, games as
// Server-Sent Events, and the page. Its calls run through the interceptors of gRPC, so
// that authentication, limits and errors are the same.
package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/gridstand/gridstand/server/internal/rpc"
	"github.com/gridstand/gridstand/server/limits"
)

// Config configures the door. All fields are required, unless they say otherwise.
type Config struct {
	Service *rpc.Service
	// Unary and Stream are the interceptors of the gRPC server.
	Unary  []grpc.UnaryServerInterceptor
	Stream []grpc.StreamServerInterceptor
	Limits *limits.Limits
	Logger *slog.Logger
	// AdmitEvents counts a stream of events for the address of a call until release is
	// called, or returns the error for a limit that it exceeds. It may be nil.
	AdmitEvents func(ctx context.Context) (release func(), err error)
	// Origins are those whose pages may make calls with a token; there may be none.
	Origins Origins
}

// Server is the HTTP server of the door. Its streams of events go on after it has shut
// down, until Run ends.
type Server struct {
	*http.Server
	readers *readers
}

// Run ends the streams of clients that have gone, until ctx ends. Then it ends all streams
// of events and waits for them.
func (s *Server) Run(ctx context.Context) { s.readers.watch(ctx) }

// Limits on connections that send no request, or a slow one.
const (
	headerTimeout  = 5 * time.Second
	requestTimeout = 10 * time.Second
	idleTimeout    = time.Minute
	maxHeaderBytes = 16 << 10
)

// NewServer returns the HTTP server of the door. It serves on connections whose remote
// address is the one that the limits count. The caller runs Run.
func NewServer(c Config) *Server {
	r := &readers{service: c.Service}
	return &Server{newHTTPServer(c, r), r}
}

func newHTTPServer(c Config, r *readers) *http.Server {
	return &http.Server{
		Handler:           newHandler(c, r),
		ReadHeaderTimeout: headerTimeout, ReadTimeout: requestTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeaderBytes,
		ErrorLog:       slog.NewLogLogger(c.Logger.Handler(), slog.LevelDebug),
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return peer.NewContext(ctx, &peer.Peer{Addr: conn.RemoteAddr()})
		},
	}
}

func newHandler(c Config, r *readers) http.Handler {
	mux := http.NewServeMux()
	registerConnect(mux, c)
	mux.Handle("GET /g/{id}/events", &events{c, r, chainStream(c.Stream)})
	mux.Handle("GET /g/{id}/picture.png", newPictures(c.game, c.Service.Address))
	mux.HandleFunc("GET /apple-touch-icon.png", touchIcon)
	mux.Handle("/", pages(c.about))
	return c.withPanics(withText(crossOrigin{c.Origins, checkCalls(c.withScheme(withMetadata(mux)))}))
}

// withPanics logs panics that no interceptor turns into an answer, such as those of pages
// and pictures. Package net/http logs them where it also logs what clients do wrong.
func (c Config) withPanics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if err, _ := p.(error); !errors.Is(err, http.ErrAbortHandler) {
				c.Logger.Error("panic in a call", "id", "call-panicked",
					"call", r.URL.Path, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			}
			panic(http.ErrAbortHandler)
		}()
		next.ServeHTTP(w, r)
	})
}

// forwarded are the headers that the interceptors read, in lower case.
var forwarded = []string{"authorization", "x-forwarded-for", "gridstand-ssh-key"}

// withMetadata puts the headers that the interceptors read where gRPC puts them.
func withMetadata(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		md := metadata.MD{}
		for _, name := range forwarded {
			if values := r.Header.Values(name); len(values) > 0 {
				md[name] = values
			}
		}
		next.ServeHTTP(w, r.WithContext(metadata.NewIncomingContext(r.Context(), md)))
	})
}

// chainUnary makes one interceptor of several. The first is the outermost.
func chainUnary(all []grpc.UnaryServerInterceptor) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		for i := len(all) - 1; i >= 0; i-- {
			next, interceptor := handler, all[i]
			handler = func(ctx context.Context, request any) (any, error) {
				return interceptor(ctx, request, info, next)
			}
		}
		return handler(ctx, request)
	}
}

// chainStream is chainUnary for streams.
func chainStream(all []grpc.StreamServerInterceptor) grpc.StreamServerInterceptor {
	return func(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		for i := len(all) - 1; i >= 0; i-- {
			next, interceptor := handler, all[i]
			handler = func(server any, stream grpc.ServerStream) error {
				return interceptor(server, stream, info, next)
			}
		}
		return handler(server, stream)
	}
}
