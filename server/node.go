package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	middleware "github.com/grpc-ecosystem/go-grpc-middleware/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/internal/version"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/admission"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/heartbeat"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
	"github.com/gridstand/gridstand/server/internal/lifecycle"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/metrics"
	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/ratelimit"
	"github.com/gridstand/gridstand/server/internal/recovery"
	"github.com/gridstand/gridstand/server/internal/rpc"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/web"
)

// node is the parts of one server, connected to each other.
type node struct {
	Config
	logger  *slog.Logger
	metrics *metrics.Metrics
	// refusals counts and logs refused calls.
	refusals *refusals

	store     *store.Store
	log       *gamelog.Log // as callers read it
	directory *directory.Directory
	heartbeat *heartbeat.Monitor
	recovery  *recovery.Recovery
	lifecycle *lifecycle.Manager
	hub       *match.Hub

	grpc *grpc.Server
	web  *web.Server
	// webListener is what web serves on, nil if HTTP is not served.
	webListener net.Listener
	health      *health.Server
	// lingering ends when health watchers have had time to learn that the server
	// stops.
	lingering context.Context
	endLinger context.CancelFunc

	proxies ratelimit.Proxies
	// storeAnswers is whether the store answered the monitor's last ping.
	storeAnswers atomic.Bool
	admission    *admission.Control
	admin        *admin // nil without metrics
}

// open makes all parts and waits for the store. After an error it leaves nothing open.
func open(ctx context.Context, c Config) (_ *node, err error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	n := &node{Config: c, metrics: metrics.New(version.Version, version.Commit)}
	n.lingering, n.endLinger = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			n.close()
		}
	}()
	if err := c.validate(); err != nil {
		return nil, err
	}
	n.logger = c.NewLogger()
	n.refusals = newRefusals(n.metrics, n.logger)
	encryption, webEncryption, err := tlsConfigs(c, n.logger)
	if err != nil {
		return nil, err
	}
	transport := transportOptions(c)
	if n.store, err = c.openStore(ctx, n.logger); err != nil {
		return nil, err
	}
	if err := n.listen(webEncryption); err != nil {
		return nil, err
	}
	n.connect(append(transport, grpc.Creds(n.admission.Credentials(encryption))))
	if c.Metrics != "" {
		if n.admin, err = newAdmin(c, n.logger, n.metrics.Handler(), n.healthy, n.ready); err != nil {
			return nil, err
		}
	}
	if n.store.Shared() {
		err = n.heartbeat.Join(ctx)
	} else {
		// A list, which does not write otherwise, would have to later: on a full disk, too.
		_ = page.NewTokens(n.store.Secrets).Prepare(ctx)
	}
	return n, err
}

// listen uses the configured listener, or makes one, and one for HTTP if it has an address
// of its own.
func (n *node) listen(webEncryption *tls.Config) (err error) {
	if n.proxies, err = ratelimit.ParseProxies(n.Proxies); err != nil {
		return &ConfigError{"proxies", err}
	}
	inner := n.Listener
	if inner == nil {
		if inner, err = net.Listen("tcp", n.Listen); err != nil {
			return err
		}
	}
	n.admission = admission.New(inner, admission.Config{
		Limits: &n.Limits, Proxies: n.proxies, Refuse: rpc.Refuse, Stopping: rpc.ErrStopping,
		Answer: web.Refuse, Stall: n.Stall,
		Closed: n.refusals.closed, Refused: n.refusals.refused,
	})
	if n.webListener, err = n.listenWeb(webEncryption); err != nil {
		return err
	}
	n.metrics.Connections(n.admission.Connections)
	n.metrics.Streams(n.admission.Streams)
	return nil
}

// listenWeb returns the listener for HTTP, nil if there is none.
func (n *node) listenWeb(encryption *tls.Config) (net.Listener, error) {
	if n.Web == "" {
		return n.admission.HTTP(), nil
	}
	_ = n.admission.HTTP().Close() // It closes what does not speak gRPC.
	if n.Web == NoWeb {
		return nil, nil
	}
	inner, err := net.Listen("tcp", n.Web)
	if err != nil {
		return nil, err
	}
	if encryption == nil {
		return n.admission.Beside(inner), nil
	}
	return tls.NewListener(n.admission.Beside(inner), encryption), nil
}

// webAddr returns the address on which HTTP is served, nil if it is not.
func (n *node) webAddr() net.Addr {
	if n.webListener == nil {
		return nil
	}
	return n.webListener.Addr()
}

