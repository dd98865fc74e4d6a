package contract

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
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

// often lists the most important calls, which TestRandomMessages makes four times as often as the
// others.
var often = []string{
	pb.GameService_CreateGame_FullMethodName, pb.GameService_Move_FullMethodName, pb.GameService_Resign_FullMethodName,
	pb.GameService_ListGames_FullMethodName, pb.GameService_Watch_FullMethodName,
	pb.ChallengeService_CreateChallenge_FullMethodName, pb.ChallengeService_JoinChallenge_FullMethodName,
	pb.GameService_JoinGame_FullMethodName, pb.GameService_Undo_FullMethodName,
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

// Ensure that the server responds to any decodable message, from any caller, according to the
// contract, and keeps serving. The connection checks each response. The test also fails if
// the server logs an error.
func TestRandomMessages(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	each(t, func(t *testing.T, s *testServer) {
		person, robot := s.player(t), s.account(t, &pb.CreatePlayerRequest{Name: "Robot", Secret: newID(), Bot: true})
		nameless, forger := player{ctx: s.anyone}, player{ctx: s.with(newID() + "." + newID())}
		g := generator{rand.New(rand.NewPCG(seed, 0)), populate(t, s, person, robot)}

		answers := map[codes.Code]int{}
		all := methods()
		for _, m := range methods() {
			if slices.Contains(often, m.name) {
				all = append(all, m, m, m)
			}
		}
		for range 1000 {
			m := pick(g, all)
			who := pick(g, []*player{&person, &person, &person, &robot, &robot, &nameless, &forger})
			request := m.request.New()
			g.fill(request, 0)
			if !sayable(request.Interface()) {
				continue
			}
			ctx, cancel := who.ctx, context.CancelFunc(func() {})
			if m.streams { // The stream may stay silent for a while.
				ctx, cancel = context.WithTimeout(ctx, 10*time.Millisecond)
			}
			before := t.Failed()
			response, err := m.call(ctx, s.conn, request.Interface())
			cancel()
			answers[status.Code(err)]++
			if code := status.Code(err); code == codes.Internal || code == codes.Unknown || t.Failed() && !before {
				t.Fatalf("%s with %v: %v", m.name, request.Interface(), err)
			}
			if rotated, ok := response.(*pb.RotateTokenResponse); ok && err == nil {
				*who = player{who.Player, rotated.GetToken(), s.with(rotated.GetToken())}
			}
		}
		t.Log(answers)
		for _, code := range []codes.Code{
			codes.OK, codes.InvalidArgument, codes.NotFound, codes.Unauthenticated, codes.PermissionDenied, codes.Aborted, codes.FailedPrecondition,
		} {
			assert.Positive(t, answers[code], "no call returned %v", code)
		}
		alive(t, s)
	}, func(c *server.Config) {
		c.Limits.OpenGamesPerPlayer, c.Limits.MessageBytes, c.BotPace, c.MinTurnLimit = 20, 0, 0, 1
	})
}
