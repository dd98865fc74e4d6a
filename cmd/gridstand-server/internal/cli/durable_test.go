package cli

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that a server without settings keeps what it acknowledged when it is killed,
// and that no second server starts beside it.
func TestProcess_Killed(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	t.Setenv("GRIDSTAND_DATA", data)
	p := startProcess(t)
	assert.Contains(t, p.output(), "store=sqlite:"+filepath.Join(data, "gridstand.db"))
	code, _, stderr := call(t, "--listen", "127.0.0.1:0", "--log-level", "error")
	assert.Equal(t, exitFailed, code)
	assert.Regexp(t, `^gridstand-server: opening .*gridstand\.db: another server uses it: process \d+\n$`, stderr)

	conn := servertest.Dial(t, p.addr)
	ann, err := pb.NewPlayerServiceClient(conn).CreatePlayer(t.Context(), &pb.CreatePlayerRequest{Name: "Ann"})
	require.NoError(t, err)
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+ann.GetToken())
	created, err := pb.NewGameServiceClient(conn).CreateGame(ctx, &pb.CreateGameRequest{Variant: "classic"})
	require.NoError(t, err)
	version, position := created.GetGame().GetVersion(), created.GetGame().GetPosition()
	for range 20 {
		moved, err := pb.NewGameServiceClient(conn).Move(ctx, &pb.MoveRequest{
			GameId: created.GetGame().GetId(), Version: version,
			Move: &pb.MoveRequest_Direction{Direction: position.GetTwenty48().GetLegalMoves()[0]},
		})
		require.NoError(t, err)
		version, position = moved.GetEvent().GetVersion(), moved.GetEvent().GetPosition()
	}
	require.NoError(t, p.cmd.Process.Kill())
	p.end(t)

	conn = servertest.Dial(t, startProcess(t).addr)
	info, err := pb.NewGameServiceClient(conn).GetServerInfo(ctx, &pb.GetServerInfoRequest{})
	require.NoError(t, err)
	assert.Equal(t, pb.Storage_STORAGE_DURABLE, info.GetStorage())
	got, err := pb.NewGameServiceClient(conn).GetGame(ctx, &pb.GetGameRequest{GameId: created.GetGame().GetId()})
	require.NoError(t, err)
	assert.Equal(t, version, got.GetGame().GetVersion())
	assert.True(t, proto.Equal(position, got.GetGame().GetPosition()))
	mine, err := pb.NewGameServiceClient(conn).ListGames(ctx, &pb.ListGamesRequest{PlayerId: "me"})
	require.NoError(t, err)
	assert.Len(t, mine.GetGames(), 1)
}
