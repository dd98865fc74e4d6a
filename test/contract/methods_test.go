package contract

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// method is a call of the contract, for tests of rules that apply to all calls.
type method struct {
	name              string // /service/method
	request, response protoreflect.MessageType
	streams           bool
}

// methods returns all calls of the contract.
func methods() []method {
	var all []method
	for _, file := range []protoreflect.FileDescriptor{
		pb.File_gridstand_v1_game_proto, pb.File_gridstand_v1_leaderboard_proto, pb.File_gridstand_v1_player_proto,
		pb.File_gridstand_v1_challenge_proto,
	} {
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				m := service.Methods().Get(j)
				all = append(all, method{
					"/" + string(service.FullName()) + "/" + string(m.Name()),
					messageType(m.Input()), messageType(m.Output()), m.IsStreamingServer(),
				})
			}
		}
	}
	return all
}

func messageType(d protoreflect.MessageDescriptor) protoreflect.MessageType {
	t, err := protoregistry.GlobalTypes.FindMessageByName(d.FullName())
	if err != nil {
		panic(err) // impossible: the generated code registers all messages
	}
	return t
}

// call sends a request and returns the response. For a stream it returns the first message,
// or nil if the stream is empty.
func (m method) call(ctx context.Context, conn grpc.ClientConnInterface, request any, options ...grpc.CallOption) (proto.Message, error) {
	response := m.response.New().Interface()
	if !m.streams {
		err := conn.Invoke(ctx, m.name, request, response, options...)
		return response, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, m.name, options...)
	if err != nil {
		return nil, err
	}
	if err := stream.SendMsg(request); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if err := stream.CloseSend(); err != nil {
		return nil, err
	}
	if err := stream.RecvMsg(response); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		return nil, err
	}
	return response, nil
}

// methodOf returns the method that has requests of this type.
func methodOf(request proto.Message) method {
	all := methods()
	return all[slices.IndexFunc(all, func(m method) bool { return m.request.Descriptor() == request.ProtoReflect().Descriptor() })]
}

// refuses makes a call that the server must refuse, in the form of wanted.
func (s *testServer) refuses(t testing.TB, ctx context.Context, request proto.Message, want string) {
	t.Helper()
	_, err := s.send(ctx, request)
	wanted(t, err, want)
}

// send makes the call that has requests of this type.
func (s *testServer) send(ctx context.Context, request proto.Message) (proto.Message, error) {
	return methodOf(request).call(ctx, s.conn, request)
}
