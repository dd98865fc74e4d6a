package server

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/redis"
)

// openStore opens the store that c names and waits until it answers. The caller closes
// it. The error for an invalid name is a *ConfigError.
func (c *Config) openStore(ctx context.Context, logger *slog.Logger) (s *store.Store, err error) {
	kind, _, _ := strings.Cut(c.Store, ":")
	switch kind {
	case Memory:
		s, err = openEmbedded(ctx)
	case "redis", "rediss":
		s, err = redis.Open(ctx, c.Store, logger)
	default: // It is not quoted: it may be a URL with a password.
		return nil, wrong("store", "must be redis://HOST:PORT or rediss://HOST:PORT for a Redis, or %s", Memory)
	}
	var name *store.NameError
	if errors.As(err, &name) {
		return nil, &ConfigError{"store", name.Err}
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
			logger.Warn("the store does not answer; moves wait until it does", "id", "redis-away", "store", s.Name(), "error", err)
		case err == nil && !away.IsZero():
			up(true)
			logger.Info("the store answers again", "store", s.Name(), "away", time.Since(away).Round(time.Millisecond))
			away = time.Time{}
		}
	}
}
