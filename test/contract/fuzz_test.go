package contract

import (
	"context"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// fillIn replaces numbers in the string fields of m with the strings that they represent in this
// run. The fuzzing corpus cannot contain those strings.
func fillIn(m protoreflect.Message, texts map[protoreflect.Name][]string) {
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.IsList() && field.Message() != nil:
			for i := range value.List().Len() {
				fillIn(value.List().Get(i).Message(), texts)
			}
		case field.IsList() || field.IsMap():
		case field.Message() != nil:
			fillIn(value.Message(), texts)
		case field.Kind() == protoreflect.StringKind:
			n, err := strconv.Atoi(value.String())
			if known := texts[field.Name()]; err == nil && n >= 0 && n < len(known) {
				m.Set(field, protoreflect.ValueOfString(known[n]))
			}
		}
		return true
	})
}

// FuzzCalls makes any call with any decodable message, as any caller. The server must respond
// according to the contract, log no error and keep serving.
func FuzzCalls(f *testing.F) {
	if testing.Short() {
		f.Skip("too slow for -short")
	}
	s := start(f, server.Memory, func(c *server.Config) {
		*c = c.Unlimited()
		c.Limits.OpenGamesPerPlayer, c.BotPace, c.MinTurnLimit = 20, 0, 1
	})
	person, robot := s.player(f), s.account(f, &pb.CreatePlayerRequest{Name: "Robot", Secret: newID(), Bot: true})
	texts := populate(f, s, person, robot)
	tokens := []string{person.token, robot.token, newID() + "." + newID(), ""}

	numbers := map[protoreflect.Name][]string{}
	for field, known := range texts {
		for i := range known {
			numbers[field] = append(numbers[field], strconv.Itoa(i))
		}
	}
	g := generator{rand.New(rand.NewPCG(48, 0)), numbers}
	for i, m := range methods() {
		for n := range 4 {
			request := m.request.New()
			g.fill(request, 0)
			data, err := proto.Marshal(request.Interface())
			require.NoError(f, err)
			if len(data) < 4096 {
				f.Add(byte(i), byte(n), data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, call, who byte, data []byte) {
		m := methods()[int(call)%len(methods())]
		request := m.request.New()
		if proto.Unmarshal(data, request.Interface()) != nil {
			return // covered by TestRawBytes
		}
		fillIn(request, texts)
		if !sayable(request.Interface()) {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		if m.streams { // The stream may stay silent for a while.
			ctx, cancel = context.WithTimeout(t.Context(), 10*time.Millisecond)
		}
		defer cancel()
		caller := int(who) % len(tokens)
		if tokens[caller] != "" {
			ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+tokens[caller])
		}
		conn := checkedConn{dial(t, s.addr), t, s.storeStopped}
		response, err := m.call(ctx, conn, request.Interface())
		if code := status.Code(err); code == codes.Internal || code == codes.Unknown {
			t.Fatalf("%s with %v: %v", m.name, request.Interface(), err)
		}
		if rotated, ok := response.(*pb.RotateTokenResponse); ok && err == nil {
			tokens[caller] = rotated.GetToken()
		}
	})
}
