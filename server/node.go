package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/internal/netaddr"
	"github.com/gridstand/gridstand/internal/version"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/front"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/jobs"
	"github.com/gridstand/gridstand/server/internal/liveness"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/metrics"
	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/rpc"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/web"
	"github.com/gridstand/gridstand/server/limits"
)

// node contains one server's components.
type node struct {
	Config
	logger       *slog.Logger
	metrics      *metrics.Metrics
	certificates *certificates // nil without TLS
	// refusals counts and logs refused calls.
	refusals *refusals

	store    *store.Store
	log      *gamelog.Log // used by calls; background work has its own instance
	recovery *liveness.Recovery
	jobs     *jobs.Manager
	hub      *match.Hub

	grpc   *grpc.Server
	web    *web.Server
	health *health.Server

	front *front.Front
	admin *admin // nil if metrics are not served
}

// open creates all components and waits for the store to answer. If it fails, it closes
// everything that it has created.
func open(ctx context.Context, c Config) (_ *node, err error) {
	n := &node{Config: c, metrics: metrics.New(version.Version, version.Commit)}
	defer func() {
		if err != nil {
			n.close()
		}
	}()
	if err := c.validate(); err != nil {
		return nil, err
	}
	n.logger = c.NewLogger()
	n.refusals = &refusals{metrics: n.metrics, logger: n.logger}
	if c.TLSCert != "" {
		if n.certificates, err = newCertificates(c, n.logger); err != nil {
			return nil, err
		}
	}
	transport := transportOptions(c)
	steps := []func() error{
		func() (err error) { n.store, err = c.openStore(ctx, n.logger); return err },
		n.listen,
		n.listenAdmin,
	}
	if path, err := c.lasting(); err == nil && path != "" && exists(path) != nil {
		// A server that cannot listen on its address must not create an empty store.
		steps = append(steps[1:], steps[0])
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	n.connect(append(transport, grpc.Creds(n.front.Credentials(tlsConfig(n.certificates)))))
	return n, nil
}

// listen creates the listener. If one is configured, it uses that one.
func (n *node) listen() (err error) {
	proxies, _ := front.ParseProxies(n.Proxies) // validate has already checked the value.
	inner := n.Listener
	if inner == nil {
		if inner, err = listen("listen", n.Listen); err != nil {
			return err
		}
	}
	n.front = front.New(inner, front.Config{
		Budgets: front.NewBudgets(&n.Limits, proxies), Refuse: rpc.Refuse, Stopping: rpc.ErrStopping,
		Answer: web.WriteError, Stall: n.Stall,
		Closed: n.refusals.closed, Refused: n.refusals.refused,
	})
	return nil
}

// listen returns a listener for the address that flag sets. Its error names the flag, and is a
// *ConfigError only if no later start can succeed, unlike if another program is using the
// address.
func listen(flag, address string) (net.Listener, error) {
	// Without TCP keepalive, accepting a connection costs a quarter less. Idle connections end by the timeouts of
	// HTTP and the pings of gRPC, and streams send something every 15 seconds.
	listener, err := (&net.ListenConfig{KeepAlive: -1}).Listen(context.Background(), "tcp", address)
	if unusable := netaddr.Unusable(err); unusable != nil {
		return nil, &ConfigError{flag, unusable}
	}
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flag, err)
	}
	return listener, nil
}

// listenAdmin creates the admin server if the configuration has an address for it.
func (n *node) listenAdmin() (err error) {
	if n.Metrics != "" {
		n.admin, err = newAdmin(n.Config, n.logger, n.metrics.Handler(), n.healthy, n.ready)
	}
	return err
}

// keepIdle is how long a game without calls and watchers stays in memory. It is long enough for a player
// to think and for a client to reconnect, and servers find only in these games what a rollback of the
// store has lost.
const keepIdle = time.Minute