// connect makes the packages of the server and the gRPC server above them.
func (n *node) connect(transport []grpc.ServerOption) {
	c := n.Config.recovery(n.store, n.logger)
	serverID := id.New()
	n.heartbeat = heartbeat.New(heartbeat.Config{
		ServerID: serverID, Heartbeats: c.Heartbeats, Logger: n.logger, OnMissing: c.Scheduler.Reclaim,
		Alone: !n.store.Shared(), Keep: n.keepOutages(),
	})
	c.Heartbeat = n.heartbeat
	n.recovery, n.directory = recovery.New(c), c.Directory
	n.lifecycle = lifecycle.New(lifecycle.Config{
		Exhibitions: n.store.Background.Exhibitions, Log: c.Log, Accounts: c.Accounts, Leaderboard: c.Leaderboard, Directory: c.Directory,
		Scheduler: c.Scheduler, Heartbeat: c.Heartbeat, Logger: n.logger,
		AbandonAfter: n.AbandonAfter, WaitingFor: n.WaitingFor, OnlyUptime: n.OnlyUptime, KeepFinished: n.KeepFinished,
		Limits: n.Limits, PauseAfter: n.PauseAfter, Showcase: n.Exhibition, BotPace: n.BotPace, Recorded: n.metrics.Recorded,
	})
	n.log = gamelog.New(n.store.Games)
	n.hub = match.NewHub(match.Config{
		Log: n.log, Feed: n.store.Feed, Transactional: n.store.Transactional(), Agenda: n.lifecycle, Observer: observer{n.metrics, n.directory},
		Logger: n.logger, ServerID: serverID, Idle: n.Idle, Stall: n.Stall,
	})
	n.metrics.Live(n.hub.Live, n.hub.Watchers)

	accounts := account.New(n.store.Accounts, n.KeepAccounts)
	games := rpc.New(rpc.Config{
		Hub: n.hub, Log: n.log, Accounts: accounts, Keys: account.NewKeys(n.store.Keys, accounts),
		Credentials: account.NewCredentials(n.store.Credentials), Leaderboard: leaderboard.New(n.store.Boards, page.NewTokens(n.store.Secrets), n.Now), Directory: n.directory,
		Planner: n.lifecycle, Meter: n.metrics, Refused: n.refusals.refused, Logger: n.logger,
		StoreAnswers: n.storeAnswers.Load,
		Version:      version.String(), Durable: n.store.Durable(), MinTurnLimit: n.MinTurnLimit,
		Limits: n.Limits,
		Quotas: n.store.Quotas, Proxies: n.proxies,
		HangUp: n.admission.HangUp,
	})
	n.serveCalls(games, transport)
}

// serveCalls makes the gRPC server and the HTTP server. The interceptors of both run in
// the order in which they are listed here, so metrics include the answers to panics.
func (n *node) serveCalls(games *rpc.Service, transport []grpc.ServerOption) {
	var unary []grpc.UnaryServerInterceptor
	var stream []grpc.StreamServerInterceptor
	if n.Metrics != "" {
		unary, stream = append(unary, n.metrics.Unary()), append(stream, n.metrics.Stream())
	}
	recoverUnary, recoverStream := recoverers(n.logger)
	unary = append(unary, recoverUnary, games.Unary)
	stream = append(stream, recoverStream, games.Stream)
	origins, _ := web.ParseOrigins(n.WebOrigins) // validate has checked it.
	n.web = web.NewServer(web.Config{
		Service: games, Unary: unary, Stream: stream, Limits: &n.Limits, Logger: n.logger, AdmitEvents: n.admission.EnterSSE, Origins: origins,
	})
	n.web.Handler = n.admission.Handler(n.web.Handler)
	options := append(transport, n.admission.Options()...)
	n.grpc = grpc.NewServer(append(options,
		grpc.ChainUnaryInterceptor(unary...), grpc.ChainStreamInterceptor(append(stream, n.endHealthWatch)...))...)

	services := n.admission.Registrar(n.grpc)
	games.Register(services)
	n.health = health.NewServer()
	for name := range n.grpc.GetServiceInfo() {
		n.health.SetServingStatus(name, grpc_health_v1.HealthCheckResponse_SERVING)
	}
	grpc_health_v1.RegisterHealthServer(services, n.health)
	if n.Reflection {
		reflection.Register(n.grpc)
	}
	n.metrics.Serving(n.grpc)
}

// endHealthWatch ends streams of health watchers, for which a stop would wait: only
// their callers end them otherwise.
func (n *node) endHealthWatch(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if info.FullMethod != grpc_health_v1.Health_Watch_FullMethodName {
		return handler(server, stream)
	}
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	defer context.AfterFunc(n.lingering, cancel)()
	return handler(server, &middleware.WrappedServerStream{ServerStream: stream, WrappedContext: ctx})
}

// healthy reports whether the health service says that the server is serving.
func (n *node) healthy() bool {
	answer, err := n.health.Check(context.Background(), &grpc_health_v1.HealthCheckRequest{})
	return err == nil && answer.GetStatus() == grpc_health_v1.HealthCheckResponse_SERVING
}

// ready returns why the server cannot take moves, nil if it can.
func (n *node) ready(ctx context.Context) error {
	if !n.healthy() {
		return errors.New("the server is stopping")
	}
	if err := n.log.Ready(ctx); err != nil {
		return fmt.Errorf("the store takes no moves: %w", err)
	}
	return nil
}

// close releases what open made, after all stages have stopped or before they started.
func (n *node) close() {
	n.endLinger()
	if n.grpc != nil {
		n.grpc.Stop() // Its workers wait for calls from the moment it is made.
	}
	switch {
	case n.admission != nil:
		_ = n.admission.Close()
	case n.Listener != nil:
		_ = n.Listener.Close()
	}
	if n.webListener != nil {
		_ = n.webListener.Close()
	}
	if n.admin != nil {
		_ = n.admin.listener.Close()
	}
	if n.store != nil {
		_ = n.store.Close()
	}
}
