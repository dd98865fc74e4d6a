package rpc

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/match"

	"github.com/gridstand/gridstand/server/internal/front"
)

// blocked is a stream whose client reads nothing.
type blocked struct {
	grpc.ServerStream
	aborted chan struct{}
}

func (b *blocked) Context() context.Context   { return context.Background() }
func (b *blocked) Encode(m proto.Message) any { return m }
func (b *blocked) Abort(error)                { close(b.aborted) }

func (b *blocked) SendMsg(any) error {
	<-b.aborted
	return errors.New("aborted")
}

// Ensure that a stream ends if its client reads nothing for too long, and that the client
// may retry.
func TestChallengeView_Stalled(t *testing.T) {
	t.Parallel()
	s := &Service{Config: Config{Budgets: &front.Budgets{}, Hub: match.NewHub(match.Config{Stall: 10 * time.Millisecond})}}
	stream := &blocked{aborted: make(chan struct{})}
	v := &ChallengeView{service: s, stream: stream, form: formOf(stream)}
	err := v.send(&challengeSnapshot{message: &pb.WatchChallengeResponse{Etag: "a"}})
	require.ErrorIs(t, err, errStalled)
	assert.Empty(t, v.etag)
}

// Ensure that a panic while a snapshot is created ends the streams but not the server, and
// that a later stream starts anew instead of joining the live challenge that panicked.
func TestLiveChallenge_Panics(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := &Service{Config: Config{Budgets: &front.Budgets{}, Logger: slog.New(slog.NewTextHandler(&log, nil))}} // no Challenges, so creating a snapshot panics
	l := s.addStream("a", "192.0.2.1")
	_, err := l.first(t.Context())
	require.ErrorIs(t, err, errPanicked)
	again := s.addStream("a", "192.0.2.1")
	assert.NotSame(t, l, again)
	s.removeStream(l)
	_, err = again.first(t.Context())
	require.ErrorIs(t, err, errPanicked)
	s.removeStream(again)
	assert.Empty(t, s.live.all)
	assert.Contains(t, log.String(), "id=call-panicked")
}
