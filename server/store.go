package server

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/redis"
)

// openStore opens the store that a value of Config.Redis names and waits until it
// answers. The caller closes it. The error for an invalid value is a *ConfigError.
func openStore(ctx context.Context, value string, logger *slog.Logger) (*store.Store, error) {
	if value == Embedded {
		return openEmbedded(ctx)
	}
	s, err := redis.Open(ctx, value, logger)
	var name *store.NameError
	if errors.As(err, &name) {
		return nil, &ConfigError{"redis", name.Err}
	}
	return s, err
}

// clientsOf returns a store's connections, for the packages that do not use the ports
// yet.
func clientsOf(s *store.Store) redis.Clients {
	if e, ok := s.Engine.(*embedded); ok {
		return e.clients
	}
	return redis.ClientsOf(s)
}

// The monitor pings the store every pingEvery, with a timeout of pingTimeout.
const (
	pingEvery   = time.Second
	pingTimeout = time.Second
)

// monitor pings a store until ctx ends. It calls up, and logs, when the store stops or
// starts to answer.
func monitor(ctx context.Context, s store.Engine, logger *slog.Logger, every time.Duration, up func(bool)) {
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
		err := s.Ping(ping)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && away.IsZero():
			away = time.Now()
			up(false)
			logger.Warn("redis does not answer; moves wait until it does", "id", "redis-away", "redis", s.Name(), "error", err)
		case err == nil && !away.IsZero():
			up(true)
			logger.Info("redis answers again", "redis", s.Name(), "away", time.Since(away).Round(time.Millisecond))
			away = time.Time{}
		}
	}
}
