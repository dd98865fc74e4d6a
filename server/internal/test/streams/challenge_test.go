package streams

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	eventstest "github.com/gridstand/gridstand/internal/testkit/events"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

const (
	waiting   = pb.ChallengeStatus_CHALLENGE_STATUS_WAITING
	scheduled = pb.ChallengeStatus_CHALLENGE_STATUS_SCHEDULED
	open      = pb.ChallengeStatus_CHALLENGE_STATUS_OPEN
	closed    = pb.ChallengeStatus_CHALLENGE_STATUS_CLOSED
)

// racer is an account and its actions in races.
type racer struct {
	*playertest.Player
	challenges pb.ChallengeServiceClient
}

func newRacer(t testing.TB, address net.Addr, name string) *racer {
	t.Helper()
	conn := servertest.Dial(t, address)
	return &racer{playertest.New(t.Context(), t, conn, name), pb.NewChallengeServiceClient(conn)}
}

// create creates a race with the racer as its first entrant, and returns its ID.
func (r *racer) create(t testing.TB, limit time.Duration) string {
	t.Helper()
	created, err := r.challenges.CreateChallenge(r.Ctx, &pb.CreateChallengeRequest{
		Kind: pb.ChallengeKind_CHALLENGE_KIND_RACE, Variant: "6x6", Limit: durationpb.New(limit),
	})
	require.NoError(t, err)
	return created.GetChallenge().GetId()
}

// link creates a link challenge and returns its ID.
func (r *racer) link(t testing.TB) string {
	t.Helper()
	created, err := r.challenges.CreateChallenge(r.Ctx, &pb.CreateChallengeRequest{
		Kind: pb.ChallengeKind_CHALLENGE_KIND_LINK, Variant: "classic",
	})
	require.NoError(t, err)
	return created.GetChallenge().GetId()
}

// join enters a race, or marks the racer as ready. The race starts when all entrants are ready.
func (r *racer) join(t testing.TB, race string, ready bool) {
	t.Helper()
	_, err := r.challenges.JoinChallenge(r.Ctx, &pb.JoinChallengeRequest{ChallengeId: race, Ready: ready})
	require.NoError(t, err)
}

// addBots adds bots to a race that the racer created.
func (r *racer) addBots(t testing.TB, race string, n int) {
	t.Helper()
	for range n {
		_, err := r.challenges.JoinChallenge(r.Ctx, &pb.JoinChallengeRequest{ChallengeId: race, Bot: "greedy"})
		require.NoError(t, err)
	}
}

// attempt returns the racer's game in a race.
func (r *racer) attempt(t testing.TB, race string) *pb.Game {
	t.Helper()
	return r.Create(t, &pb.CreateGameRequest{ChallengeId: race})
}

// tryMove makes a move in a race that may already be over, and reports whether the move was in
// time.
func (r *racer) tryMove(g *pb.Game) bool {
	request := playertest.Slide(g)
	if request == nil {
		return false
	}
	moved, err := r.Games.Move(r.Ctx, request)
	if err == nil {
		playertest.Apply(g, moved.GetEvent())
	}
	return err == nil
}

// stream is a stream of challenge snapshots, over any protocol.
type stream interface {
	// Recv returns io.EOF if the server announced that the stream has ended.
	Recv() (*pb.WatchChallengeResponse, error)
}

// watch opens a stream over conn, which may use any protocol except Server-Sent Events.
func watch(t testing.TB, conn grpc.ClientConnInterface, challenge, etag string) stream {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	s, err := pb.NewChallengeServiceClient(conn).WatchChallenge(ctx, &pb.WatchChallengeRequest{ChallengeId: challenge, Etag: etag})
	require.NoError(t, err)
	return s
}

// events is a stream over Server-Sent Events.
type events struct {
	*eventstest.Reader
	conn   net.Conn
	answer *http.Response
}

func (e *events) Recv() (*pb.WatchChallengeResponse, error) {
	record, err := e.Next()
	switch {
	case errors.Is(err, io.EOF):
		return nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, err
	case record.Name == "end":
		return nil, io.EOF
	case record.ID != record.Snapshot.GetEtag():
		return nil, fmt.Errorf("the ID %q is not the etag", record.ID)
	}
	return record.Snapshot, nil
}

// readChallenge requests a challenge's snapshots as Server-Sent Events on a connection.
func readChallenge(t testing.TB, conn net.Conn, challenge string, headers ...string) *events {
	t.Helper()
	e, err := tryReadChallenge(t, conn, "GET", challenge, headers...)
	require.NoError(t, err)
	return e
}

func tryReadChallenge(t testing.TB, conn net.Conn, method, challenge string, headers ...string) (*events, error) {
	t.Helper()
	return tryReadPath(t, conn, method, "/c/"+challenge+"/events", headers...)
}

func tryReadPath(t testing.TB, conn net.Conn, method, path string, headers ...string) (*events, error) {
	t.Helper()
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	_, err := fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: test\r\n%s\r\n", method, path, strings.Join(append(headers, ""), "\r\n"))
	require.NoError(t, err)
	answer, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	return &events{eventstest.NewReader(answer.Body), conn, answer}, nil
}

// until reads snapshots until it finds one for which is returns true, and returns that snapshot.
func until(t testing.TB, s stream, is func(m *pb.WatchChallengeResponse) bool) *pb.WatchChallengeResponse {
	t.Helper()
	m, err := tryUntil(s, is)
	require.NoError(t, err)
	return m
}

// tryUntil is like until, but returns the error of the stream.
func tryUntil(s stream, is func(m *pb.WatchChallengeResponse) bool) (*pb.WatchChallengeResponse, error) {
	for {
		if m, err := s.Recv(); err != nil || is(m) {
			return m, err
		}
	}
}

func entrants(n int) func(*pb.WatchChallengeResponse) bool {
	return func(m *pb.WatchChallengeResponse) bool { return len(m.GetChallenge().GetEntrants()) == n }
}

func at(status pb.ChallengeStatus) func(*pb.WatchChallengeResponse) bool {
	return func(m *pb.WatchChallengeResponse) bool { return m.GetChallenge().GetStatus() == status }
}

// scored reports whether the leading player has scored.
func scored(m *pb.WatchChallengeResponse) bool { return m.GetStandings()[0].GetScore() > 0 }
