package server

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/gridstand/gridstand/server/internal/periodic"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/redis"
)

// embedded is the engine of an imitation of Redis inside this process. It listens on
// a local port, with a random password.
type embedded struct {
	store.Engine
	clients redis.Clients
	server  *miniredis.Miniredis
}

func openEmbedded(ctx context.Context) (*store.Store, error) {
	e := &embedded{server: miniredis.NewMiniRedis()}
	password := rand.Text()
	e.server.RequireAuth(password)
	if err := e.server.Start(); err != nil {
		return nil, fmt.Errorf("starting the embedded store: %w", err)
	}
	s, err := redis.Open(ctx, "redis://:"+password+"@"+e.server.Addr(), slog.New(slog.DiscardHandler))
	if err != nil {
		e.server.Close()
		return nil, err
	}
	e.Engine, e.clients = s.Engine, redis.ClientsOf(s)
	s.Engine = e
	return s, nil
}

// Name, Durable, Shared, Run and Close implement store.Engine.
func (e *embedded) Name() string { return Memory }

// Durable reports that nothing outlives the program.
func (e *embedded) Durable() bool { return false }

// Shared reports that no other server can connect.
func (e *embedded) Shared() bool { return false }

// tick is how often keys expire. Each time it visits every key, which would cost too
// much at each command.
const tick = time.Second

// Run expires keys until ctx ends: miniredis does not do that by itself.
func (e *embedded) Run(ctx context.Context) {
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

// Close closes the connections and the imitation.
func (e *embedded) Close() error {
	err := e.Engine.Close()
	e.server.Close()
	return err
}
