package client_test

import (
	"context"
	"net/netip"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"

	"github.com/gridstand/gridstand/client"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that a session whose key is not linked to an account can watch: until an account
// exists, only the calls that look up or create the account carry the key.
func TestForSession_KeyNotLinked(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var sent []string // authorization and key of each call
	note := func(ctx context.Context) {
		md, _ := metadata.FromIncomingContext(ctx)
		mu.Lock()
		defer mu.Unlock()
		text := tokenOf(ctx)
		for _, key := range md.Get("gridstand-ssh-key") {
			text += " " + key
		}
		assert.Equal(t, []string{"192.0.2.7"}, md.Get("x-forwarded-for"))
		sent = append(sent, text)
	}
	f := &fake{
		listGames: func(_ int, ctx context.Context, _ *pb.ListGamesRequest) (*pb.ListGamesResponse, error) {
			note(ctx)
			return &pb.ListGamesResponse{}, nil
		},
		getPlayer: func(_ int, ctx context.Context, _ *pb.GetPlayerRequest) (*pb.Player, error) {
			note(ctx)
			return nil, refuse(codes.Unauthenticated, pb.ReasonKeyNotLinked)
		},
		createPlayer: func(_ int, ctx context.Context, _ *pb.CreatePlayerRequest) (*pb.CreatePlayerResponse, error) {
			note(ctx)
			return &pb.CreatePlayerResponse{Player: &pb.Player{Id: playerID, Name: "ada"}}, nil
		},
	}
	ctx := waittest.Context(t)
	c := f.client(t).ForSession(client.Session{
		Credential: "gridstand_ssh_x", Key: "SHA256:abc", Address: netip.MustParseAddr("192.0.2.7"),
	})
	list := func() {
		_, err := c.Games.ListGames(ctx, &pb.ListGamesRequest{})
		require.NoError(t, err)
	}
	list()
	_, err := c.Me(ctx)
	require.ErrorIs(t, err, client.ErrKeyNotLinked)
	assert.Empty(t, c.PlayerID())
	list()
	player, token, err := c.CreatePlayer(ctx, "ada", false)
	require.NoError(t, err)
	assert.Empty(t, token)
	assert.Equal(t, playerID, player.GetId())
	assert.Equal(t, playerID, c.PlayerID())
	list()
	const identified = "Bearer gridstand_ssh_x SHA256:abc"
	assert.Equal(t, []string{"", identified, "", identified, identified}, sent)
}
