// Package redis is the store on a Redis, which any number of servers share: logs are
// streams, boards and lists are sorted sets, and what must happen at once is a Lua
// script. All names of keys stand in this package.
package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/go-redis/redis_rate/v10"
	goredis "github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/server/internal/store"
)

// Clients are the connections to one Redis. The store closes them.
type Clients struct {
	// Appends is for short commands that players wait for. It must not retry
	// (MaxRetries −1): its callers know whether an append may be repeated.
	Appends goredis.UniversalClient
	// Calls is for the reads of calls.
	Calls goredis.UniversalClient
	// Background is for the heartbeat, the scheduler and health checks, and Once for
	// those of its commands that must not be retried. They have connections of their
	// own, so that calls cannot keep them waiting.
	Background, Once goredis.UniversalClient
	// Name identifies the Redis in logs, without the password.
	Name string
	// Logger gets what the operator should know, unless it is nil.
	Logger *slog.Logger
}

// New returns the store on a Redis.
func New(c Clients) (*store.Store, error) {
	pipeline, err := newPipeline(c.Appends)
	if err != nil {
		return nil, fmt.Errorf("making the pipeline of appends: %w", err)
	}
	s := portsOn(c, c.Calls, pipeline)
	s.Feed = newFeed(c.Calls, cmp.Or(c.Logger, slog.New(slog.DiscardHandler)))
	s.Background = portsOn(c, c.Background, pipeline)
	return s, nil
}

// portsOn returns the ports over one of the clients.
func portsOn(c Clients, client goredis.UniversalClient, pipeline *goredis.AutoPipeliner) *store.Store {
	return &store.Store{
		Engine:      engine{c, client},
		Games:       newGames(c, client, pipeline),
		Accounts:    accounts{client},
		Keys:        keys{accounts{client}},
		Credentials: credentials{client},
		Boards:      boards{client},
		Lists:       newLists(client),
		Queue:       queue{client, c.Once},
		Quotas:      quotas{redis_rate.NewLimiter(client)},
		Exhibitions: exhibitions{client},
		Heartbeats:  heartbeats{client},
		Secrets:     secrets{client},
		Copier:      copier{client, c.Once},
	}
}

type engine struct {
	clients Clients
	client  goredis.UniversalClient
}

func (e engine) Name() string          { return e.clients.Name }
func (e engine) Durable() bool         { return true }
func (e engine) Shared() bool          { return true }
func (e engine) Transactional() bool   { return false }
func (e engine) Run(_ context.Context) {}

func (e engine) Ping(ctx context.Context) error { return failed(e.client.Ping(ctx).Err()) }

func (e engine) Time(ctx context.Context) (time.Time, error) {
	now, err := e.client.Time(ctx).Result()
	return now, failed(err)
}

func (e engine) Close() error { return e.clients.close() }

func (c Clients) close() error {
	var errs []error
	for _, client := range []goredis.UniversalClient{c.Appends, c.Calls, c.Background, c.Once} {
		errs = append(errs, client.Close())
	}
	return errors.Join(errs...)
}

// answers are Redis's errors that an operator must act on. All others are counted
// together, since the number of a label's values must be bounded.
var answers = []string{
	"LOADING", "READONLY", "OOM", "MISCONF", "BUSY", "NOREPLICAS", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN",
	"NOAUTH", "WRONGPASS", "NOPERM",
}

// answered is the kind of an answer that has none of its own.
const answered store.Kind = "answer"

// failed wraps an error of Redis, or of the way to it, as a *store.Error. It returns
// nil, errors of contexts, and what it returned before, as they are.
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
	case errors.Is(err, goredis.ErrAutoPipelineQueueFull):
		kind = store.QueueFull
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
