package rpc

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that a request counts as reads in proportion to what it asks for.
func TestReadCost(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		request any
		cost    int
	}{
		{&pb.GetGameRequest{}, 1},
		{&pb.AddKeyRequest{}, signatureCost},
		{&pb.ListGamesRequest{}, 2},
		{&pb.ListGamesRequest{PageSize: 25}, 1},
		{&pb.ListGamesRequest{PageSize: 26}, 2},
		{&pb.ListGamesRequest{PageSize: 1 << 30}, 8},
		{&pb.ListGamesRequest{PageSize: -1}, 1},
		{&pb.ListStandingsRequest{PageSize: 25, Neighbors: 50}, 4},
		{&pb.ListStandingsRequest{Neighbors: 5}, 1},
		{&pb.GetRankRequest{Neighbors: 100}, 8},
	} {
		assert.Equal(t, tt.cost, readCost(tt.request), "%v", tt.request)
	}
	assert.True(t, methods[pb.GameService_Move_FullMethodName].free)
	assert.False(t, methods[pb.GameService_GetGame_FullMethodName].free)
}

// Ensure that the calls that change something and those that return streams are known: many of the former run at
// the same time, and pages of other origins may make only the others.
func TestMethodOf(t *testing.T) {
	t.Parallel()
	var changing []string
	for _, service := range []grpc.ServiceDesc{
		pb.GameService_ServiceDesc, pb.ChallengeService_ServiceDesc, pb.LeaderboardService_ServiceDesc, pb.PlayerService_ServiceDesc,
	} {
		for _, method := range service.Methods {
			known, streams, changes := MethodOf("/" + service.ServiceName + "/" + method.MethodName)
			assert.True(t, known && !streams, method.MethodName)
			if changes {
				changing = append(changing, method.MethodName)
			}
		}
		for _, stream := range service.Streams {
			known, streams, changes := MethodOf("/" + service.ServiceName + "/" + stream.StreamName)
			assert.True(t, known && streams && !changes, stream.StreamName)
		}
	}
	assert.ElementsMatch(t, []string{
		"CreateGame", "JoinGame", "Move", "Undo", "Resign", "React",
		"CreateChallenge", "JoinChallenge", "LeaveChallenge", "StartChallenge", "RaceNow",
		"CreatePlayer", "Rename", "RotateToken", "AddKey", "RemoveKey", "CreateSessionLink", "OpenSession", "EndSession",
	}, changing)
}
