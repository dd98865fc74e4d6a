package rpc

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc"

	"github.com/gridstand/gridstand/server/internal/front"
)

// bareStream is a stream with only a context.
type bareStream struct{ grpc.ServerStream }

func (bareStream) Context() context.Context { return context.Background() }

// Ensure that a panic ends only the affected stream. The goroutines that follow event
// streams run outside the interceptor that recovers from panics, so an unrecovered panic
// would crash the server.
func TestView_FollowPanics(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := &Service{Config: Config{Budgets: &front.Budgets{}, Logger: slog.New(slog.NewTextHandler(&log, nil))}}
	v := &View{service: s, stream: bareStream{}} // no game, so following it panics
	assert.ErrorContains(t, v.Follow(), "internal error")
	assert.Contains(t, log.String(), "id=call-panicked")

	ended := make(chan error, 1)
	v.Start(func(err error) { ended <- err })
	assert.ErrorContains(t, <-ended, "internal error")
}
