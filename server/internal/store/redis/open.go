package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"
	redislog "github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/gridstand/gridstand/server/internal/store"
)

// Open connects to the Redis at a URL, or several (see parseURL), and waits until it
// answers. It logs a warning for settings under which Redis may lose acknowledged
// writes. The error for an invalid URL is a *store.NameError.
func Open(ctx context.Context, url string, logger *slog.Logger) (*store.Store, error) {
	// The library logs to standard error, where play --local draws its screen. The
	// same texts are in its errors.
	redislog.Disable()
	options, err := parseURL(url)
	if err != nil {
		return nil, &store.NameError{Err: err}
	}
	c := connect(options)
	c.Logger = logger
	s, err := New(c)
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	// At least one attempt to connect must have its time.
	wait := max(patience, options.DialTimeout+time.Second)
	if err = c.waitReady(ctx, wait); err == nil {
		err = c.check(ctx, wait, logger)
	}
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// connect makes the clients. They connect when they are used.
func connect(base *goredis.UniversalOptions) Clients {
	// Maintenance notifications are a feature of hosted products. Subscribing costs
	// each connection a command that other servers refuse.
	base.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	base.DialTimeout = cmp.Or(base.DialTimeout, 2*time.Second)
	// Callers retry; they know their deadlines.
	base.DialerRetries = 1

	appends := *base
	appends.MaxRetries = -1
	appends.ContextTimeoutEnabled = true
	appends.ReadTimeout = cmp.Or(base.ReadTimeout, time.Second)
	appends.WriteTimeout = cmp.Or(base.WriteTimeout, time.Second)

	calls := *base
	calls.ReadTimeout = cmp.Or(base.ReadTimeout, 5*time.Second)
	calls.WriteTimeout = cmp.Or(base.WriteTimeout, 5*time.Second)
	calls.ContextTimeoutEnabled = true

	once := calls
	once.MaxRetries = -1

	return Clients{
		Appends:    goredis.NewUniversalClient(&appends),
		Calls:      goredis.NewUniversalClient(&calls),
		Background: goredis.NewUniversalClient(&calls),
		Once:       goredis.NewUniversalClient(&once),
		Name:       strings.Join(base.Addrs, ","),
	}
}

// At the start Redis is asked every retryEvery until it answers, for patience, or longer
// if its URL allows more time to connect.
const (
	patience   = 3 * time.Second
	retryEvery = 200 * time.Millisecond
)

// waitReady waits until Redis answers for the first time.
func (c Clients) waitReady(ctx context.Context, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var reason error
	for {
		err := c.Once.Ping(ctx).Err() // A client that retries would hide the reason until ctx ends.
		if err == nil {
			return nil
		}
		if reason == nil || ctx.Err() == nil {
			reason = err // says more than that the time is up
		}
		var answer goredis.Error
		if errors.As(err, &answer) && !transient(answer) {
			return fmt.Errorf("redis at %s refuses: %w", c.Name, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("redis at %s does not answer: %w", c.Name, reason)
		case <-time.After(retryEvery):
		}
	}
}

// transient reports whether a retry may succeed after an error from Redis.
func transient(answer goredis.Error) bool {
	for _, prefix := range []string{"LOADING", "BUSY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN"} {
		if goredis.HasErrorPrefix(answer, prefix) {
			return true
		}
	}
	return false
}
