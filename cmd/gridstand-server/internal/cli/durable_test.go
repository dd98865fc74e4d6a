package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that a server with default settings loses nothing that it acknowledged if it is killed, and that
// neither a second server nor a backup uses its file by another name.
func TestProcess_Killed(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	t.Setenv("GRIDSTAND_DATA", data)
	t.Setenv("GRIDSTAND_THEME", "dark")
	p := startProcess(t)
	assert.Contains(t, p.output(), "store=sqlite:"+filepath.Join(data, "gridstand.db"))
	assert.Regexp(t, `level=WARN .* id=variable-unknown variable=GRIDSTAND_THEME remedy="correct its name`, p.output())
	link := filepath.Join(data, "link.db")
	require.NoError(t, os.Link(filepath.Join(data, "gridstand.db"), link))
	for _, args := range [][]string{{"--listen", "127.0.0.1:0"}, {"backup", filepath.Join(data, "copy.db")}} {
		code, _, stderr := call(t, append(args, "--store", "sqlite:"+link)...)
		assert.Equal(t, exitFailed, code)
		assert.Contains(t, stderr, "link.db: another server is using it by another name, such as a hard link")
	}

	conn := servertest.Dial(t, p.addr)
	ann := playertest.New(t.Context(), t, conn, "Ann")
	g := ann.Create(t, &pb.CreateGameRequest{Variant: "classic"})
	for range 20 {
		ann.Move(t, g)
	}
	p.Kill()

	p = startProcess(t)
	conn = servertest.Dial(t, p.addr)
	info, err := pb.NewGameServiceClient(conn).GetServerInfo(ann.Ctx, &pb.GetServerInfoRequest{})
	require.NoError(t, err)
	assert.Equal(t, pb.Storage_STORAGE_DURABLE, info.GetStorage())
	got, err := pb.NewGameServiceClient(conn).GetGame(ann.Ctx, &pb.GetGameRequest{GameId: g.GetId()})
	require.NoError(t, err)
	assert.Equal(t, g.GetVersion(), got.GetGame().GetVersion())
	assert.True(t, proto.Equal(g.GetPosition(), got.GetGame().GetPosition()))
	mine, err := pb.NewGameServiceClient(conn).ListGames(ann.Ctx, &pb.ListGamesRequest{PlayerId: "me"})
	require.NoError(t, err)
	assert.Len(t, mine.GetGames(), 1)
}
