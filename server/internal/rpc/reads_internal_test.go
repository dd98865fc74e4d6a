package rpc

import (
	"testing"

	"github.com/stretchr/testify/assert"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that a request counts as reads in proportion to what it asks for.
func TestReadCost(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		request any
		cost    int
		store   bool
	}{
		{&pb.MoveRequest{}, 0, false},
		{&pb.GetServerInfoRequest{}, 1, false},
		{&pb.GetGameRequest{}, 1, true},
		{&pb.AddKeyRequest{}, signatureCost, true},
		{&pb.ListGamesRequest{}, 2, true},
		{&pb.ListGamesRequest{PageSize: 25}, 1, true},
		{&pb.ListGamesRequest{PageSize: 26}, 2, true},
		{&pb.ListGamesRequest{PageSize: 1 << 30}, 8, true},
		{&pb.ListGamesRequest{PageSize: -1}, 1, true},
		{&pb.ListStandingsRequest{PageSize: 25, Neighbors: 50}, 4, true},
		{&pb.ListStandingsRequest{Neighbors: 5}, 1, true},
		{&pb.GetRankRequest{Neighbors: 100}, 8, true},
	} {
		cost, store := readCost(tt.request)
		assert.Equal(t, tt.cost, cost, "%v", tt.request)
		assert.Equal(t, tt.store, store, "%v", tt.request)
	}
}
