package contract

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	connecttest "github.com/gridstand/gridstand/internal/testkit/connect"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// raw sends bytes unchanged, under the name of the codec that servers use.
type raw struct{}

func (raw) Name() string { return "proto" }

func (raw) Marshal(v any) ([]byte, error) {
	if m, ok := v.(proto.Message); ok {
		return proto.Marshal(m)
	}
	return v.([]byte), nil
}

func (raw) Unmarshal(data []byte, v any) error { return proto.Unmarshal(data, v.(proto.Message)) }

// plain requires an error from gRPC itself, which has no details.
func plain(t testing.TB, err error, code codes.Code) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, code, status.Code(err), "%v", err)
	require.Empty(t, status.Convert(err).Details())
}

// alive requires that the server still works.
func alive(t testing.TB, s *testServer) {
	t.Helper()
	p := s.player(t)
	g := s.game(t, p, "classic")
	w := s.watch(t, s.anyone, from(g.GetId(), 0))
	s.moves(t, p, g, 2)
	s.resign(t, p, g.GetId())
	for range 4 {
		w.event(t)
	}
	w.end(t)
}

// Ensure that a server refuses bytes that cannot be decoded, responds according to the
// contract to bytes that happen to be a valid message, and survives both.
func TestRawBytes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	each(t, func(t *testing.T, s *testServer) {
		random := rand.New(rand.NewPCG(seed, 0))
		conn := dial(t, s.addr)
		inputs := [][]byte{
			{0x80},
			{0x00},
			{0x07},
			{0x0a},
			{0x0a, 0xff},
			{0x0b},
			{0x0c},
			bytes.Repeat([]byte{0xff}, 100),
			bytes.Repeat([]byte{0x0b}, 4_000), // nested groups
			append(protowire.AppendTag(nil, 1, protowire.BytesType), 0xff, 0xff, 0xff, 0xff, 0x0f), // announces 4 GB
		}
		for field := protowire.Number(1); field < 8; field++ {
			bad := protowire.AppendTag(nil, field, protowire.BytesType)
			inputs = append(inputs, protowire.AppendBytes(bad, []byte{0xff, 0xfe, 'a'})) // invalid UTF-8
		}
		for range 25 {
			b := make([]byte, random.IntN(60))
			for i := range b {
				b[i] = byte(random.Uint32())
			}
			if len(b) > 2 && random.IntN(2) == 0 { // make it look more like a message
				b[0], b[1] = byte(1+random.IntN(7))<<3|byte(random.IntN(3)), byte(len(b)-2)
			}
			inputs = append(inputs, b)
		}
		refused := 0
		for _, m := range methods() {
			p := s.player(t) // a new player, because an input may replace the token
			for i, input := range inputs {
				ctx := s.anyone
				if i%2 == 0 {
					ctx = p.ctx
				}
				_, err := m.call(ctx, conn, input, grpc.ForceCodec(raw{}))
				if !decodes(input, m.request.New().Interface()) {
					refused++
					plain(t, err, undecodable())
					assert.Contains(t, err.Error(), "unmarshal")
				} else if err != nil {
					assert.NotContains(t, []codes.Code{codes.Internal, codes.Unknown}, status.Code(err), "%x into %s: %v", input, m.name, err)
				}
			}
		}
		assert.Greater(t, refused, 100)
		alive(t, s)
	})
}

// decodes decodes a request as a server does when it uses the current protocol.
func decodes(data []byte, m proto.Message) bool {
	if *protocol == connecttest.JSON {
		streams := false
		switch m.(type) {
		case *pb.WatchRequest, *pb.WatchChallengeRequest:
			streams = true
		}
		if len(data) == 0 {
			return streams // Connect decodes a stream's empty frame as an empty message
		}
		return protojson.Unmarshal(data, m) == nil
	}
	return proto.Unmarshal(data, m) == nil
}

// Ensure that unknown fields, such as a newer client might send, are ignored.
func TestUnknownFields(t *testing.T) {
	t.Parallel()
	s := start(t, server.Memory)
	newer := protowire.AppendString(protowire.AppendTag(nil, 1000, protowire.BytesType), "from the future")
	request := &pb.ListVariantsRequest{}
	request.ProtoReflect().SetUnknown(newer)
	_, err := s.ListVariants(s.anyone, request)
	require.NoError(t, err)
	p := s.player(t)
	create := &pb.CreateGameRequest{Variant: "classic"}
	create.ProtoReflect().SetUnknown(newer)
	s.create(t, p, create)
}

