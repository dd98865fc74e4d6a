package contract

import (
	"bytes"
	"fmt"
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

// behavior is what every protocol does with its messages.
type behavior struct {
	over  []string
	check func(t *testing.T, s *testServer)
}

var behaviors = map[string]behavior{
	"bytes that are no message are refused":      {[]string{overGRPC, connecttest.JSON, connecttest.GRPCWeb}, malformed},
	"messages beyond the limit are refused":      {protocols, tooLarge},
	"methods that do not exist are refused":      {protocols, unimplemented},
	"compressed messages are refused":            {[]string{overGRPC}, compressed},
	"health is reported, until the server stops": {[]string{overGRPC}, health},
}

// Ensure that each protocol behaves as the contract specifies, and that the server survives it.
func TestBehaviors(t *testing.T) {
	t.Parallel()
	for name, b := range behaviors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			for _, protocol := range b.over {
				t.Log(protocol)
				b.check(t, s.over(t, protocol))
			}
		})
	}
}

// bare returns a connection whose responses are not checked.
func (s *testServer) bare(t *testing.T) grpc.ClientConnInterface { return dial(t, s.addr, s.protocol) }

func malformed(t *testing.T, s *testServer) {
	conn, want := s.bare(t), codes.InvalidArgument
	if s.protocol == overGRPC {
		want = codes.Internal
	}
	for _, input := range [][]byte{
		{0x80}, {0x0a}, {0x0a, 0xff}, {0x0b}, {0x0c}, {0xff, 0xff, 0xff}, bytes.Repeat([]byte{0x0b}, 4_000), // nested groups
		append(protowire.AppendTag(nil, 1, protowire.BytesType), 0xff, 0xff, 0xff, 0xff, 0x0f), // announces 4 GB
	} {
		_, err := methods()[0].call(s.anyone, conn, input, grpc.ForceCodec(raw{}))
		plain(t, err, want)
	}
	for _, m := range methods() {
		_, err := m.call(s.anyone, conn, []byte{0x80}, grpc.ForceCodec(raw{}))
		plain(t, err, want)
	}
	s.game(t, s.player(t), "classic")
}

func tooLarge(t *testing.T, s *testServer) {
	info, err := s.GetServerInfo(s.anyone, &pb.GetServerInfoRequest{})
	require.NoError(t, err)
	limit := int(info.GetLimits().GetMessageBytes())
	large := bytes.Repeat([]byte{0x0a, 0x01, 'a'}, limit/3+1)
	largest := &pb.GetGameRequest{GameId: strings.Repeat("a", limit-3)}
	require.Equal(t, limit, proto.Size(largest))
	if s.protocol == connecttest.JSON {
		large = fmt.Appendf(nil, `{"unknown": "%s"}`, large)
		largest.GameId = strings.Repeat("a", limit-len(`{"gameId":""}`)-1) // protojson may insert a space
	}
	conn := s.bare(t)
	for _, m := range methods() {
		_, err := m.call(s.anyone, conn, large, grpc.ForceCodec(raw{}))
		if s.protocol == overGRPC {
			plain(t, err, codes.ResourceExhausted)
			continue
		}
		assert.Equal(t, map[string]string{"limit_name": "message_bytes", "limit": strconv.Itoa(limit)}, wantReason(t, err, pb.ReasonMessageTooLarge))
	}
	s.refuses(t, s.anyone, largest, pb.ReasonGameNotFound)
}

func unimplemented(t *testing.T, s *testServer) {
	conn := s.bare(t)
	for _, name := range []string{
		"/gridstand.v1.GameService/Cheat", "/gridstand.v1.Nothing/Move", "/gridstand.v1.GameService/", "/x", "/gridstand.v2.GameService/Move",
		"/gridstand.v1.GameService/move",
	} {
		plain(t, conn.Invoke(s.with("wrong"), name, &pb.MoveRequest{}, &pb.MoveResponse{}), codes.Unimplemented)
	}
}

func compressed(t *testing.T, s *testServer) {
	// The server has no compressor. The client's compressor is not registered, because that would
	// also make it available to the server, which runs in this process.
	//nolint:staticcheck // Every other option requires registering the compressor.
	packing := servertest.Dial(t, s.addr, grpc.WithCompressor(grpc.NewGZIPCompressor()))
	for _, m := range methods() {
		_, err := m.call(s.anyone, packing, m.request.New().Interface())
		plain(t, err, codes.Unimplemented)
	}
}

func health(t *testing.T, s *testServer) {
	client := grpc_health_v1.NewHealthClient(s.bare(t))
	for _, service := range []string{"", "gridstand.v1.GameService", "gridstand.v1.ChallengeService"} {
		answer, err := client.Check(s.anyone, &grpc_health_v1.HealthCheckRequest{Service: service})
		require.NoError(t, err, service)
		assert.Equal(t, grpc_health_v1.HealthCheckResponse_SERVING, answer.GetStatus(), service)
	}
	_, err := client.Check(s.anyone, &grpc_health_v1.HealthCheckRequest{Service: "gridstand.v1.Nothing"})
	plain(t, err, codes.NotFound)
	watching, err := client.Watch(s.anyone, &grpc_health_v1.HealthCheckRequest{})
	require.NoError(t, err)
	for _, want := range []grpc_health_v1.HealthCheckResponse_ServingStatus{
		grpc_health_v1.HealthCheckResponse_SERVING, grpc_health_v1.HealthCheckResponse_NOT_SERVING,
	} {
		answer, err := watching.Recv()
		require.NoError(t, err)
		assert.Equal(t, want, answer.GetStatus())
		go s.stop()
	}
}

// Ensure that tools can query the contract by reflection.
func TestReflection(t *testing.T) {
	t.Parallel()
	s := start(t, server.Memory)
	stream, err := reflectionpb.NewServerReflectionClient(s.bare(t)).ServerReflectionInfo(s.anyone)
	require.NoError(t, err)
	for _, m := range methods() {
		require.NoError(t, stream.Send(&reflectionpb.ServerReflectionRequest{
			MessageRequest: &reflectionpb.ServerReflectionRequest_FileContainingSymbol{
				FileContainingSymbol: strings.ReplaceAll(strings.TrimPrefix(m.name, "/"), "/", "."),
			},
		}))
		answer, err := stream.Recv()
		require.NoError(t, err)
		assert.NotEmpty(t, answer.GetFileDescriptorResponse().GetFileDescriptorProto(), m.name)
	}
	require.NoError(t, stream.CloseSend())
}
