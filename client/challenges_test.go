package client_test

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/gridstand/gridstand/client"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

const challengeID = "challengechallengechalleng"

const (
	open   = pb.ChallengeStatus_CHALLENGE_STATUS_OPEN
	closed = pb.ChallengeStatus_CHALLENGE_STATUS_CLOSED
)

func snapshot(etag string, at pb.ChallengeStatus) *pb.WatchChallengeResponse {
	return &pb.WatchChallengeResponse{Challenge: &pb.Challenge{Id: challengeID, Status: at}, Etag: etag}
}

func TestWatchChallenge(t *testing.T) {
	t.Parallel()
	type stream struct {
		sent []*pb.WatchChallengeResponse
		err  error
	}
	away := refuse(codes.Unavailable, pb.ReasonServerUnavailable)
	for name, tc := range map[string]struct {
		etag    string
		streams []stream
		asked   []string // etag of each request; one without it unless set
		want    []string
		err     error // io.EOF if nil
	}{
		"nothing is new": {
			etag: "z", streams: []stream{{}}, asked: []string{"z"}, want: []string{"live"},
		},
		"resumes after the last snapshot": {
			streams: []stream{
				{sent: []*pb.WatchChallengeResponse{snapshot("a", open)}, err: away},
				{sent: []*pb.WatchChallengeResponse{snapshot("a", open), snapshot("b", open)}, err: away},
				{sent: []*pb.WatchChallengeResponse{snapshot("c", closed)}, err: away},
				{},
			},
			asked: []string{"", "a", "b", "c"},
			want: []string{
				"live", "a", "reconnecting", "live", "b", "reconnecting", "live", "c", "reconnecting", "live",
			},
		},
		"a repeated snapshot": {
			streams: []stream{{sent: []*pb.WatchChallengeResponse{
				snapshot("a", open), snapshot("a", open), snapshot("b", closed), snapshot("b", closed),
			}}},
			want: []string{"live", "a", "b"},
		},
		"without etags": {
			streams: []stream{{sent: []*pb.WatchChallengeResponse{snapshot("", open), snapshot("", closed)}}},
			want:    []string{"live", "", ""},
		},
		"an unknown challenge": {
			streams: []stream{{err: refuse(codes.NotFound, pb.ReasonChallengeNotFound)}},
			err:     client.ErrChallengeNotFound,
		},
		"another challenge": {
			streams: []stream{{sent: []*pb.WatchChallengeResponse{{Challenge: &pb.Challenge{Id: otherID}}}}},
			want:    []string{"live"},
			err:     client.ErrBadStream,
		},
		"no challenge": {
			streams: []stream{{sent: []*pb.WatchChallengeResponse{{}}}},
			want:    []string{"live"},
			err:     client.ErrBadStream,
		},
		"the stream ends too early": {
			streams: []stream{{sent: []*pb.WatchChallengeResponse{snapshot("a", open)}}},
			want:    []string{"live", "a"},
			err:     client.ErrBadStream,
		},
	} {
		t.Log(name)
		var asked []string
		f := &fake{}
		f.watchChallenge = func(n int, r *pb.WatchChallengeRequest, s challengeStream) error {
			asked = append(asked, r.GetEtag())
			assert.Equal(t, challengeID, r.GetChallengeId())
			if n > len(tc.streams) {
				return status.Error(codes.FailedPrecondition, "unexpected stream")
			}
			if tc.want != nil { // a stream that fails immediately has no headers
				_ = s.SendHeader(metadata.MD{})
			}
			for _, m := range tc.streams[n-1].sent {
				if err := s.Send(m); err != nil {
					return err
				}
			}
			return tc.streams[n-1].err
		}
		w := f.client(t).WatchChallenge(waittest.Context(t), client.ChallengeWatchOptions{ChallengeID: challengeID, ETag: tc.etag})
		defer w.Close()
		var got []string
		var err error
		for {
			var u client.ChallengeUpdate
			if u, err = w.Next(); err != nil {
				assert.Nil(t, u.Snapshot)
				break
			}
			if u.Snapshot != nil {
				got = append(got, u.Snapshot.GetEtag())
			} else {
				got = append(got, string(u.Connection.State))
			}
		}
		if tc.err == nil {
			tc.err = io.EOF
		}
		require.ErrorIs(t, err, tc.err)
		_, again := w.Next()
		assert.Equal(t, err, again)
		assert.Equal(t, tc.want, got)
		if tc.asked == nil {
			tc.asked = []string{""}
		}
		assert.Equal(t, tc.asked, asked)
	}
}

func TestChallengeTime(t *testing.T) {
	t.Parallel()
	for reason, key := range map[string]string{
		pb.ReasonChallengeOpen: "close_time", pb.ReasonChallengeNotOpen: "open_time", pb.ReasonGameNotStarted: "open_time",
	} {
		err := refuseWith(codes.FailedPrecondition, reason, map[string]string{key: "2026-11-21T20:00:00.123Z"})
		at, ok := client.ChallengeTime(client.FromError(err))
		assert.True(t, ok, reason)
		assert.Equal(t, time.Date(2026, 11, 21, 20, 0, 0, 123e6, time.UTC), at)
	}
	for name, err := range map[string]error{
		"a game that waits for players": client.FromError(refuse(codes.FailedPrecondition, pb.ReasonGameNotStarted)),
		"no error of a server":          client.ErrChallengeOpen,
	} {
		_, ok := client.ChallengeTime(err)
		assert.False(t, ok, name)
	}
}
