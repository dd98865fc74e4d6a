package rpc

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/peer"

	"github.com/gridstand/gridstand/server/internal/front"
)

// anyPlanner is embedded in fakes that implement only some methods.
type anyPlanner interface{ Planner }

// createdFrom is a Planner that records from which address each player creates games.
type createdFrom struct {
	anyPlanner

	addresses map[string]string
}

func (c createdFrom) Creates(playerID, address string) { c.addresses[playerID] = address }

// Ensure that the Planner gets the address of a caller who creates a game.
func TestTakeGameQuotas_Creates(t *testing.T) {
	t.Parallel()
	planner := createdFrom{addresses: map[string]string{}}
	s := &Service{Config: Config{Planner: planner, Budgets: &front.Budgets{}}}
	ctx := peer.NewContext(t.Context(), &peer.Peer{Addr: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1}})
	require.NoError(t, s.takeGameQuotas(ctx, "ada"))
	assert.Equal(t, map[string]string{"ada": "192.0.2.1"}, planner.addresses)
}
