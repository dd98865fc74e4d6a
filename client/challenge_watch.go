package client

import (
	"context"
	"fmt"
	"io"

	"google.golang.org/grpc"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// ChallengeWatchOptions specify which challenge to watch.
type ChallengeWatchOptions struct {
	// ChallengeID is the full id of the challenge.
	ChallengeID string
	// ETag identifies the last Snapshot that the caller has. The watch starts with the
	// first Snapshot that differs from it, or with the current state if ETag is empty.
	ETag string
}

// ChallengeUpdate is one step of a ChallengeWatch.
type ChallengeUpdate struct {
	// Snapshot is the complete challenge with its standings, or nil if only Connection
	// changed.
	Snapshot *pb.WatchChallengeResponse
	// Connection is the state of the connection as of this update.
	Connection Connection
}

// ChallengeWatch follows a challenge until it is closed and its standings are final,
// reconnecting as often as necessary. It has no goroutine or buffer of its own: it
// connects and receives within Next.
type ChallengeWatch struct {
	position *challengePosition
	stream   *resumer[pb.WatchChallengeResponse]
}

// WatchChallenge returns a ChallengeWatch. It connects on the first call to Next and ends
// when ctx is done or Close is called.
func (c *Client) WatchChallenge(ctx context.Context, opts ChallengeWatchOptions) *ChallengeWatch {
	p := &challengePosition{tries: tries{pace: c.newBackOff()}, id: opts.ChallengeID, etag: opts.ETag}
	return &ChallengeWatch{p, newResumer(ctx, c, p)}
}

// Next waits for the next update. It skips snapshots that contain nothing new, even after
// a reconnection.
//
// As with Watch.Next, a lost connection is not an error: Next returns an update with the
// state Reconnecting, and the next call waits, connects and resumes.
//
// The error is io.EOF once the standings are final, the context's error after Close or once
// ctx is done, context.Canceled after Client.Close, ErrBadStream if the server violates the
// contract, and otherwise the server's error for the stream, such as ErrChallengeNotFound.
// All errors are final: later calls return the same one. Next must not be called
// concurrently with itself.
//
// A caller that stops before Next returns an error must call Close; otherwise the stream
// stays open until ctx is done.
func (w *ChallengeWatch) Next() (ChallengeUpdate, error) {
	var update ChallengeUpdate
	conn, err := w.stream.next(func(m *pb.WatchChallengeResponse) (news bool, err error) {
		if news, err = w.position.handle(m); news {
			update.Snapshot = m
		}
		return news, err
	})
	update.Connection = conn
	return update, err
}

// Close ends the ChallengeWatch and waits until a Next in another goroutine has returned.
// It is safe to call Close more than once.
func (w *ChallengeWatch) Close() { w.stream.close() }

// challengePosition records what a ChallengeWatch has received.
type challengePosition struct {
	tries
	id, etag string
	// shown reports whether a snapshot was received, and closed whether the challenge
	// was closed in the last one.
	shown, closed bool
}

func (p *challengePosition) open(ctx context.Context, c *Client) (grpc.ServerStreamingClient[pb.WatchChallengeResponse], error) {
	return c.Challenges.WatchChallenge(ctx, &pb.WatchChallengeRequest{ChallengeId: p.id, Etag: p.etag})
}

func (p *challengePosition) handle(m *pb.WatchChallengeResponse) (news bool, err error) {
	if err := checkChallenge(m.GetChallenge(), p.id); err != nil {
		return false, err
	}
	repeated := m.GetEtag() != "" && m.GetEtag() == p.etag
	p.etag, p.shown = m.GetEtag(), true
	p.closed = m.GetChallenge().GetStatus() == pb.ChallengeStatus_CHALLENGE_STATUS_CLOSED
	return !repeated, nil
}

// End implements position.
func (p *challengePosition) End() error {
	if p.closed || !p.shown {
		return io.EOF
	}
	return fmt.Errorf("%w: the stream ended before the challenge did", ErrBadStream)
}

// Lost implements position.
func (p *challengePosition) Lost(err error) (Connection, error) { return p.again(err) }
