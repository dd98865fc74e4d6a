package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	redislog "github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/gridstand/gridstand/server/internal/store"
	redisstore "github.com/gridstand/gridstand/server/internal/store/redis"
)

// store is the Redis that the server works on.
type connection struct {
	// appends is for short commands that players wait for. It never retries: its
	// callers know whether an append may be repeated.
	appends redis.UniversalClient
	// reads is for the reads of calls.
	reads redis.UniversalClient
	// scheduler is for the heartbeat, the scheduler and health checks, and once is
	// for those of its commands that must not be retried. They have connections of
	// their own, so that calls cannot keep them waiting.
	scheduler, once redis.UniversalClient
	// embedded is the store inside this process; nil for a Redis.
	embedded *embedded
	// name identifies the Redis in logs, without the password.
	name string
	// ports is the store as the other packages see it.
	ports *store.Store
}

// openStore starts the embedded store or connects to the Redis at value. The
// caller closes it. The error for an invalid value is a *ConfigError.
func openStore(value string) (*connection, error) {
	// The library logs to standard error, where play --local draws its screen. The
	// same texts are in its errors.
	redislog.Disable()
	if value == Embedded {
		e, err := startEmbedded()
		if err != nil {
			return nil, err
		}
		return newStore(e.options(), e)
	}
	options, err := parseRedis(value)
	if err != nil {
		return nil, &ConfigError{"redis", err}
	}
	return newStore(options, nil)
}

func newStore(base *redis.UniversalOptions, e *embedded) (*connection, error) {
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

	reads := *base
	reads.ReadTimeout = cmp.Or(base.ReadTimeout, 5*time.Second)
	reads.WriteTimeout = cmp.Or(base.WriteTimeout, 5*time.Second)
	reads.ContextTimeoutEnabled = true

	once := reads
	once.MaxRetries = -1

	name := strings.Join(base.Addrs, ",")
	if e != nil {
		name = Embedded
	}
	s := &connection{
		appends:   redis.NewUniversalClient(&appends),
		reads:     redis.NewUniversalClient(&reads),
		scheduler: redis.NewUniversalClient(&reads),
		once:      redis.NewUniversalClient(&once),
		embedded:  e, name: name,
	}
	var err error
	s.ports, err = redisstore.New(redisstore.Clients{
		Appends: s.appends, Calls: s.reads, Background: s.scheduler, Once: s.once, Name: name,
	})
	return s, err
}

func (s *connection) close() {
	for _, client := range []redis.UniversalClient{s.appends, s.reads, s.scheduler, s.once} {
		_ = client.Close()
	}
	if s.embedded != nil {
		s.embedded.close()
	}
}

// At the start Redis is asked every retryEvery until it answers, for at most
// patience.
const (
	patience   = 3 * time.Second
	retryEvery = 200 * time.Millisecond
)

// waitReady waits until Redis answers for the first time.
func (s *connection) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var reason error
	for {
		err := s.reads.Ping(ctx).Err()
		if err == nil {
			return nil
		}
		if reason == nil || ctx.Err() == nil {
			reason = err // says more than that the time is up
		}
		var answer redis.Error
		if errors.As(err, &answer) && !transient(answer) {
			return fmt.Errorf("redis at %s refuses: %w", s.name, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("redis at %s does not answer: %w", s.name, reason)
		case <-time.After(retryEvery):
		}
	}
}

// transient reports whether a retry may succeed after an error from Redis.
func transient(answer redis.Error) bool {
	for _, prefix := range []string{"LOADING", "BUSY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN"} {
		if redis.HasErrorPrefix(answer, prefix) {
			return true
		}
	}
	return false
}

// The monitor pings Redis every pingEvery, with a timeout of pingTimeout.
const (
	pingEvery   = time.Second
	pingTimeout = time.Second
)

// monitor pings Redis until ctx ends. It calls up, and logs, when Redis stops or
// starts to answer.
func (s *connection) monitor(ctx context.Context, logger *slog.Logger, every time.Duration, up func(bool)) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	var away time.Time // when it stopped to answer; zero while it answers
	up(true)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		ping, cancel := context.WithTimeout(ctx, pingTimeout)
		err := s.scheduler.Ping(ping).Err()
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && away.IsZero():
			away = time.Now()
			up(false)
			logger.Warn("redis does not answer; moves wait until it does", "id", "redis-away", "redis", s.name, "error", err)
		case err == nil && !away.IsZero():
			up(true)
			logger.Info("redis answers again", "redis", s.name, "away", time.Since(away).Round(time.Millisecond))
			away = time.Time{}
		}
	}
}
