package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/limits"
)

// Ensure that wrong tokens and exceeded limits are counted by reason, and logged with the
// client's address, even behind a proxy, but without the token.
func TestRefusals(t *testing.T) {
	t.Parallel()
	c, log := servertest.Config(t), &servertest.Log{}
	c.Logger, c.Metrics, c.Proxies = log.Logger(), "127.0.0.1:0", "127.0.0.1"
	c.Limits[limits.NewPlayersPerMinute], c.Limits[limits.WrongTokensPerMinute] = 1, 3
	server, _ := servertest.Start(t, c)
	conn := servertest.Dial(t, server.Addr())
	players := pb.NewPlayerServiceClient(conn)
	from := func(address string, pairs ...string) []string {
		return append(pairs, "x-forwarded-for", address)
	}
	const honest, guesser = "192.0.2.7", "198.51.100.9"
	home := metadata.AppendToOutgoingContext(waittest.Context(t), from(honest)...)
	ann, err := players.CreatePlayer(home, &pb.CreatePlayerRequest{Name: "Ann"})
	require.NoError(t, err)
	_, err = players.CreatePlayer(home, &pb.CreatePlayerRequest{Name: "Bob"})
	require.Equal(t, codes.ResourceExhausted, status.Code(err))

	wrong := ann.GetPlayer().GetId() + "." + strings.Repeat("q", 26)
	guess := metadata.AppendToOutgoingContext(waittest.Context(t), from(guesser, "authorization", "Bearer "+wrong)...)
	for n := range 5 {
		_, err := players.GetPlayer(guess, &pb.GetPlayerRequest{PlayerId: "me"})
		want := codes.Unauthenticated
		if n >= 3 {
			want = codes.ResourceExhausted
		}
		require.Equal(t, want, status.Code(err))
	}
	// A call that lacks a required token does not count as a call with a wrong token.
	_, err = players.GetPlayer(home, &pb.GetPlayerRequest{PlayerId: "me"})
	require.Equal(t, codes.Unauthenticated, status.Code(err))

	_, body := servertest.Get(t, "http://"+server.MetricsAddr().String()+"/metrics")
	for reason, want := range map[string]struct {
		count   int
		address string
	}{
		"wrong_token":             {3, guesser},
		"wrong_tokens_per_minute": {2, guesser},
		"new_players_per_minute":  {1, honest},
	} {
		assert.Contains(t, body, fmt.Sprintf("\ngridstand_refusals_total{reason=%q} %d\n", reason, want.count))
		assert.Equal(t, 1, strings.Count(log.String(), "reason="+reason+" address="+want.address+"\n"), reason)
	}
	assert.NotContains(t, log.String(), wrong)
	assert.NotContains(t, log.String(), strings.Repeat("q", 26))
}
