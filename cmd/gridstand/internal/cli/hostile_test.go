package cli

import (
	"math"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/client"
	grpctest "github.com/gridstand/gridstand/internal/testkit/grpc"
	"github.com/gridstand/gridstand/internal/testkit/process"
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
// malicious strings and numbers. The kind and the status of challenges have the given number.
func evilAnswer(method string, kind int32) proto.Message {
	game := &pb.Game{
		Id: evilID, Variant: evil, Status: pb.GameStatus_GAME_STATUS_ACTIVE, Version: 3,
		Seats:    []*pb.Seat{{Occupant: &pb.Seat_Player{Player: &pb.Player{Id: evilOne, Name: evil}}, StandIn: evil}},
		Position: evilPosition(), CreateTime: timestamppb.New(time.Unix(1, 0)), UpdateTime: timestamppb.New(time.Unix(2, 0)),
	}
	event := &pb.Event{GameId: evilID, Version: 4, Position: evilPosition(), Action: &pb.Event_TimedOut{TimedOut: &pb.TimedOut{StandIn: evil}}}
	entry := &pb.Entry{Rank: 1, Player: game.GetSeats()[0].GetPlayer(), Score: 4, GameId: evilID}
	challenge := &pb.Challenge{
		Id: evilID, Kind: pb.ChallengeKind(kind), Variant: evil, Creator: entry.GetPlayer(), Date: evil, Seed: []byte(evil),
		Status: pb.ChallengeStatus(kind), Target: &pb.Target{Player: entry.GetPlayer(), Score: -1},
		Entrants: []*pb.Entrant{{Who: &pb.Entrant_Bot{Bot: evil}}, {Who: &pb.Entrant_Player{Player: entry.GetPlayer()}}},
	}
	standing := &pb.Standing{Rank: 2, Who: &pb.Standing_Bot{Bot: evil}, Score: 4, GameId: evilID}
	classic := &pb.Variant{
		Id: "classic", Title: evil, Summary: evil, Rules: evil, Kind: pb.Kind_KIND_TWENTY48, Rows: 2, Columns: 2, Seats: 1, Bots: []string{evil},
	}
	other := proto.CloneOf(classic)
	other.Id = evil
	attempt := &pb.Attempt{GameId: evilID, Status: pb.GameStatus_GAME_STATUS_FINISHED, DayStreak: 7}
	return map[string]proto.Message{
		"GetServerInfo":   &pb.GetServerInfoResponse{Name: evil, Version: evil, WebUrl: "http://" + evil},
		"ListVariants":    &pb.ListVariantsResponse{Variants: []*pb.Variant{classic, other}},
		"ListGames":       &pb.ListGamesResponse{Games: []*pb.Game{game, game}},
		"ListScores":      &pb.ListScoresResponse{Entries: []*pb.Entry{entry, entry}, Total: math.MinInt32},
		"GetRank":         &pb.GetRankResponse{Entry: entry, Neighbors: []*pb.Entry{entry}},
		"GetPlayer":       &pb.GetPlayerResponse{Player: entry.GetPlayer()},
		"CreatePlayer":    &pb.CreatePlayerResponse{Player: entry.GetPlayer(), Token: evilToken},
		"GetGame":         &pb.GetGameResponse{Game: game},
		"CreateGame":      &pb.CreateGameResponse{Game: game},
		"JoinGame":        &pb.JoinGameResponse{Game: game},
		"GetChallenge":    &pb.GetChallengeResponse{Challenge: challenge, Next: challenge, Attempt: attempt},
		"CreateChallenge": &pb.CreateChallengeResponse{Challenge: challenge},
		"JoinChallenge":   &pb.JoinChallengeResponse{Challenge: challenge},
		"ListChallenges":  &pb.ListChallengesResponse{Challenges: []*pb.Challenge{challenge, challenge}},
		"ListStandings":   &pb.ListStandingsResponse{Standings: []*pb.Standing{standing}, Total: math.MaxInt32},
		"Move":            &pb.MoveResponse{Event: event},
		"Resign":          &pb.ResignResponse{Event: event},
		"Watch":           &pb.WatchResponse{Update: &pb.WatchResponse_Game{Game: game}},
	}[method[strings.LastIndex(method, "/")+1:]]
}

func evilPosition() *pb.Position {
	return &pb.Position{
		MoveCount: 1, Scores: []int32{4},
		Board: &pb.Position_Twenty48{Twenty48: &pb.Twenty48Board{
			Rows: 2, Columns: 2, Tiles: []int32{2, 0, 4, 0}, LegalMoves: []pb.Direction{pb.Direction_DIRECTION_UP},
		}},
	}
}

// hostileServer starts a server that answers every call with the result of answer, and with a header of
// the given names and values.
func hostileServer(t *testing.T, answer func(method string) (proto.Message, error), header ...string) string {
	t.Helper()
	var mu sync.Mutex
	listener := process.Listen(t)
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
		if err := stream.SetHeader(metadata.Pairs(header...)); err != nil {
			return err
		}
		return stream.SendMsg(message)
	}))
	grpctest.Serve(t, server, listener)
	return listener.Addr().String()
}

// Ensure that a list of empty pages ends.
func TestGames_Limit(t *testing.T) {
	t.Parallel()
	u := newUser(t, hostileServer(t, func(string) (proto.Message, error) {
		return &pb.ListGamesResponse{NextPageToken: "again"}, nil
	}), "ada")
	for _, limit := range []string{"1", "0"} {
		_, _, code := u.run("games", "--limit", limit)
		assert.Zero(t, code)
	}
	rows, more, err := pages(1, func(int32, string) ([]int, string, error) { return []int{1, 2}, "", nil })
	require.NoError(t, err)
	assert.Len(t, rows, 1)
	assert.True(t, more)
}

// Ensure that commands end and print nothing that a terminal would interpret, even if a
// server sends arbitrary answers.
func TestHostileServer(t *testing.T) {
	t.Parallel()
	for kind := range int32(5) {
		u := newUser(t, hostileServer(t, func(method string) (proto.Message, error) {
			answer := evilAnswer(method, kind)
			if kind == 0 && answer != nil {
				proto.Reset(answer) // without anything
			}
			return answer, nil
		}), "ada")
		require.NoError(t, u.store.Save(u.server, client.Credential{PlayerID: evilOne, Name: "ada", Token: evilToken}))
		for _, args := range [][]string{
			{"variants", "classic"},
			{"games"},
			{"games", "@ada"},
			{"top"},
			{"show", evilID},
			{"show", evilID[:8]},
			{"watch", evilID, "--from", "3"},
			{"account", "new", "bob"},
			{"account"},
			{"top", "--me"},
			{"new"},
			{"move", evilID, "up"},
			{"verify", evilID},
			{"daily"},
			{"top", "daily"},
			{"top", evilID, "--me"},
			{"challenge"},
			{"race"},
			{"challenge", evilID},
			{"join", evilID},
			{"top", evilID, "--json"},
			{"games", "--json"},
			{"watch", evilID, "--from", "3", "--json"},
			{"verify", evilID, "--json"},
		} {
			out, note, _ := u.run(args...)
			for _, r := range out + note {
				require.True(t, r == '\n' || unicode.IsPrint(r), "%v printed %q: %q %q", args, r, out, note)
			}
		}
	}
}