// connect creates the server's components, and the gRPC and HTTP servers that use them.
func (n *node) connect(transport []grpc.ServerOption) {
	background := n.background(n.store, n.logger)
	serverID := id.New()
	background.Monitor = liveness.New(liveness.Config{
		ServerID: serverID, Heartbeats: background.Heartbeats, Logger: n.logger, Alone: !n.store.Shared(),
	})
	background.Challenges.Outages = background.Monitor
	n.recovery = liveness.NewRecovery(background)
	n.jobs = jobs.New(jobs.Config{
		Stores: background, AbandonAfter: n.AbandonAfter, Showcase: n.Exhibition, BotPace: n.BotPace,
	})
	n.log = gamelog.New(front.History(n.store.Games))
	stores := n.stores(n.store, n.log, n.logger) // for calls
	stores.Challenges.Outages = background.Monitor
	n.hub = match.NewHub(match.Config{
		Log: n.log, Feed: n.store.Feed, Window: stores.Challenges.Window,
		Jobs: n.jobs, Delivered: n.metrics.Delivered,
		ServerID: serverID, Idle: keepIdle, MaxEvents: n.Limits[limits.EventsPerGame],
	})
	n.metrics.Live(n.hub.Live, n.hub.Spectators, n.front.Connections, n.front.Open)
	if file, ok := n.store.Engine.(interface{ LogSize() int }); ok {
		n.metrics.File(file.LogSize)
	}

	accounts := stores.Accounts
	games := rpc.New(rpc.Config{
		Hub: n.hub, Log: n.log, Accounts: accounts, Keys: account.NewKeys(n.store.Keys, accounts),
		Sessions:    account.NewSessions(n.store.Sessions, accounts),
		Credentials: account.NewCredentials(n.store.Credentials),
		Leaderboard: stores.Leaderboard, Directory: background.Directory,
		Challenges: stores.Challenges, Profiles: stores.Profiles, Tokens: page.NewTokens(n.store.Secrets),
		Demand: n.jobs, Metrics: n.metrics, Refused: n.refusals.refused, Logger: n.logger,
		Version: version.String(), WebURL: n.PublicURL, Durable: n.Store != Memory, MinTurnLimit: n.MinTurnLimit,
		Limits: n.Limits, Reactions: n.Reactions,
	})
	n.serveCalls(games, transport)
}

// serveCalls creates the gRPC server and the HTTP server. Both run the same interceptors.
func (n *node) serveCalls(games *rpc.Service, transport []grpc.ServerOption) {
	unary, stream := grpc.UnaryServerInterceptor(games.Unary), grpc.StreamServerInterceptor(games.Stream)
	if n.Metrics != "" { // They include the responses to panics.
		unary, stream = n.metrics.Unary(unary), n.metrics.Stream(stream)
	}
	unary, stream = n.front.Unary(unary), n.front.Stream(stream)
	origins, _ := web.ParseOrigins(n.WebOrigins) // validate has already checked the value.
	n.web = web.NewServer(web.Config{
		Service: games, Unary: unary, Stream: stream, Logger: n.logger, Stall: n.Stall, Origins: origins, Proxies: n.front.Proxies,
	})
	n.web.Handler = n.front.Handler(n.web.Handler)
	if n.LoopbackOnly {
		n.web.Handler = web.LoopbackOnly(n.web.Handler)
	}
	options := append(transport, n.front.Options()...)
	n.grpc = grpc.NewServer(append(options, grpc.UnaryInterceptor(unary), grpc.StreamInterceptor(stream))...)

	games.Register(n.grpc)
	n.health = health.NewServer()
	for name := range n.grpc.GetServiceInfo() {
		n.health.SetServingStatus(name, grpc_health_v1.HealthCheckResponse_SERVING)
	}
	grpc_health_v1.RegisterHealthServer(n.grpc, n.health)
	reflection.Register(n.grpc)
	n.metrics.Serving(n.grpc)
}

// healthy reports whether the health service says that the server is serving.
func (n *node) healthy() bool {
	answer, err := n.health.Check(context.Background(), &grpc_health_v1.HealthCheckRequest{})
	return err == nil && answer.GetStatus() == grpc_health_v1.HealthCheckResponse_SERVING
}

// ready returns nil if the server can accept moves, or an error that explains why it
// cannot.
func (n *node) ready(ctx context.Context) error {
	if !n.healthy() {
		return errors.New("the server is stopping")
	}
	if err := n.recovery.Monitor.Check(ctx); err != nil {
		return fmt.Errorf("the store accepts no moves: %w", err)
	}
	return nil
}

// close releases everything that open created. It is called only before the stages start
// or after all of them have stopped.
func (n *node) close() {
	if n.grpc != nil {
		n.grpc.Stop() // Stop the workers that NewServer started.
	}
	switch {
	case n.front != nil:
		_ = n.front.Close()
	case n.Listener != nil:
		_ = n.Listener.Close()
	}
	if n.admin != nil {
		_ = n.admin.listener.Close()
	}
	if n.store != nil {
		_ = n.store.Close()
	}
}