// Ensure that calls that are refused before a handler runs fail with gRPC's own codes.
func TestRefusedEarly(t *testing.T) {
	t.Parallel()
	skipShort(t)
	s := start(t, server.Memory)
	conn := dial(t, s.addr)
	p := s.player(t)
	for _, ctx := range []player{{ctx: s.anyone}, p, {ctx: s.with("wrong")}} {
		for _, name := range []string{
			"/gridstand.v1.GameService/Cheat", "/gridstand.v1.Nothing/Move", "/gridstand.v1.GameService/", "/x", "/gridstand.v2.GameService/Move",
			"/gridstand.v1.GameService/move",
		} {
			plain(t, conn.Invoke(ctx.ctx, name, &pb.MoveRequest{}, &pb.MoveResponse{}), codes.Unimplemented)
		}
	}

	// Send requests that exceed the size limit reported by GetServerInfo.
	info, err := s.GetServerInfo(s.anyone, &pb.GetServerInfoRequest{})
	require.NoError(t, err)
	limit := int(info.GetLimits().GetMessageBytes())
	require.Positive(t, limit)
	large := bytes.Repeat([]byte{0x0a, 0x01, 'a'}, limit/3+1)
	largest := &pb.GetGameRequest{GameId: strings.Repeat("a", limit-3)}
	require.Equal(t, limit, proto.Size(largest))
	if *protocol == connecttest.JSON {
		large = fmt.Appendf(nil, `{"unknown": "%s"}`, large)
		largest.GameId = strings.Repeat("a", limit-len(`{"gameId":""}`)-1) // protojson may insert a space
	}
	refused := func(err error) {
		if *protocol == overGRPC {
			plain(t, err, codes.ResourceExhausted)
			return
		}
		assert.Equal(t, codes.InvalidArgument, status.Code(err))
		assert.Equal(t, map[string]string{"limit_name": "message_bytes", "limit": strconv.Itoa(limit)}, wantReason(t, err, pb.ReasonMessageTooLarge))
	}
	for _, m := range methods() {
		_, err := m.call(p.ctx, conn, large, grpc.ForceCodec(raw{}))
		refused(err)
		_, err = m.call(p.ctx, conn, bytes.Repeat(large, 30), grpc.ForceCodec(raw{}))
		refused(err)
	}
	_, err = pb.NewGameServiceClient(conn).GetGame(p.ctx, &pb.GetGameRequest{GameId: strings.Repeat("a", limit-2)})
	refused(err)
	_, err = s.GetGame(p.ctx, largest)
	wantReason(t, err, pb.ReasonGameNotFound)

	alive(t, s)
}

// Ensure that a server refuses compressed gRPC messages.
func TestCompressed(t *testing.T) {
	skipShort(t)
	grpcOnly(t, "servers support compression with Connect")
	t.Parallel()
	s := start(t, server.Memory)
	p := s.player(t)

	// The server has no compressor. The client's compressor is not registered, because that would
	// also make it available to the server, which runs in this process.
	//nolint:staticcheck // Every other option requires registering the compressor.
	packing := servertest.Dial(t, s.addr, grpc.WithCompressor(grpc.NewGZIPCompressor()))
	for _, m := range methods() {
		_, err := m.call(p.ctx, packing, m.request.New().Interface())
		plain(t, err, codes.Unimplemented)
	}
	alive(t, s)
}

// Ensure that the server reports its health, as a whole and for each service.
func TestHealth(t *testing.T) {
	grpcOnly(t, "over HTTP, health is reported at /healthz next to the metrics")
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		health := grpc_health_v1.NewHealthClient(servertest.Dial(t, s.addr))
		for _, service := range []string{
			"", "gridstand.v1.GameService", "gridstand.v1.LeaderboardService", "gridstand.v1.PlayerService",
			"gridstand.v1.ChallengeService",
		} {
			answer, err := health.Check(s.anyone, &grpc_health_v1.HealthCheckRequest{Service: service})
			require.NoError(t, err, service)
			assert.Equal(t, grpc_health_v1.HealthCheckResponse_SERVING, answer.GetStatus(), service)
		}
		_, err := health.Check(s.anyone, &grpc_health_v1.HealthCheckRequest{Service: "gridstand.v1.Nothing"})
		plain(t, err, codes.NotFound)

		watching, err := health.Watch(s.anyone, &grpc_health_v1.HealthCheckRequest{})
		require.NoError(t, err)
		answer, err := watching.Recv()
		require.NoError(t, err)
		assert.Equal(t, grpc_health_v1.HealthCheckResponse_SERVING, answer.GetStatus())
		go s.stop()
		answer, err = watching.Recv()
		require.NoError(t, err)
		assert.Equal(t, grpc_health_v1.HealthCheckResponse_NOT_SERVING, answer.GetStatus())
	})
}

// Ensure that tools can query the contract by reflection unless it is turned off.
func TestReflection(t *testing.T) {
	grpcOnly(t, "reflection is a service of gRPC")
	t.Parallel()
	ask := func(t *testing.T, s *testServer, request *reflectionpb.ServerReflectionRequest) (*reflectionpb.ServerReflectionResponse, error) {
		stream, err := reflectionpb.NewServerReflectionClient(servertest.Dial(t, s.addr)).ServerReflectionInfo(s.anyone)
		require.NoError(t, err)
		if err := stream.Send(request); err != nil {
			t.Log(err) // Recv returns the actual error.
		}
		answer, err := stream.Recv()
		_ = stream.CloseSend()
		return answer, err
	}
	list := &reflectionpb.ServerReflectionRequest{
		MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{ListServices: "*"},
	}
	t.Run("on", func(t *testing.T) {
		t.Parallel()
		s := start(t, server.Memory)
		answer, err := ask(t, s, list)
		require.NoError(t, err)
		var names []string
		for _, service := range answer.GetListServicesResponse().GetService() {
			names = append(names, service.GetName())
		}
		assert.Subset(t, names, []string{
			"gridstand.v1.GameService", "gridstand.v1.LeaderboardService", "gridstand.v1.PlayerService", "gridstand.v1.ChallengeService",
			"grpc.health.v1.Health",
		})
		for _, m := range methods() {
			symbol := strings.ReplaceAll(strings.TrimPrefix(m.name, "/"), "/", ".")
			answer, err := ask(t, s, &reflectionpb.ServerReflectionRequest{
				MessageRequest: &reflectionpb.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: symbol},
			})
			require.NoError(t, err)
			assert.NotEmpty(t, answer.GetFileDescriptorResponse().GetFileDescriptorProto(), symbol)
		}
	})
	t.Run("off", func(t *testing.T) {
		t.Parallel()
		s := start(t, server.Memory, func(c *server.Config) { c.Reflection = false })
		_, err := ask(t, s, list)
		plain(t, err, codes.Unimplemented)
	})
}
