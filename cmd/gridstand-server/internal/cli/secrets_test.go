package cli

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

var servingMetrics = regexp.MustCompile(`msg="serving metrics" address=(\S+)`)

// TestNoSecrets makes calls that succeed and calls that fail on a server with debug
// logging. It then searches the log and all output to operators and clients for tokens, the
// Redis password and the seeds of unfinished games.
func TestNoSecrets(t *testing.T) {
	t.Parallel()
	store := redistest.StartRedis(t)
	client := redistest.NewClient(t, store.Addr())
	const password = "open-sesame-0123456789"
	require.NoError(t, client.ACLSetUser(t.Context(), "gridstand", "on", ">"+password, "~*", "&*", "+@all").Err())
	p := startProcess(t, "--store", "redis://gridstand:"+password+"@"+store.Addr(), "--log-level", "debug", "--metrics", "127.0.0.1:0",
		"--bot-pace", "1ms", "--max-moves-per-second", "20")
	conn := servertest.Dial(t, p.addr)
	ann := playertest.New(t.Context(), t, conn, "Ann")
	games, ctx := ann.Games, ann.Ctx
	said := &bytes.Buffer{}
	note := func(m proto.Message, err error) {
		if err != nil {
			m = status.Convert(err).Proto()
			fmt.Fprintln(said, err)
		}
		wire, _ := proto.Marshal(m)
		json, _ := protojson.Marshal(m)
		said.Write(wire)
		said.Write(json)
		said.WriteString(prototext.Format(m))
	}

	token := ann.Token
	_, secret, _ := strings.Cut(token, ".")
	wrong := strings.Repeat("q", 26)
	for _, authorization := range []string{
		token, "Bearer " + token + token, "Basic " + token, "Bearer " + ann.ID + "." + wrong, "Bearer " + secret,
	} {
		calls := metadata.AppendToOutgoingContext(t.Context(), "authorization", authorization)
		note(pb.NewPlayerServiceClient(conn).GetPlayer(calls, &pb.GetPlayerRequest{PlayerId: "me"}))
	}
	create := func(request *pb.CreateGameRequest) *pb.Game {
		g := ann.Create(t, request)
		note(g, nil)
		return g
	}
	solo := create(&pb.CreateGameRequest{Variant: "classic"})
	create(&pb.CreateGameRequest{Variant: "tribolo", Private: true})
	seat := &pb.SeatRequest{Occupant: &pb.SeatRequest_Open{Open: &pb.Open{}}}
	create(&pb.CreateGameRequest{Variant: "tribolo", Seats: []*pb.SeatRequest{seat, seat, seat}})
	broken, swapped := create(&pb.CreateGameRequest{Variant: "6x6"}), create(&pb.CreateGameRequest{Variant: "3x3"})
	watch, err := games.Watch(ctx, &pb.WatchRequest{GameId: solo.GetId(), AfterVersion: proto.Int32(0)})
	require.NoError(t, err)
	for range 40 { // enough moves to exceed the rate limit
		moved, err := games.Move(ctx, playertest.Slide(solo))
		note(moved, err)
		if err == nil {
			playertest.Apply(solo, moved.GetEvent())
			note(watch.Recv())
		}
	}
	note(games.Undo(ctx, &pb.UndoRequest{GameId: solo.GetId(), Version: solo.GetVersion()}))
	note(games.Move(ctx, &pb.MoveRequest{GameId: solo.GetId(), Version: 99, Move: &pb.MoveRequest_Cell{Cell: &pb.Cell{}}}))
	note(games.ListGames(ctx, &pb.ListGamesRequest{PlayerId: "me"}))
	note(games.ListGames(ctx, &pb.ListGamesRequest{}))

	// Damage two games' logs so that the server reports errors: empty one log, and replace
	// the seed in the other with the seed of a third game.
	secrets := map[string][]byte{"token": []byte(secret), "a wrong token": []byte(wrong), "Redis's password": []byte(password)}
	keys, err := client.Keys(ctx, "game:{*}:log").Result()
	require.NoError(t, err)
	require.Len(t, keys, 5)
	for _, key := range keys {
		first, err := client.XRangeN(ctx, key, "1", "1", 1).Result()
		require.NoError(t, err)
		seed, ok := first[0].Values["s"].(string)
		require.True(t, ok)
		require.Len(t, seed, 32)
		secrets[key] = []byte(seed)
	}
	require.NoError(t, client.XTrimMaxLen(ctx, "game:{"+broken.GetId()+"}:log", 0).Err())
	key := "game:{" + swapped.GetId() + "}:log"
	first, err := client.XRangeN(ctx, key, "1", "1", 1).Result()
	require.NoError(t, err)
	require.NoError(t, client.Del(ctx, key).Err())
	first[0].Values["s"] = string(secrets["game:{"+solo.GetId()+"}:log"])
	require.NoError(t, client.XAdd(ctx, &redis.XAddArgs{Stream: key, ID: first[0].ID, Values: first[0].Values}).Err())
	for _, g := range []*pb.Game{broken, swapped, solo} {
		note(games.GetGame(ctx, &pb.GetGameRequest{GameId: g.GetId()}))
	}

	p.waitFor(t, servingMetrics)
	admin := "http://" + servingMetrics.FindStringSubmatch(p.output())[1]
	pages := []string{"/metrics", "/healthz", "/readyz", "/debug/pprof/", "/debug/pprof/cmdline", "/debug/pprof/goroutine?debug=2"}
	for _, profile := range []string{"allocs", "block", "goroutine", "heap", "mutex", "threadcreate"} {
		pages = append(pages, "/debug/pprof/"+profile, "/debug/pprof/"+profile+"?debug=1")
	}
	for _, page := range pages {
		_, body := servertest.Get(t, admin+page)
		said.WriteString(body)
	}
	store.Kill()
	note(games.GetGame(ctx, &pb.GetGameRequest{GameId: solo.GetId()}))
	// Also search the stack dump of a crash.
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGQUIT))
	p.end(t)
	require.Contains(t, p.output(), "SIGQUIT")
	require.Contains(t, p.output(), "level=DEBUG")
	said.WriteString(p.output())

	everything := said.String()
	require.Contains(t, everything, base64.StdEncoding.EncodeToString(solo.GetSeedCommitment()), "the search should find a value that is not secret")
	for name, secret := range secrets {
		for _, form := range forms(secret) {
			//nolint:testifylint // NotContains would print the complete output.
			assert.False(t, strings.Contains(everything, form), "the output contains %s", name)
		}
	}
}

// forms returns a secret in every encoding that the output might contain.
func forms(secret []byte) []string {
	return []string{
		string(secret), hex.EncodeToString(secret), strings.ToUpper(hex.EncodeToString(secret)),
		base64.RawStdEncoding.EncodeToString(secret), base64.RawURLEncoding.EncodeToString(secret),
		strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(secret)),
		strings.Trim(fmt.Sprint(secret), "[]"), strings.Trim(fmt.Sprintf("%q", secret), `"`),
		strings.Trim(fmt.Sprintf("%#v", secret), "[]byte{}"),
	}
}
