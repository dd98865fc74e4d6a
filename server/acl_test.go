package server_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
	"google.golang.org/grpc/metadata"

	"github.com/gridstand/gridstand/internal/sshsig"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

var aclLine = regexp.MustCompile(`(?m)^    ACL SETUSER gridstand .*$`)

// Ensure that a server and its operator can do all that they do as the user
// whom SECURITY.md tells people to make, who can do nothing else.
func TestACL(t *testing.T) {
	t.Parallel()
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		testACL(t, redistest.StartRedis(t, "--appendonly", "yes").Addr(), "")
	})
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		testACL(t, redistest.StartCluster(t, 1, "--appendonly", "yes").Addrs()[0], "?cluster=true")
	})
}

// testACL is TestACL on the Redis at addr, with parameters of its URL.
func testACL(t *testing.T, addr, parameters string) {
	text, err := os.ReadFile("../SECURITY.md")
	require.NoError(t, err)
	admin := redistest.NewClient(t, addr)
	ctx := t.Context()
	var command []any
	for _, word := range strings.Fields(string(aclLine.Find(text))) {
		command = append(command, strings.Replace(word, "PASSWORD", "opensesame", 1))
	}
	require.NotEmpty(t, command)
	require.NoError(t, admin.Do(ctx, command...).Err())

	c := servertest.Config(t)
	c.Store = "redis://gridstand:opensesame@" + addr + parameters
	log := &servertest.Log{}
	c.Logger = log.Logger()
	srv, stop := servertest.Start(t, c)
	conn := servertest.Dial(t, srv.Addr())
	t.Run("players can play", func(t *testing.T) {
		calls, g := play(within(t), t, conn)
		games := pb.NewGameServiceClient(conn)
		watch, err := games.Watch(calls, &pb.WatchRequest{GameId: g.GetId()})
		require.NoError(t, err)
		_, err = watch.Recv()
		require.NoError(t, err)
		_, err = move(calls, conn, g)
		require.NoError(t, err)
		_, err = games.CreateGame(calls, &pb.CreateGameRequest{Variant: "tribolo"}) // with bots
		require.NoError(t, err)
		exhibition, err := games.CreateGame(calls, &pb.CreateGameRequest{Variant: "twos", Seats: []*pb.SeatRequest{
			{Occupant: &pb.SeatRequest_Bot{Bot: "greedy"}},
		}})
		require.NoError(t, err)
		_, err = games.GetGame(calls, &pb.GetGameRequest{GameId: exhibition.GetGame().GetId()})
		require.NoError(t, err)
		_, err = games.ListGames(calls, &pb.ListGamesRequest{Status: pb.GameStatus_GAME_STATUS_ACTIVE, OrderBy: pb.OrderBy_ORDER_BY_WATCHERS})
		require.NoError(t, err)
		_, err = games.Resign(calls, &pb.ResignRequest{GameId: g.GetId()})
		require.NoError(t, err)
		_, err = pb.NewLeaderboardServiceClient(conn).ListScores(calls, &pb.ListScoresRequest{Variant: "classic"})
		require.NoError(t, err)
		_, _ = pb.NewLeaderboardServiceClient(conn).GetRank(calls, &pb.GetRankRequest{Variant: "classic", PlayerId: "me"})
		_, err = pb.NewPlayerServiceClient(conn).RotateToken(calls, &pb.RotateTokenRequest{})
		require.NoError(t, err)
		playBySSH(calls, t, srv.Addr(), c)
		require.Eventually(t, func() bool { return admin.Exists(ctx, "heartbeats:{beat}", "claim:reconcile:{beat}").Val() == 2 }, patience, patience/1000)
	})

	t.Run("operators can work", func(t *testing.T) {
		operator, err := server.Operate(ctx, c)
		require.NoError(t, err)
		defer operator.Close()
		_, _, err = operator.Hide(ctx, "Ann")
		require.NoError(t, err)
		_, err = operator.Rebuild(ctx)
		require.NoError(t, err)
		_, _, err = operator.Unhide(ctx, "Ann")
		require.NoError(t, err)
	})
	stop()
	t.Run("the store can be copied, and back", func(t *testing.T) {
		file := server.File(filepath.Join(t.TempDir(), "copy.db"))
		_, err := server.Copy(ctx, c, file, func(server.Copied) {})
		require.NoError(t, err)
		back := c
		back.Store = file
		require.NoError(t, admin.FlushDB(ctx).Err())
		_, err = server.Copy(ctx, back, c.Store, func(server.Copied) {})
		require.NoError(t, err)
	})
	t.Run("nothing was denied", func(t *testing.T) {
		denied, err := admin.ACLLog(ctx, 100).Result()
		require.NoError(t, err)
		for _, d := range denied {
			if d.Object == "config|get" {
				continue // appendfsync, which is the operator's to know; see below
			}
			assert.Fail(t, "denied", "%s of %s (%s)", d.Reason, d.Object, d.Context)
		}
	})
	t.Run("everything else is denied", func(t *testing.T) {
		user := redis.NewClient(&redis.Options{Addr: addr, Username: "gridstand", Password: "opensesame"})
		defer func() { _ = user.Close() }()
		for _, command := range []string{
			"GET other", "SET other x", "KEYS *", "FLUSHALL", "CONFIG SET maxmemory 1", "CONFIG GET requirepass",
			"CONFIG GET *", "SLOWLOG GET", "MONITOR",
			"ACL LIST", "PUBLISH other x", "SPUBLISH other x", "SSUBSCRIBE other", "SHUTDOWN", "REPLICAOF NO ONE",
		} {
			var words []any
			for _, word := range strings.Fields(command) {
				words = append(words, word)
			}
			assert.ErrorContains(t, user.Do(ctx, words...).Err(), "NOPERM", command)
		}
	})
	t.Run("the log says what cannot be checked", func(t *testing.T) {
		assert.NotContains(t, log.String(), "redis can lose", "INFO tells the rest")
		assert.Contains(t, log.String(), "redis does not tell its appendfsync")
	})
}

