package cli

import (
	"math"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/client"
	grpctest "github.com/gridstand/gridstand/internal/testkit/grpc"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

const (
	evil    = "\x1b]0;owned\a\x1b[2J\r\nada\u202e\u0085\u009b31m\u200b"
	evilID  = "gamegamegamegamegamegamega"
	evilOne = "playerplayerplayerplayerpl"
	// evilToken is the token of evilOne.
	evilToken = evilOne + ".secretsecretsecretsecretse"
)

// evilAnswer returns a hostile server's response to a call: a valid response that contains
// malicious strings, with random changes.
func evilAnswer(rng *rand.Rand, method string) proto.Message {
	game := &pb.Game{
		Id: evilID, Variant: evil, Status: pb.GameStatus_GAME_STATUS_ACTIVE, Version: 3,
		Seats:    []*pb.Seat{{Occupant: &pb.Seat_Player{Player: &pb.Player{Id: evilOne, Name: evil}}, StandIn: evil}},
		Position: evilPosition(), CreateTime: timestamppb.New(time.Unix(1, 0)), UpdateTime: timestamppb.New(time.Unix(2, 0)),
	}
	event := &pb.Event{GameId: evilID, Version: 4, Position: evilPosition(), Action: &pb.Event_TimedOut{TimedOut: &pb.TimedOut{StandIn: evil}}}
	entry := &pb.Entry{Rank: 1, Player: game.GetSeats()[0].GetPlayer(), Score: 4, GameId: evilID}
	challenge := &pb.Challenge{
		Id: evilID, Kind: pb.ChallengeKind(1 + rng.IntN(4)), Variant: evil, Creator: entry.GetPlayer(), Date: evil, Seed: []byte(evil),
		Status: pb.ChallengeStatus(1 + rng.IntN(4)), Target: &pb.Target{Player: entry.GetPlayer(), Score: -1},
		Entrants: []*pb.Entrant{{Who: &pb.Entrant_Bot{Bot: evil}}, {Who: &pb.Entrant_Player{Player: entry.GetPlayer()}}},
	}
	standing := &pb.Standing{Rank: 2, Who: &pb.Standing_Bot{Bot: evil}, Score: 4, GameId: evilID}
	var answer proto.Message
	switch method[strings.LastIndex(method, "/")+1:] {
	case "GetServerInfo":
		answer = &pb.GetServerInfoResponse{Name: evil, Version: evil, WebUrl: "http://" + evil}
	case "ListVariants":
		classic := &pb.Variant{
			Id: "classic", Title: evil, Summary: evil, Rules: evil, Kind: pb.Kind_KIND_TWENTY48, Rows: 2, Columns: 2, Seats: 1, Bots: []string{evil},
		}
		other := proto.CloneOf(classic)
		other.Id = evil
		answer = &pb.ListVariantsResponse{Variants: []*pb.Variant{classic, other}}
	case "ListGames":
		answer = &pb.ListGamesResponse{Games: []*pb.Game{game, game}}
	case "ListScores":
		answer = &pb.ListScoresResponse{Entries: []*pb.Entry{entry, entry}, Total: math.MinInt32}
	case "GetRank":
		answer = &pb.GetRankResponse{Entry: entry, Neighbors: []*pb.Entry{entry}}
	case "GetPlayer":
		answer = &pb.GetPlayerResponse{Player: entry.GetPlayer()}
	case "CreatePlayer":
		answer = &pb.CreatePlayerResponse{Player: entry.GetPlayer(), Token: evilToken}
	case "GetGame":
		answer = &pb.GetGameResponse{Game: game}
	case "CreateGame":
		answer = &pb.CreateGameResponse{Game: game}
	case "JoinGame":
		answer = &pb.JoinGameResponse{Game: game}
	case "GetChallenge":
		attempt := &pb.Attempt{GameId: evilID, Status: pb.GameStatus_GAME_STATUS_FINISHED, DayStreak: 7}
		answer = &pb.GetChallengeResponse{Challenge: challenge, Next: challenge, Attempt: attempt}
	case "CreateChallenge":
		answer = &pb.CreateChallengeResponse{Challenge: challenge}
	case "JoinChallenge":
		answer = &pb.JoinChallengeResponse{Challenge: challenge}
	case "ListChallenges":
		answer = &pb.ListChallengesResponse{Challenges: []*pb.Challenge{challenge, challenge}}
	case "ListStandings":
		answer = &pb.ListStandingsResponse{Standings: []*pb.Standing{standing}, Total: math.MaxInt32}
	case "Move":
		answer = &pb.MoveResponse{Event: event}
	case "Resign":
		answer = &pb.ResignResponse{Event: event}
	case "Watch":
		answer = &pb.WatchResponse{Update: &pb.WatchResponse_Game{Game: game}}
	default:
		return nil
	}
	for range rng.IntN(3) {
		alter(rng, answer.ProtoReflect())
	}
	return answer
}

func evilPosition() *pb.Position {
	return &pb.Position{
		MoveCount: 1, Scores: []int32{4},
		Board: &pb.Position_Twenty48{Twenty48: &pb.Twenty48Board{
			Rows: 2, Columns: 2, Tiles: []int32{2, 0, 4, 0}, LegalMoves: []pb.Direction{pb.Direction_DIRECTION_UP},
		}},
	}
}

// alter changes one random field of m or of a message nested in it.
func alter(rng *rand.Rand, m protoreflect.Message) {
	fields := m.Descriptor().Fields()
	if fields.Len() == 0 {
		return
	}
	field := fields.Get(rng.IntN(fields.Len()))
	switch {
	case rng.IntN(8) == 0:
		m.Clear(field)
	case field.IsList() && field.Message() != nil:
		list := m.Mutable(field).List()
		if list.Len() == 0 {
			list.AppendMutable()
		}
		alter(rng, list.Get(rng.IntN(list.Len())).Message())
	case field.IsList() || field.IsMap():
		m.Clear(field)
	case field.Message() != nil:
		alter(rng, m.Mutable(field).Message())
	case field.Kind() == protoreflect.StringKind:
		m.Set(field, protoreflect.ValueOfString([]string{evil, evilID, "", strings.Repeat("w", 10_000)}[rng.IntN(4)]))
	case field.Kind() == protoreflect.Int32Kind:
		m.Set(field, protoreflect.ValueOfInt32([]int32{0, 1, -1, math.MaxInt32, math.MinInt32}[rng.IntN(5)]))
	case field.Kind() == protoreflect.EnumKind:
		m.Set(field, protoreflect.ValueOfEnum(protoreflect.EnumNumber(rng.IntN(99))))
	}
}

// hostileServer starts a server that answers every call with the result of answer.
func hostileServer(t *testing.T, answer func(method string) (proto.Message, error)) string {
	t.Helper()
	var mu sync.Mutex
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer(grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		if err := stream.RecvMsg(&pb.GetServerInfoRequest{}); err != nil { // GetServerInfoRequest has no fields, so any request can be decoded as one
			return err
		}
		method, _ := grpc.Method(stream.Context())
		mu.Lock()
		message, err := answer(method)
		mu.Unlock()
		if err != nil {
			return err
		}
		return stream.SendMsg(message)
	}))
	grpctest.Serve(t, server, listener)
	return listener.Addr().String()
}

