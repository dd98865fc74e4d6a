package contract

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// Ensure that every call reports a game whose log was lost as damaged, with the last readable
// version, and never as a game that does not exist.
func TestGameDamaged(t *testing.T) {
	t.Parallel()
	redis := redistest.StartMiniredis(t)
	quiet := func(c *server.Config) { c.Logger = slog.New(slog.DiscardHandler) }
	played, fresh := start(t, "redis://"+redis.Addr(), quiet), start(t, "redis://"+redis.Addr(), quiet)
	client := redistest.NewClient(t, redis.Addr())
	p := played.player(t)
	g := played.game(t, p, "classic")
	event := played.moves(t, p, g, 3)[2]
	require.NoError(t, client.Del(t.Context(), "game:{"+g.GetId()+"}:log").Err())

	for _, s := range []*testServer{played, fresh} {
		ctx := s.with(p.token)
		damaged := map[string]error{}
		_, damaged["GetGame"] = s.GetGame(s.anyone, &pb.GetGameRequest{GameId: g.GetId()})
		damaged["Watch"] = s.watch(t, s.anyone, &pb.WatchRequest{GameId: g.GetId()}).refused(t)
		damaged["Watch from 0"] = s.watch(t, s.anyone, from(g.GetId(), 0)).refused(t)
		_, damaged["Move"] = s.Move(ctx, slide(g.GetId(), event.GetVersion(), event.GetPosition().GetTwenty48().GetLegalMoves()[0]))
		_, damaged["Resign"] = s.Resign(ctx, &pb.ResignRequest{GameId: g.GetId()})
		for call, err := range damaged {
			t.Log(call)
			wantReason(t, err, pb.ReasonGameDamaged)
		}
	}
	assert.Zero(t, client.Exists(t.Context(), "game:{"+g.GetId()+"}:log").Val(), "nothing was written")
}
