package contract

import (
	"context"
	"math"
	"math/rand/v2"
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
)

// generator generates random messages. Most fields are unset or sensible, some are extreme,
// and some are nonsense.
type generator struct {
	*rand.Rand
	// texts holds strings that the server knows, by field name.
	texts map[protoreflect.Name][]string
}

var (
	edgeInts = []int64{0, 1, 2, 3, 4, 5, 64, 65, 99, 200, 201, -1, math.MaxInt32, math.MinInt32, math.MaxInt32 - 1}
	oddTexts = []string{
		"", " ", "me", "?", "\x00", "*", "é", "\u202e", "a:b", "{}", "no id", strings.Repeat("a", 25), strings.Repeat("a", 26),
		strings.Repeat("7", 27), strings.Repeat("x", 30_000), "\U0010ffff", "\r\n", "$1", "classic", "twos", "3x3", "greedy",
	}
)

func pick[T any](g generator, from []T) T { return from[g.IntN(len(from))] }

// fill sets fields of m at random. All fields of a oneof are equally likely.
func (g generator) fill(m protoreflect.Message, depth int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if g.IntN(4) == 0 || depth > 3 {
			continue
		}
		switch {
		case field.IsMap(): // no request has a map
		case field.IsList():
			list := m.Mutable(field).List()
			for range pick(g, []int{0, 1, 1, 3, 3, 300}) {
				list.Append(g.value(list.NewElement(), field, depth))
			}
		case field.Message() != nil:
			g.fill(m.Mutable(field).Message(), depth+1)
		default:
			m.Set(field, g.value(m.NewField(field), field, depth))
		}
	}
	if g.IntN(10) == 0 {
		m.SetUnknown(protoreflect.RawFields{0xf8, 0x7f, byte(g.IntN(0x80))}) // field 2047, which no message has
	}
}

func (g generator) value(zero protoreflect.Value, field protoreflect.FieldDescriptor, depth int) protoreflect.Value {
	switch field.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(g.IntN(2) == 0)
	case protoreflect.EnumKind:
		if g.IntN(8) == 0 {
			return protoreflect.ValueOfEnum(protoreflect.EnumNumber(pick(g, edgeInts)))
		}
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(g.IntN(field.Enum().Values().Len())))
	case protoreflect.Int32Kind:
		if g.IntN(2) == 0 {
			return protoreflect.ValueOfInt32(int32(g.IntN(12)))
		}
		return protoreflect.ValueOfInt32(int32(pick(g, edgeInts)))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(pick(g, append(edgeInts, math.MaxInt64, math.MinInt64)))
	case protoreflect.StringKind:
		fitting := g.texts[field.Name()]
		if len(fitting) > 0 && g.IntN(4) > 0 {
			return protoreflect.ValueOfString(pick(g, fitting))
		}
		return protoreflect.ValueOfString(pick(g, append(g.texts["game_id"], oddTexts...)))
	case protoreflect.MessageKind:
		g.fill(zero.Message(), depth+1)
		return zero
	default:
		panic(field.Kind().String() + " is not used in any request")
	}
}

// populate has players play a little, and returns strings that the server knows afterward, by field
// name.
func populate(t testing.TB, s *testServer, players ...player) map[protoreflect.Name][]string {
	t.Helper()
	texts := map[protoreflect.Name][]string{
		"variant": {"classic", "tribolo", "3x3", "tribolo"}, "player_id": {"me"}, "request_id": {newID(), newID()},
		"bot":  {"greedy", "random", "minimax", "expectimax"},
		"name": {"Somebody", "Somebody else", "nobody"}, "secret": {newID(), newID()},
		"date": {"", "2026-11-21", time.Now().UTC().Format(time.DateOnly)},
	}
	for _, p := range players {
		live := s.game(t, p, "classic")
		s.moves(t, p, live, 5)
		table := s.create(t, p, &pb.CreateGameRequest{Variant: "tribolo"})
		hall := s.create(t, p, &pb.CreateGameRequest{Variant: "tribolo", Seats: []*pb.SeatRequest{callerSeat, openSeat, openSeat}})
		texts["game_id"] = append(texts["game_id"], table.GetId(), hall.GetId())
		private := s.create(t, p, &pb.CreateGameRequest{Variant: "3x3", Private: true, RequestId: newID()})
		over := s.finish(t, p, "classic").GetGameId()
		texts["game_id"] = append(texts["game_id"], live.GetId(), live.GetId(), private.GetId(), over, newID())
		tiles := s.challenge(t, p, &pb.CreateChallengeRequest{Kind: link, Variant: "classic"}).GetId()
		run := s.challenge(t, p, shortRace())
		texts["game_id"] = append(texts["game_id"], s.attempt(t, p, tiles).GetId(), run.GetEntrants()[0].GetGameId())
		texts["challenge_id"] = append(texts["challenge_id"], "", "", tiles, run.GetId(), s.today(t, p).GetChallenge().GetId())
		texts["player_id"] = append(texts["player_id"], p.GetId(), newID())
		texts["name"] = append(texts["name"], p.GetName())
	}
	listed, err := s.ListGames(s.anyone, &pb.ListGamesRequest{PageSize: 1})
	require.NoError(t, err)
	texts["page_token"] = []string{"", "", listed.GetNextPageToken()}
	return texts
}

// FuzzCalls makes any call with any decodable message, as any caller. The server must respond
// according to the contract, log no error and keep serving.
func FuzzCalls(f *testing.F) {
	s := start(f, server.Memory, func(c *server.Config) {
		*c = c.Unlimited()
		c.Limits.OpenGamesPerPlayer, c.BotPace, c.MinTurnLimit = 20, 0, 1
	})
	person, robot := s.player(f), s.account(f, &pb.CreatePlayerRequest{Name: "Robot", Secret: newID(), Bot: true})
	texts := populate(f, s, person, robot)
	tokens := []string{person.token, robot.token, newID() + "." + newID(), ""}

	g := generator{rand.New(rand.NewPCG(48, 0)), texts}
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
