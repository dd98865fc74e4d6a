package server

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/server/internal/periodic"
)

// embedded is an imitation of Redis inside this process. It listens on a local port,
// with a random password.
type embedded struct {
	server   *miniredis.Miniredis
	password string
}

func startEmbedded() (*embedded, error) {
	e := &embedded{server: miniredis.NewMiniRedis(), password: rand.Text()}
	e.server.RequireAuth(e.password)
	if err := e.server.Start(); err != nil {
		return nil, fmt.Errorf("starting the embedded store: %w", err)
	}
	return e, nil
}

func (e *embedded) options() *redis.UniversalOptions {
	return &redis.UniversalOptions{Addrs: []string{e.server.Addr()}, Password: e.password}
}

// tick is how often keys expire. Each time it visits every key, which would cost too
// much at each command.
const tick = time.Second

// run expires keys until ctx ends: miniredis does not do that by itself.
func (e *embedded) run(ctx context.Context) {
	// Without the monotonic clock: keys expire by the clock of the TIME command, also
	// after the machine slept.
	last := time.Now().Round(0)
	periodic.Run(ctx, tick, func() {
		now := time.Now().Round(0)
		if elapsed := now.Sub(last); elapsed > 0 {
			e.server.FastForward(elapsed)
		}
		last = now
	})
}

func (e *embedded) close() { e.server.Close() }