// playBySSH links and removes a key, creates the account of another one through an SSH
// host, and revokes the host's credential.
func playBySSH(calls context.Context, t *testing.T, addr net.Addr, c server.Config) {
	t.Helper()
	operator, err := server.Operate(t.Context(), c)
	require.NoError(t, err)
	defer operator.Close()
	credential, err := operator.CreateCredential(t.Context(), "host")
	require.NoError(t, err)
	players := pb.NewPlayerServiceClient(servertest.Dial(t, addr))
	me, err := players.GetPlayer(calls, &pb.GetPlayerRequest{PlayerId: "me"})
	require.NoError(t, err)
	_, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	signer, err := ssh.NewSignerFromKey(private)
	require.NoError(t, err)
	signature, err := sshsig.Sign(signer, "gridstand", me.GetPlayer().GetId())
	require.NoError(t, err)
	added, err := players.AddKey(calls, &pb.AddKeyRequest{Signature: signature})
	require.NoError(t, err)
	_, err = players.ListKeys(calls, &pb.ListKeysRequest{})
	require.NoError(t, err)
	_, err = players.RemoveKey(calls, &pb.RemoveKeyRequest{Fingerprint: added.GetKey().GetFingerprint()})
	require.NoError(t, err)

	over := metadata.NewOutgoingContext(within(t), metadata.Pairs("authorization", "Bearer "+credential, "gridstand-ssh-key", added.GetKey().GetFingerprint()))
	_, err = players.CreatePlayer(over, &pb.CreatePlayerRequest{Name: "Eve"})
	require.NoError(t, err)
	_, err = players.GetPlayer(over, &pb.GetPlayerRequest{PlayerId: "me"})
	require.NoError(t, err)
	_, err = operator.Credentials(t.Context())
	require.NoError(t, err)
	require.NoError(t, operator.RevokeCredential(t.Context(), "host"))
}
