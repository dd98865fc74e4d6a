package verify_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gridstand/gridstand/client"
	grpctest "github.com/gridstand/gridstand/internal/testkit/grpc"
	"github.com/gridstand/gridstand/internal/testkit/process"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/internal/verify"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server serves the transcript of one game, and ends each stream after a few events.
type server struct {
	pb.UnimplementedGameServiceServer
	pb.UnimplementedChallengeServiceServer
	status pb.GameStatus
	events []*pb.Event
	// challenge is the challenge of the game, or nil if the server has none.
	challenge *pb.Challenge
	standings []*pb.Standing
	// hides is set if GetGame does not say that the game is an attempt.
	hides bool
}

func (s *server) GetGame(context.Context, *pb.GetGameRequest) (*pb.GetGameResponse, error) {
	var game client.Game
	for _, e := range s.events {
		game.Apply(e)
	}
	game.Status = s.status
	if s.hides {
		game.ChallengeId = ""
	}
	return &pb.GetGameResponse{Game: game.Game}, nil
}

func (s *server) Watch(r *pb.WatchRequest, stream grpc.ServerStreamingServer[pb.WatchResponse]) error {
	if r.AfterVersion == nil || !r.GetEveryEvent() {
		return status.Error(codes.InvalidArgument, "the client must request the whole transcript")
	}
	rest := s.events[r.GetAfterVersion():]
	for i, e := range rest {
		if i == 20 {
			return status.Error(codes.Unavailable, "reconnect")
		}
		if err := stream.Send(&pb.WatchResponse{Update: &pb.WatchResponse_Event{Event: e}}); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) client(t *testing.T) *client.Client {
	t.Helper()
	l := process.Listen(t)
	g := grpc.NewServer()
	pb.RegisterGameServiceServer(g, s)
	pb.RegisterChallengeServiceServer(g, s)
	grpctest.Serve(t, g, l)
	c, err := client.Dial(client.Config{Target: l.Addr().String()})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.Close()) })
	return c
}

func TestGame_OnAServer(t *testing.T) {
	t.Parallel()
	ctx := waittest.Context(t)
	s := &server{status: pb.GameStatus_GAME_STATUS_FINISHED, events: transcript(t, "classic", seedOf(t, 1), 30)}
	report, err := verify.Game(ctx, s.client(t), gameID)
	require.NoError(t, err)
	assert.Equal(t, 32, report.Versions)

	s.status = pb.GameStatus_GAME_STATUS_ACTIVE
	_, err = verify.Game(ctx, s.client(t), gameID)
	assert.ErrorIs(t, err, verify.ErrLive)
}
