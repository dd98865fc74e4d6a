//go:build slow

package compose

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// TestBase covers docker-compose.yml with programs that every operator has: a game is played through
// the published port with curl, and redis-cli shows that Redis keeps its score on the leaderboard, in a
// sorted set.
func TestBase(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.up(nil, "--build")
	var account pb.CreatePlayerResponse
	s.curl("PlayerService/CreatePlayer", "", &pb.CreatePlayerRequest{Name: "ada"}, &account)
	token := account.GetToken()
	var created pb.CreateGameResponse
	s.curl("GameService/CreateGame", token, &pb.CreateGameRequest{Variant: "classic"}, &created)
	g := created.GetGame()
	for g.GetPosition().GetScores()[0] == 0 {
		var moved pb.MoveResponse
		s.curl("GameService/Move", token, playertest.Slide(g), &moved)
		playertest.Apply(g, moved.GetEvent())
	}
	var resigned pb.ResignResponse
	s.curl("GameService/Resign", token, &pb.ResignRequest{GameId: g.GetId()}, &resigned)
	playertest.Apply(g, resigned.GetEvent())
	require.Equal(t, pb.Result_REASON_RESIGNED, g.GetResult().GetReason())

	const board = "scores:{classic:all}"
	redis := func(args ...string) string {
		t.Helper()
		return docker(t, append([]string{"exec", s.containers("redis")[0], "redis-cli"}, args...)...)
	}
	waittest.Until(t, "the score is on the leaderboard", func() bool { return redis("EXISTS", board) == "1" })
	assert.Equal(t, "zset", redis("TYPE", board))
	entry := strings.Fields(redis("ZREVRANGE", board, "0", "-1", "WITHSCORES"))
	require.Len(t, entry, 2)
	assert.Contains(t, entry[0], account.GetPlayer().GetId())
	assert.Contains(t, entry[0], g.GetId())
	assert.Equal(t, strconv.Itoa(int(g.GetPosition().GetScores()[0])), entry[1])
	var ranked pb.GetRankResponse
	s.curl("LeaderboardService/GetRank", "", &pb.GetRankRequest{Variant: "classic", PlayerId: account.GetPlayer().GetId()}, &ranked)
	assert.Equal(t, entry[1], strconv.Itoa(int(ranked.GetEntry().GetScore())))
}

// curl makes a call with curl, as a Connect request in JSON.
func (s *stack) curl(method, token string, request, response proto.Message) {
	s.t.Helper()
	body, err := protojson.Marshal(request)
	require.NoError(s.t, err)
	args := []string{"--silent", "--show-error", "--fail-with-body", "--json", string(body), "http://" + s.address() + "/gridstand.v1." + method}
	if token != "" {
		args = append(args, "--header", "Authorization: Bearer "+token)
	}
	out, err := exec.CommandContext(waittest.Context(s.t), "curl", args...).CombinedOutput()
	require.NoError(s.t, err, "%s: %s", method, out)
	require.NoError(s.t, protojson.Unmarshal(out, response), "%s", out)
}
