package server_test

import (
	"bytes"
	"context"
	"net"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/durationpb"

	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	sshtest "github.com/gridstand/gridstand/internal/testkit/ssh"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

var aclLine = regexp.MustCompile(`(?m)^    ACL SETUSER gridstand .*$`)

// Ensure that a server and its operator can do all their work as the Redis user that
// SECURITY.md recommends, and that this user can do nothing else.
func TestACL(t *testing.T) {
	t.Parallel()
	testACL(t, redistest.StartRedis(t, "--appendonly", "yes").Addr(), "")
}

// testACL tests the Redis server at addr. It appends parameters to the server's URL.
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

	// Players can play.
	ann := playertest.New(waittest.Context(t), t, conn, "Ann")
	calls, g := ann.Ctx, ann.Create(t, &pb.CreateGameRequest{Variant: "classic"})
	watch, err := ann.Games.Watch(calls, &pb.WatchRequest{GameId: g.GetId()})
	require.NoError(t, err)
	_, err = watch.Recv()
	require.NoError(t, err)
	ann.Move(t, g)
	ann.Create(t, &pb.CreateGameRequest{Variant: "tribolo"}) // bots take the other seats
	exhibition := ann.Create(t, &pb.CreateGameRequest{Variant: "twos", Seats: []*pb.SeatRequest{
		{Occupant: &pb.SeatRequest_Bot{Bot: "greedy"}},
	}})
	_, err = ann.Games.GetGame(calls, &pb.GetGameRequest{GameId: exhibition.GetId()})
	require.NoError(t, err)
	_, err = ann.Games.ListGames(calls, &pb.ListGamesRequest{Status: pb.GameStatus_GAME_STATUS_ACTIVE, OrderBy: pb.OrderBy_ORDER_BY_WATCHERS})
	require.NoError(t, err)
	ann.Resign(t, g)
	_, err = pb.NewLeaderboardServiceClient(conn).ListScores(calls, &pb.ListScoresRequest{Variant: "classic"})
	require.NoError(t, err)
	_, _ = pb.NewLeaderboardServiceClient(conn).GetRank(calls, &pb.GetRankRequest{Variant: "classic", PlayerId: "me"})
	challenges := pb.NewChallengeServiceClient(conn)
	race, err := challenges.CreateChallenge(calls, &pb.CreateChallengeRequest{
		Kind: pb.ChallengeKind_CHALLENGE_KIND_RACE, Variant: "classic", Limit: durationpb.New(time.Minute),
	})
	require.NoError(t, err)
	listed, err := challenges.ListChallenges(calls, &pb.ListChallengesRequest{})
	require.NoError(t, err)
	require.NotEmpty(t, listed.GetChallenges())
	_, err = challenges.LeaveChallenge(calls, &pb.LeaveChallengeRequest{ChallengeId: race.GetChallenge().GetId()})
	require.NoError(t, err)
	playBySSH(calls, t, srv.Addr(), c)
	_, err = pb.NewPlayerServiceClient(conn).RotateToken(calls, &pb.RotateTokenRequest{})
	require.NoError(t, err)
	waittest.Until(t, "the server has sent a heartbeat", func() bool {
		return admin.Exists(ctx, "heartbeats:{beat}").Val() == 1
	})

	// Operators can do their work.
	operator, err := server.Operate(ctx, c, false)
	require.NoError(t, err)
	_, _, err = operator.Hide(ctx, "Ann")
	require.NoError(t, err)
	_, err = operator.Rebuild(ctx)
	require.NoError(t, err)
	_, _, err = operator.Unhide(ctx, "Ann")
	require.NoError(t, err)
	operator.Close()
	stop()

	// The store can be dumped and restored.
	var dump bytes.Buffer
	none := func(server.Dumped) {}
	dumped, err := server.Dump(ctx, c, &dump, none)
	require.NoError(t, err)
	require.NoError(t, admin.Set(ctx, "other", "x", 0).Err())
	_, err = server.Restore(ctx, c, bytes.NewReader(dump.Bytes()), false, none)
	require.ErrorContains(t, err, "it has data; --replace deletes that first")
	restored, err := server.Restore(ctx, c, bytes.NewReader(dump.Bytes()), true, none)
	require.NoError(t, err)
	assert.Equal(t, dumped, restored)
	assert.Equal(t, "x", admin.Get(ctx, "other").Val(), "another program's key")

	// Nothing was denied.
	denied, err := admin.ACLLog(ctx, 100).Result()
	require.NoError(t, err)
	for _, d := range denied {
		if d.Object == "config|get" {
			continue // the server tried to read appendfsync; see the test of the log below
		}
		assert.Fail(t, "denied", "%s of %s (%s)", d.Reason, d.Object, d.Context)
	}

	// Everything else is denied.
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

	// The log names the settings that cannot be checked.
	assert.NotContains(t, log.String(), "redis can lose", "INFO shows the rest")
	assert.Contains(t, log.String(), "cannot read appendfsync from redis")
}

// playBySSH links and removes a key, creates an account for another key through an SSH
// host, and revokes the host's credential.
func playBySSH(calls context.Context, t *testing.T, addr net.Addr, c server.Config) {
	t.Helper()
	operator, err := server.Operate(t.Context(), c, false)
	require.NoError(t, err)
	defer operator.Close()
	credential, err := operator.Credentials.Create(t.Context(), "host")
	require.NoError(t, err)
	players := pb.NewPlayerServiceClient(servertest.Dial(t, addr))
	me, err := players.GetPlayer(calls, &pb.GetPlayerRequest{PlayerId: "me"})
	require.NoError(t, err)
	added, err := players.AddKey(calls, &pb.AddKeyRequest{Signature: sshtest.Sign(t, sshtest.Key(t), me.GetPlayer().GetId())})
	require.NoError(t, err)
	_, err = players.ListKeys(calls, &pb.ListKeysRequest{})
	require.NoError(t, err)
	_, err = players.RemoveKey(calls, &pb.RemoveKeyRequest{Fingerprint: added.GetKey().GetFingerprint()})
	require.NoError(t, err)

	over := metadata.NewOutgoingContext(waittest.Context(t), metadata.Pairs("authorization", "Bearer "+credential, "gridstand-ssh-key", added.GetKey().GetFingerprint()))
	_, err = players.CreatePlayer(over, &pb.CreatePlayerRequest{Name: "Eve"})
	require.NoError(t, err)
	_, err = players.GetPlayer(over, &pb.GetPlayerRequest{PlayerId: "me"})
	require.NoError(t, err)
	_, err = operator.Credentials.List(t.Context())
	require.NoError(t, err)
	require.NoError(t, operator.Credentials.Revoke(t.Context(), "host"))
}
