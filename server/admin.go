package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"
)

// admin serves metrics, health checks and profiles to operators, on a separate address.
type admin struct {
	listener net.Listener
	server   *http.Server
}

// readyWithin is how long the store may take to answer a readiness check.
const readyWithin = time.Second

// newAdmin listens on the metrics address. /healthz reports the result of healthy. /readyz
// reports the result of ready, including the error that explains why the server is not ready.
func newAdmin(c Config, logger *slog.Logger, metrics http.Handler, healthy func() bool, ready func(context.Context) error) (*admin, error) {
	listener, err := listen("metrics", c.Metrics)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		if !healthy() {
			http.Error(w, "not serving", http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("serving\n"))
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), readyWithin)
		defer cancel()
		if err := ready(ctx); err != nil {
			http.Error(w, "not ready: "+err.Error(), http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ready\n"))
	})
	// cmdline is omitted because it would reveal the password in --store.
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return &admin{listener: listener, server: &http.Server{
		Handler:           withoutPages(mux),
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}}, nil
}

// withoutPages refuses requests that a browser sends for another site's page.
func withoutPages(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") == "cross-site" {
			http.Error(w, "not for other sites' pages", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// run serves until ctx is done. At that point, it aborts any profile that is still being recorded.
func (a *admin) run(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { _ = a.server.Close() })()
	if err := a.server.Serve(a.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
