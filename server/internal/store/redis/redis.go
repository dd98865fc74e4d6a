// Package redis implements the store with Redis, which any number of servers can share. It
// keeps logs in streams, and boards and lists in sorted sets. Multi-step operations that
// must be atomic are Lua scripts. All key names are defined in this package.
package redis

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/server/internal/store"
)

//go:embed *.lua
var scripts embed.FS

// source returns the source of a script.
func source(file string) string {
	text, err := scripts.ReadFile(file)
	if err != nil {
		panic(err) // The program was built without the file.
	}
	return string(text)
}

func newScript(file string) *goredis.Script { return goredis.NewScript(source(file)) }

// Clients are the connections to Redis. The store closes them.
type Clients struct {
	// Appends is for short commands that players wait for. It must not retry (MaxRetries
	// −1), because only its callers know whether an append may be repeated.
	Appends goredis.UniversalClient
	// Calls is for all other commands that serve client calls, and for the feed.
	Calls goredis.UniversalClient
	// Background is for the heartbeat, the jobs and health checks. It has its own
	// connections, so that client calls cannot delay them.
	Background goredis.UniversalClient
	// Name identifies the store in logs, such as by its URL without the password.
	Name string
	// Logger, if not nil, receives messages for the operator.
	Logger *slog.Logger
}

// New returns a store that uses the given clients.
func New(c Clients) (*store.Store, error) {
	pipeline, err := newPipeline(c.Appends)
	if err != nil {
		return nil, fmt.Errorf("creating the append pipeline: %w", err)
	}
	feed := newFeed(c.Calls, cmp.Or(c.Logger, slog.New(slog.DiscardHandler)))
	s := portsOn(c, c.Calls, pipeline, feed)
	s.Background = portsOn(c, c.Background, pipeline, feed)
	return s, nil
}

// portsOn returns the store's interfaces, implemented using the given client.
func portsOn(c Clients, client goredis.UniversalClient, pipeline *goredis.AutoPipeliner, f *feed) *store.Store {
	return &store.Store{
		Engine:      engine{c, client, f},
		Games:       newGames(c, client, pipeline),
		Feed:        f,
		Accounts:    accounts{client},
		Keys:        keys{accounts{client}},
		Sessions:    sessions{accounts{client}},
		Credentials: credentials{client},
		Boards:      boards{client},
		Lists:       lists{client},
		Queue:       queue{client},
		Challenges:  challenges{client},
		Profiles:    profiles{client},
		Heartbeats:  heartbeats{client},
		Secrets:     secrets{client},
		Dumper:      dumper{client},
	}
}

type engine struct {
	clients Clients
	client  goredis.UniversalClient
	feed    *feed
}

func (e engine) Name() string            { return e.clients.Name }
func (e engine) Shared() bool            { return true }
func (e engine) Run(ctx context.Context) { e.feed.run(ctx) }

func (e engine) Time(ctx context.Context) (time.Time, error) {
	now, err := e.client.Time(ctx).Result()
	return now, failed(err)
}

func (e engine) Close() error { return e.clients.close() }

func (c Clients) close() error {
	var errs []error
	for _, client := range []goredis.UniversalClient{c.Appends, c.Calls, c.Background} {
		errs = append(errs, client.Close())
	}
	return errors.Join(errs...)
}

// answers holds the codes of Redis errors that an operator must act on; each code is its
// own kind. All other codes share one kind, because a metric label must have a bounded
// number of values.
var answers = []string{
	"LOADING", "READONLY", "OOM", "MISCONF", "BUSY", "NOREPLICAS", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN",
	"NOAUTH", "WRONGPASS", "NOPERM",
}

// answered is the kind of all other error replies.
const answered store.Kind = "answer"

// failed wraps an error from Redis, or from the connection to it, as a *store.Error. It
// returns nil, context errors and errors that are already wrapped unchanged.
func failed(err error) error {
	var (
		known   *store.Error
		answer  goredis.Error
		network net.Error
	)
	kind := store.Connection
	switch {
	case err == nil, errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.As(err, &known):
		return err
	case errors.Is(err, goredis.ErrPoolTimeout), errors.As(err, &network) && network.Timeout():
		kind = store.Timeout
	case errors.As(err, &network):
	case errors.As(err, &answer):
		kind = answered
		for _, prefix := range answers {
			if goredis.HasErrorPrefix(answer, prefix) {
				kind = store.Kind(strings.ToLower(prefix))
			}
		}
	}
	return &store.Error{Kind: kind, Err: err}
}
