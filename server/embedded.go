package server

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// embedded is an imitation of Redis inside this process. It listens on a local
// port, behind a password that only this process knows.
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

// tick is how often keys expire. Each time costs a look at every key, so it is
// not done at each command, as the imitation could by itself.
const tick = time.Second

// run lets time pass for the keys, which do not expire by themselves there,
// until ctx ends.
func (e *embedded) run(ctx context.Context) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	// Without the monotonic clock: keys expire by the same time that TIME
	// tells, also when the machine slept.
	last := time.Now().Round(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			now := time.Now().Round(0)
			if elapsed := now.Sub(last); elapsed > 0 {
				e.server.FastForward(elapsed)
			}
			last = now
		}
	}
}

func (e *embedded) close() { e.server.Close() }