// Ensure that commands end and print nothing that a terminal would interpret, even if a
// server sends arbitrary answers.
func TestHostileServer(t *testing.T) {
	t.Parallel()
	for n := range uint64(2) {
		rng := rand.New(rand.NewPCG(36, n))
		u := newUser(t, hostileServer(t, func(method string) (proto.Message, error) { return evilAnswer(rng, method), nil }), "ada")
		require.NoError(t, u.store.Save(u.server, client.Credential{PlayerID: evilOne, Name: "ada", Token: evilToken}))
		for _, args := range [][]string{
			{"variants"},
			{"variants", "classic"},
			{"games"},
			{"games", "--player", "ada"},
			{"games", "--limit", "0"},
			{"top"},
			{"top", "--limit", "0"},
			{"show", evilID},
			{"show", evilID[:8]},
			{"watch", evilID, "--from", "3"},
			{"login", "bob"},
			{"whoami"},
			{"top", "--me"},
			{"new"},
			{"move", evilID, "up"},
			{"resign", evilID},
			{"verify", evilID},
			{"daily"},
			{"standings", "daily"},
			{"standings", evilID[:8], "--me"},
			{"standings", evilID, "--share"},
			{"challenge"},
			{"race"},
			{"beat", evilID},
			{"join", evilID},
			{"new", "--challenge", evilID},
			{"daily", "--json"},
			{"standings", "daily", "--json"},
			{"standings", evilID, "--share", "--json"},
			{"race", "--json"},
			{"join", evilID, "--json"},
			{"variants", "--json"},
			{"games", "--json"},
			{"top", "--json"},
			{"show", evilID, "--json"},
			{"watch", evilID, "--from", "3", "--json"},
			{"whoami", "--json"},
			{"new", "--json"},
			{"move", evilID, "up", "--json"},
			{"verify", evilID, "--json"},
		} {
			out, note, _ := u.run(args...)
			for _, r := range out + note {
				require.True(t, r == '\n' || unicode.IsPrint(r), "%v printed %q: %q %q", args, r, out, note)
			}
		}
	}
}

// Ensure that commands give up on lists that never end.
func TestEndlessList(t *testing.T) {
	t.Parallel()
	for name, rows := range map[string]int{"empty pages": 0, "full pages": maxPage} {
		entry := &pb.Entry{Player: &pb.Player{Name: strings.Repeat("w", 1000)}}
		entries := make([]*pb.Entry, rows)
		for i := range entries {
			entries[i] = entry
		}
		asked := 0
		_, _, err := pages(0, func(int32, string) ([]*pb.Entry, string, error) {
			asked++
			return entries, "more", nil
		})
		require.ErrorIs(t, err, errEndless, name)
		assert.LessOrEqual(t, asked, maxPages)
	}
}
