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
)

// store is the Redis that the server works on.
type store struct {
	// appends is for short commands that people wait for, and sends nothing
	// twice: whether an append may be repeated is judged above.
	appends redis.UniversalClient
	// reads is for what callers ask for.
	reads redis.UniversalClient
	// scheduler is for the heartbeat, the scheduler and health checks, and once for
	// those of its commands that must not be repeated: they have connections of
	// their own, so that callers cannot keep them waiting.
	scheduler, once redis.UniversalClient
	// embedded is set where the store lives in this process.
	embedded *embedded
	// name says which Redis it is, without a password.
	name string
}

// openStore starts the embedded store or connects to the Redis that value
// names. The caller closes it. It returns a *ConfigError for a value that
// names none.
func openStore(value string) (*store, error) {
	// The library has one log for the whole process, on standard error, where
	// somebody may be drawing a screen. It tells what its errors tell, too.
	redislog.Disable()
	if value == Embedded {
		e, err := startEmbedded()
		if err != nil {
			return nil, err
		}
		return newStore(e.options(), e), nil
	}
	options, err := parseRedis(value)
	if err != nil {
		return nil, &ConfigError{"redis", err}
	}
	return newStore(options, nil), nil
}

func newStore(base *redis.UniversalOptions, e *embedded) *store {
	// Notices of planned maintenance are a feature of hosted products; asking
	// for them costs each connection a command that others refuse.
	base.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	base.DialTimeout = cmp.Or(base.DialTimeout, 2*time.Second)
	// Whoever may try again does so above, and knows when to give up.
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
	return &store{
		appends:   redis.NewUniversalClient(&appends),
		reads:     redis.NewUniversalClient(&reads),
		scheduler: redis.NewUniversalClient(&reads),
		once:      redis.NewUniversalClient(&once),
		embedded:  e, name: name,
	}
}

func (s *store) close() {
	for _, client := range []redis.UniversalClient{s.appends, s.reads, s.scheduler, s.once} {
		_ = client.Close()
	}
	if s.embedded != nil {
		s.embedded.close()
	}
}

// patience is how long a Redis that does not answer at the start is waited
// for, and retryEvery how often it is asked meanwhile.
const (
	patience   = 3 * time.Second
	retryEvery = 200 * time.Millisecond
)

// await waits until Redis answers for the first time.
func (s *store) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var reason error
	for {
		err := s.reads.Ping(ctx).Err()
		if err == nil {
			return nil
		}
		if reason == nil || ctx.Err() == nil {
			reason = err // which says more than that time was up
		}
		var answer redis.Error
		if errors.As(err, &answer) && !passing(answer) {
			return fmt.Errorf("redis at %s refuses: %w", s.name, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("redis at %s does not answer: %w", s.name, reason)
		case <-time.After(retryEvery):
		}
	}
}

// passing reports whether an error that Redis answers may pass by itself.
func passing(answer redis.Error) bool {
	for _, prefix := range []string{"LOADING", "BUSY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN"} {
		if redis.HasErrorPrefix(answer, prefix) {
			return true
		}
	}
	return false
}

// pingEvery is how often Redis is asked whether it is there, and pingTimeout
// how long it has to answer.
const (
	pingEvery   = time.Second
	pingTimeout = time.Second
)

// watch asks Redis every so often whether it is there, and tells up, and the
// log, when that changes, until ctx ends.
func (s *store) watch(ctx context.Context, logger *slog.Logger, every time.Duration, up func(bool)) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	var away time.Time // since when; zero while it answers
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
