package contract

import (
	"context"
	"math"
	"strings"
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
	"github.com/gridstand/gridstand/server/limits"
)

// fill sets all fields of m: texts to strings that the server knows by the name of the field, or to odd
// ones, and numbers to n. The fuzzer then changes the bytes.
func fill(m protoreflect.Message, texts map[protoreflect.Name]string, n int) {
	for i := range m.Descriptor().Fields().Len() {
		field := m.Descriptor().Fields().Get(i)
		var value protoreflect.Value
		switch field.Kind() {
		case protoreflect.BoolKind:
			value = protoreflect.ValueOfBool(n%2 == 0)
		case protoreflect.EnumKind:
			value = protoreflect.ValueOfEnum(protoreflect.EnumNumber(n))
		case protoreflect.Int32Kind:
			value = protoreflect.ValueOfInt32(int32(n))
		case protoreflect.Int64Kind:
			value = protoreflect.ValueOfInt64(int64(n))
		case protoreflect.StringKind:
			value = protoreflect.ValueOfString(texts[field.Name()])
		case protoreflect.MessageKind:
			if !field.IsList() {
				fill(m.Mutable(field).Message(), texts, n)
				continue
			}
			value = m.NewField(field).List().NewElement()
			fill(value.Message(), texts, n)
		}
		if field.IsList() {
			m.Mutable(field).List().Append(value)
		} else {
			m.Set(field, value)
		}
	}
}

// FuzzCalls makes any call with any decodable message, as any caller. The server must respond
// according to the contract, log no error and keep serving.
func FuzzCalls(f *testing.F) {
	s := start(f, server.Memory, func(c *server.Config) {
		*c = c.Unlimited()
		c.Limits[limits.NewGamesPerMinute], c.BotPace, c.MinTurnLimit = 20, 0, 1
	})
	person, robot := s.player(f), s.account(f, &pb.CreatePlayerRequest{Name: "Robot", Secret: newID(), Bot: true})
	tiles, run := s.challenge(f, person, &pb.CreateChallengeRequest{Kind: link, Variant: "classic"}), s.challenge(f, robot, shortRace())
	known := []map[protoreflect.Name]string{{}, { // unknown to the server
		"game_id": "*", "player_id": "\x00", "challenge_id": newID(), "variant": "\u202e", "name": strings.Repeat("a", 3_000), "page_token": "AAAA",
	}, {
		"game_id": s.game(f, person, "classic").GetId(), "player_id": "me", "variant": "classic", "bot": "greedy", "name": "Somebody",
		"request_id": newID(), "challenge_id": tiles.GetId(), "date": time.Now().UTC().Format(time.DateOnly),
	}, {
		"game_id": s.table(f, robot, callerSeat, openSeat, openSeat).GetId(), "player_id": robot.GetId(), "variant": "tribolo",
		"challenge_id": run.GetId(), "secret": newID(),
	}, {"game_id": s.attempt(f, person, tiles.GetId()).GetId(), "challenge_id": s.today(f, person).GetChallenge().GetId()}}
	tokens := []string{person.token, robot.token, newID() + "." + newID(), ""}

	for i, m := range methods() {
		for who, texts := range known {
			for _, n := range []int{1, 99, math.MinInt32} {
				request := m.request.New()
				fill(request, texts, n)
				data, err := proto.Marshal(request.Interface())
				require.NoError(f, err)
				f.Add(byte(i), byte(who), data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, call, who byte, data []byte) {
		m := methods()[int(call)%len(methods())]
		request := m.request.New()
		if len(data) >= 4096 || proto.Unmarshal(data, request.Interface()) != nil {
			return // refused, as TestBehaviors shows
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
		conn := checkedConn{dial(t, s.addr, overGRPC), t, s.storeStopped}
		response, err := m.call(ctx, conn, request.Interface())
		if code := status.Code(err); code == codes.Internal || code == codes.Unknown {
			t.Fatalf("%s with %v: %v", m.name, request.Interface(), err)
		}
		if rotated, ok := response.(*pb.RotateTokenResponse); ok && err == nil {
			tokens[caller] = rotated.GetToken()
		}
	})
}
