package rpc

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc"
)

// bareStream is a stream that has nothing but a context.
type bareStream struct{ grpc.ServerStream }

func (bareStream) Context() context.Context { return context.Background() }

// Ensure that a panic ends only the stream that it concerns. Streams of events follow in
// goroutines where no interceptor recovers: there it would end the server.
func TestView_FollowPanics(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := &Service{Config: Config{Logger: slog.New(slog.NewTextHandler(&log, nil))}}
	v := &View{service: s, stream: bareStream{}} // without a game
	assert.ErrorContains(t, v.Follow(), "internal error")
	assert.Contains(t, log.String(), "id=call-panicked")

	ended := make(chan error, 1)
	v.FollowShared(func(err error) { ended <- err })
	assert.ErrorContains(t, <-ended, "internal error")
}
