package contract

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	connecttest "github.com/gridstand/gridstand/internal/testkit/connect"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// unknown returns ids that do not exist. Only the first is well formed.
func unknown() []string {
	return []string{
		newID(), newID()[1:], newID() + "a", strings.ToUpper(newID()), "*", " ", "ünïcödé", "\x00", strings.Repeat("a", 3_000),
	}
}

// refused is a call and its error, in the form of wanted.
type refused struct {
	who     context.Context
	request proto.Message
	want    string
}

// sayable reports whether a client can send a message in a protocol. JSON cannot represent invalid
// durations.
func sayable(protocol string, m proto.Message) bool {
	_, err := protojson.Marshal(m)
	return err == nil || protocol != connecttest.JSON
}

// differs returns another direction than that of a move.
func differs(e *pb.Event) pb.Direction { return e.GetMoved().GetDirection()%4 + 1 }

// Ensure that every call refuses what the contract forbids, in the contract's order of checks and
// with the reason or the field that it names, each over one of the protocols, and that refused calls
// change nothing.
func TestRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, patientBots)
	p, other := s.player(t), s.player(t)
	live, ended := s.game(t, p, "classic"), s.game(t, p, "classic")
	played, made := s.moves(t, p, live, 3), s.moves(t, p, ended, 3)
	s.resign(t, p, ended.GetId()) // version 5
	rows := slices.Concat(
		moveRows(t, s, p, other, live.GetId(), ended.GetId(), played, made), seatRows(t, s, p, other, live.GetId(), ended.GetId()),
		createRows(p), idRows(s, p, live.GetId()), listRows(s, p), challengeRows(t, s, p, ended.GetId()), accountRows(s, p), tokenRows(s),
	)
	games := s.list(t, p, &pb.ListGamesRequest{PlayerId: "me"})
	over := map[string]*testServer{}
	for _, protocol := range protocols {
		over[protocol] = s.over(t, protocol)
	}
	for n, row := range rows {
		protocol := protocols[n%len(protocols)]
		if !sayable(protocol, row.request) {
			protocol = overGRPC
		}
		_, err := over[protocol].send(row.who, row.request)
		t.Logf("%s, %d: %T %v", protocol, n, row.request, err)
		wanted(t, err, row.want)
	}
	for i, g := range s.list(t, p, &pb.ListGamesRequest{PlayerId: "me"}) {
		same(t, games[i], g)
	}
}

func moveRows(t *testing.T, s *testServer, p, other player, live, over string, played, made []*pb.Event) []refused {
	up := pb.Direction_DIRECTION_UP
	byBot := slide(live, 3, played[2].GetMoved().GetDirection())
	byBot.ByBot = true
	rows := []refused{
		// Fields are checked before the game is looked up.
		{other.ctx, slide(newID(), 0, up), "version"},
		{other.ctx, slide(over, math.MinInt32, up), "version"},
		{other.ctx, slide(newID(), 1, 0), "direction"},
		{other.ctx, slide(over, 1, -1), "direction"},
		{other.ctx, &pb.MoveRequest{GameId: live, Version: 1}, "move"},
		{p.ctx, slide("", 1, up), "game_id"},
		// The seat is checked before repeats are detected and before all other checks below.
		{other.ctx, slide(over, 1, made[0].GetMoved().GetDirection()), pb.ReasonNotSeated},
		{other.ctx, slide(live, 99, up), pb.ReasonNotSeated},
		// A finished game is refused before the version is checked.
		{p.ctx, slide(over, 1, differs(made[0])), pb.ReasonGameOver},
		{p.ctx, cell(over, 7, 0, 0), pb.ReasonGameOver},
		// The version is checked before the rules. A move that is marked as made by a program differs
		// from one that is not.
		{p.ctx, slide(live, 3, differs(played[2])), pb.ReasonVersionConflict + " 4"},
		{p.ctx, byBot, pb.ReasonVersionConflict + " 4"},
		{p.ctx, cell(live, 1, 0, 0), pb.ReasonVersionConflict + " 4"},
		{p.ctx, cell(live, 4, 0, 0), pb.ReasonIllegalMove},

		{p.ctx, &pb.UndoRequest{Version: 1}, "game_id"},
		{other.ctx, &pb.UndoRequest{GameId: newID()}, "version"},
		{other.ctx, &pb.UndoRequest{GameId: live, Version: 4, ToVersion: proto.Int32(0)}, "to_version"},
		{other.ctx, &pb.UndoRequest{GameId: live, Version: 4, ToVersion: proto.Int32(4)}, "to_version"},
		{other.ctx, &pb.UndoRequest{GameId: live, Version: 99}, pb.ReasonNotSeated},
		{p.ctx, &pb.UndoRequest{GameId: live, Version: 3}, pb.ReasonVersionConflict + " 4"},
		{p.ctx, &pb.UndoRequest{GameId: over, Version: 5}, pb.ReasonGameOver},
		{p.ctx, &pb.UndoRequest{GameId: s.game(t, p, "classic").GetId(), Version: 1}, pb.ReasonUndoNotAllowed},
	}
	// A direction in which no tile moves is illegal.
	stuck := s.game(t, p, "classic")
	version, at := stuck.GetVersion(), stuck.GetPosition()
	for len(at.GetTwenty48().GetLegalMoves()) == 4 {
		e := s.move(t, p, stuck.GetId(), version, at)
		version, at = e.GetVersion(), e.GetPosition()
	}
	legal := map[pb.Direction]bool{}
	for _, d := range at.GetTwenty48().GetLegalMoves() {
		legal[d] = true
	}
	for d := up; d <= pb.Direction_DIRECTION_RIGHT; d++ {
		if !legal[d] {
			rows = append(rows, refused{p.ctx, slide(stuck.GetId(), version, d), pb.ReasonIllegalMove})
		}
	}
	return rows
}

func seatRows(t *testing.T, s *testServer, p, other player, live, over string) []refused {
	ended := s.game(t, p, "3x3")
	s.moves(t, p, ended, math.MaxInt32)
	outsider := s.player(t)
	three, players := s.three(t)
	three = s.jumps(t, players, three.GetId(), 1) // After four moves, one game in 100,000 is over.
	id, version, turn := three.GetId(), three.GetVersion(), three.GetPosition().GetTurn()
	mover, next := players[turn].ctx, players[(turn+1)%3].ctx
	seat := func(n int32) *int32 { return &n }
	hall := s.table(t, p, callerSeat, openSeat, openSeat).GetId()
	s.join(t, other, hall, 1) // version 2
	return []refused{
		{next, cell(id, version-1, -1, 0), pb.ReasonVersionConflict + " 4"},
		{next, cell(id, version, 0, 0), pb.ReasonNotYourTurn},
		{next, slide(id, version, pb.Direction_DIRECTION_UP), pb.ReasonNotYourTurn},
		{outsider.ctx, cell(id, version, 0, 0), pb.ReasonNotSeated},
		{mover, cell(id, version, -1, 99), pb.ReasonIllegalMove},
		{mover, slide(id, version, pb.Direction_DIRECTION_LEFT), pb.ReasonIllegalMove},
		{mover, &pb.UndoRequest{GameId: id, Version: version}, pb.ReasonUndoNotAllowed},
		{next, &pb.UndoRequest{GameId: id, Version: version, ToVersion: seat(3)}, pb.ReasonUndoNotAllowed},

		{p.ctx, cell(hall, 2, 0, 0), pb.ReasonGameNotStarted},
		{p.ctx, cell(hall, 1, 0, 0), pb.ReasonVersionConflict + " 2"},
		{outsider.ctx, cell(hall, 2, 0, 0), pb.ReasonNotSeated},
		{other.ctx, &pb.UndoRequest{GameId: hall, Version: 2, ToVersion: seat(1)}, pb.ReasonGameNotStarted},
		{other.ctx, &pb.ResignRequest{GameId: hall}, pb.ReasonGameNotStarted},
		{p.ctx, &pb.ResignRequest{GameId: hall, Seat: seat(1)}, pb.ReasonNotSeated},
		{outsider.ctx, &pb.ResignRequest{GameId: hall}, pb.ReasonNotSeated},
		{p.ctx, &pb.ResignRequest{GameId: hall, Version: seat(3)}, pb.ReasonVersionConflict + " 2"},

		{other.ctx, &pb.ResignRequest{}, "game_id"},
		{other.ctx, &pb.ResignRequest{GameId: newID(), Version: seat(0)}, "version"},
		{other.ctx, &pb.ResignRequest{GameId: newID(), Seat: seat(-1)}, "seat"},
		{p.ctx, &pb.ResignRequest{GameId: live, Seat: seat(1)}, "seat"},
		{other.ctx, &pb.ResignRequest{GameId: live, Version: seat(99)}, pb.ReasonNotSeated},
		{other.ctx, &pb.ResignRequest{GameId: ended.GetId()}, pb.ReasonNotSeated},
		{p.ctx, &pb.ResignRequest{GameId: ended.GetId(), Version: seat(1)}, pb.ReasonGameOver},

		{other.ctx, &pb.ReactRequest{Reaction: clap}, "game_id"},
		{p.ctx, &pb.ReactRequest{GameId: live}, "reaction"},
		{p.ctx, &pb.ReactRequest{GameId: newID(), Reaction: 7}, "reaction"},
		{p.ctx, &pb.ReactRequest{GameId: live, Reaction: -1}, "reaction"},
		{p.ctx, &pb.ReactRequest{GameId: over, Reaction: clap}, pb.ReasonGameOver},

		{p.ctx, &pb.JoinGameRequest{}, "game_id"},
		{outsider.ctx, &pb.JoinGameRequest{GameId: hall, Seat: seat(3)}, "seat"},
		{outsider.ctx, &pb.JoinGameRequest{GameId: hall, Seat: seat(-1)}, "seat"},
		{outsider.ctx, &pb.JoinGameRequest{GameId: hall, Seat: seat(1)}, pb.ReasonSeatTaken},
		{outsider.ctx, &pb.JoinGameRequest{GameId: id}, pb.ReasonSeatTaken},
		{other.ctx, &pb.JoinGameRequest{GameId: live}, pb.ReasonSeatTaken},
		{other.ctx, &pb.JoinGameRequest{GameId: over}, pb.ReasonGameOver},
	}
}

func createRows(p player) []refused {
	var rows []refused
	for field, requests := range map[string][]*pb.CreateGameRequest{
		"seats[0].bot": {
			{Seats: seats("minimax")},
			{Seats: seats("nobody")},
			{Seats: seats("")},
			{Variant: "tribolo", Seats: seats("rote", "caller", "open")},
		},
		"seats[0]": {{Seats: []*pb.SeatRequest{{}}}},
		"seats[1]": {{Variant: "tribolo", Seats: []*pb.SeatRequest{callerSeat, {}, openSeat}}},
		"seats": {
			{Seats: seats("caller", "caller")},
			{Variant: "tribolo", Seats: seats("caller", "open")},
			{Variant: "tribolo", Seats: seats("caller", "open", "open", "open")},
		},
		"turn_limit": {
			{TurnLimit: durationpb.New(5*time.Second - 1)},
			{TurnLimit: durationpb.New(7*24*time.Hour + 1)},
			{TurnLimit: durationpb.New(0)},
			{TurnLimit: durationpb.New(-time.Hour)},
			{TurnLimit: &durationpb.Duration{Seconds: 1, Nanos: -1}},
			{TurnLimit: &durationpb.Duration{Seconds: 1 << 60}},
		},
		"request_id":               {{RequestId: newID()[1:]}, {RequestId: newID() + "a"}, {RequestId: "A" + newID()[1:]}, {RequestId: "1" + newID()[1:]}},
		pb.ReasonVariantNotFound:   {{Variant: "chess"}, {Variant: "Classic"}, {Variant: "classic "}, {Variant: "*"}, {Variant: "\x00"}},
		pb.ReasonChallengeNotFound: {{Variant: "-", ChallengeId: newID()}, {Variant: "-", ChallengeId: "?"}},
	} {
		for _, request := range requests {
			switch request.GetVariant() {
			case "":
				request.Variant = "classic"
			case "-":
				request.Variant = ""
			}
			rows = append(rows, refused{p.ctx, request, field})
		}
	}
	return append(rows, refused{p.ctx, &pb.CreateGameRequest{}, "variant"})
}

func idRows(s *testServer, p player, game string) []refused {
	rows := []refused{
		{s.anyone, &pb.GetGameRequest{}, "game_id"},
		{s.anyone, &pb.WatchRequest{}, "game_id"},
		{s.anyone, &pb.GetPlayerRequest{}, "player_id"},
		{s.anyone, &pb.GetPlayerRequest{PlayerId: p.GetId(), Name: p.GetName()}, "name"},
		{s.anyone, &pb.WatchRequest{GameId: newID(), AfterVersion: proto.Int32(-1)}, "after_version"},
		{s.anyone, from(game, 5), pb.ReasonVersionConflict + " 4"},
		{s.anyone, from(game, math.MaxInt32), pb.ReasonVersionConflict + " 4"},
	}
	for _, id := range append(unknown(), p.GetId()) {
		rows = append(rows,
			refused{s.anyone, &pb.GetGameRequest{GameId: id}, pb.ReasonGameNotFound},
			refused{s.anyone, &pb.WatchRequest{GameId: id}, pb.ReasonGameNotFound},
			refused{s.anyone, from(id, 7), pb.ReasonGameNotFound},
			refused{p.ctx, &pb.JoinGameRequest{GameId: id, Seat: proto.Int32(99)}, pb.ReasonGameNotFound},
			refused{p.ctx, &pb.UndoRequest{GameId: id, Version: 9}, pb.ReasonGameNotFound},
			refused{p.ctx, &pb.ResignRequest{GameId: id, Version: proto.Int32(99)}, pb.ReasonGameNotFound},
			refused{p.ctx, &pb.ReactRequest{GameId: id, Reaction: clap}, pb.ReasonGameNotFound},
			refused{p.ctx, slide(id, 99, pb.Direction_DIRECTION_UP), pb.ReasonGameNotFound},
		)
	}
	for _, id := range append(unknown(), game, "Me") {
		rows = append(rows,
			refused{p.ctx, &pb.GetPlayerRequest{PlayerId: id}, pb.ReasonPlayerNotFound},
			refused{p.ctx, &pb.GetPlayerRequest{Name: id}, pb.ReasonPlayerNotFound},
			refused{p.ctx, &pb.GetRankRequest{Variant: "classic", PlayerId: id}, pb.ReasonPlayerNotFound},
		)
	}
	return rows
}

func listRows(s *testServer, p player) []refused {
	const score, watchers = pb.OrderBy_ORDER_BY_SCORE, pb.OrderBy_ORDER_BY_WATCHERS
	return []refused{
		{s.anyone, &pb.ListGamesRequest{OrderBy: score}, "order_by"},
		{s.anyone, &pb.ListGamesRequest{OrderBy: watchers, Status: finished}, "order_by"},
		{p.ctx, &pb.ListGamesRequest{OrderBy: score, Status: active, PlayerId: "me"}, "order_by"},
		{p.ctx, &pb.ListGamesRequest{OrderBy: score, Status: active, PlayerName: p.GetName()}, "order_by"},
		{p.ctx, &pb.ListGamesRequest{PlayerId: "me", PlayerName: p.GetName()}, "player_name"},
		{s.anyone, &pb.ListGamesRequest{Status: 99}, "status"},
		{s.anyone, &pb.ListGamesRequest{OrderBy: -1}, "order_by"},
		{s.anyone, &pb.ListGamesRequest{PageSize: -1, Variant: "chess"}, "page_size"},
		{s.anyone, &pb.ListGamesRequest{PageToken: "AAAA"}, "page_token"},
		{s.anyone, &pb.ListScoresRequest{}, "variant"},
		{s.anyone, &pb.ListScoresRequest{Variant: "chess"}, pb.ReasonVariantNotFound},
		{s.anyone, &pb.ListScoresRequest{Variant: "classic", Window: 4}, "window"},
		{s.anyone, &pb.ListScoresRequest{Variant: "classic", PageSize: -1}, "page_size"},
		{s.anyone, &pb.ListScoresRequest{Variant: "classic", PageToken: "AAAA"}, "page_token"},
		{s.anyone, &pb.GetRankRequest{Variant: "classic"}, "player_id"},
		{s.anyone, &pb.GetRankRequest{PlayerId: p.GetId()}, "variant"},
		{s.anyone, &pb.GetRankRequest{Variant: "chess", PlayerId: p.GetId()}, pb.ReasonVariantNotFound},
		{s.anyone, &pb.GetRankRequest{Variant: "classic", PlayerId: p.GetId(), Window: -1}, "window"},
		{s.anyone, &pb.GetRankRequest{Variant: "classic", PlayerId: p.GetId(), Neighbors: -1}, "neighbors"},
		{p.ctx, &pb.GetRankRequest{Variant: "twos", PlayerId: "me"}, pb.ReasonNoScore},
	}
}

func challengeRows(t *testing.T, s *testServer, p player, over string) []refused {
	tribolo := s.table(t, p).GetId()
	s.resign(t, p, tribolo)
	tiles := s.challenge(t, p, &pb.CreateChallengeRequest{Kind: link, Variant: "classic"}).GetId()
	attempt := s.attempt(t, p, tiles).GetId()
	limit := durationpb.New(time.Minute)
	day := func(days int) *pb.DailyRequest {
		return &pb.DailyRequest{Date: time.Now().UTC().AddDate(0, 0, days).Format(time.DateOnly)}
	}
	return []refused{
		{p.ctx, &pb.CreateChallengeRequest{Variant: "classic"}, "kind"},
		{p.ctx, &pb.CreateChallengeRequest{Kind: daily, Variant: "classic"}, "kind"},
		{p.ctx, &pb.CreateChallengeRequest{Kind: 258, Variant: "classic", Limit: limit}, "kind"},
		{p.ctx, &pb.CreateChallengeRequest{Kind: link}, "variant"},
		{p.ctx, &pb.CreateChallengeRequest{Kind: link, Variant: "chess"}, pb.ReasonVariantNotFound},
		{p.ctx, &pb.CreateChallengeRequest{Kind: link, Variant: "tribolo"}, "variant"},
		{p.ctx, &pb.CreateChallengeRequest{Kind: race, Variant: "classic"}, "limit"},
		{p.ctx, &pb.CreateChallengeRequest{Kind: race, Variant: "classic", Limit: durationpb.New(9 * time.Second)}, "limit"},
		{p.ctx, &pb.CreateChallengeRequest{Kind: race, Variant: "classic", Limit: durationpb.New(61 * time.Minute)}, "limit"},
		{p.ctx, &pb.CreateChallengeRequest{Kind: race, Variant: "classic", Limit: durationpb.New(10500 * time.Millisecond)}, "limit"},
		{p.ctx, &pb.CreateChallengeRequest{Kind: link, Variant: "classic", Limit: &durationpb.Duration{Seconds: 1, Nanos: -1}}, "limit"},
		{p.ctx, &pb.CreateChallengeRequest{Kind: race, Variant: "classic", Limit: limit, GameId: over}, "game_id"},
		{p.ctx, &pb.CreateChallengeRequest{Kind: rematch}, "game_id"},
		{p.ctx, &pb.CreateChallengeRequest{Kind: rematch, GameId: tribolo}, "game_id"},
		{p.ctx, &pb.CreateChallengeRequest{Kind: rematch, GameId: over, Variant: "classic"}, "variant"},
		{p.ctx, &pb.CreateChallengeRequest{Kind: rematch, GameId: newID()}, pb.ReasonGameNotFound},
		{p.ctx, &pb.CreateChallengeRequest{Kind: rematch, GameId: s.game(t, p, "classic").GetId()}, pb.ReasonSeedHidden},
		{p.ctx, &pb.CreateChallengeRequest{Kind: link, Variant: "classic", RequestId: "?"}, "request_id"},
		{p.ctx, &pb.CreateChallengeRequest{Kind: race, PreviousChallengeId: tiles}, "previous_challenge_id"},
		{p.ctx, &pb.CreateChallengeRequest{Kind: race, PreviousChallengeId: newID()}, pb.ReasonChallengeNotFound},
		{p.ctx, &pb.CreateGameRequest{ChallengeId: tiles, Variant: "classic"}, "variant"},
		{p.ctx, &pb.CreateGameRequest{ChallengeId: tiles, Private: true}, "private"},
		{p.ctx, &pb.CreateGameRequest{ChallengeId: tiles, Private: true, Seats: seats("caller"), RequestId: "once"}, "seats"},
		{p.ctx, &pb.CreateGameRequest{ChallengeId: tiles, TurnLimit: limit}, "turn_limit"},
		{p.ctx, &pb.CreateGameRequest{ChallengeId: tiles, RequestId: newID()}, "request_id"},
		{p.ctx, &pb.CreateGameRequest{ChallengeId: tiles, Seats: seats("caller")}, "seats"},
		{p.ctx, &pb.UndoRequest{GameId: attempt, Version: 1}, pb.ReasonUndoNotAllowed},
		{p.ctx, &pb.JoinChallengeRequest{ChallengeId: tiles}, "challenge_id"},
		{p.ctx, &pb.LeaveChallengeRequest{ChallengeId: tiles}, "challenge_id"},
		{p.ctx, &pb.StartChallengeRequest{ChallengeId: tiles}, "challenge_id"},
		{p.ctx, &pb.StartChallengeRequest{}, "challenge_id"},
		{p.ctx, &pb.StartChallengeRequest{ChallengeId: newID()}, pb.ReasonChallengeNotFound},
		{p.ctx, &pb.GetChallengeRequest{}, "challenge_id"},
		{p.ctx, &pb.GetChallengeRequest{ChallengeId: tiles, Daily: &pb.DailyRequest{}}, "challenge_id"},
		{p.ctx, &pb.GetChallengeRequest{Daily: &pb.DailyRequest{Date: "today"}}, "daily.date"},
		{p.ctx, &pb.GetChallengeRequest{ChallengeId: newID()}, pb.ReasonChallengeNotFound},
		{p.ctx, &pb.GetChallengeRequest{Daily: day(-9)}, pb.ReasonChallengeNotFound},
		{p.ctx, &pb.GetChallengeRequest{Daily: day(3)}, pb.ReasonChallengeNotFound},
		{p.ctx, &pb.GetChallengeRequest{Daily: &pb.DailyRequest{Variant: "vt100"}}, pb.ReasonChallengeNotFound},
		{s.anyone, &pb.WatchChallengeRequest{}, "challenge_id"},
		{s.anyone, &pb.WatchChallengeRequest{ChallengeId: newID()}, pb.ReasonChallengeNotFound},
		{s.anyone, &pb.ListChallengesRequest{Kind: 9}, "kind"},
		{s.anyone, &pb.ListChallengesRequest{PageSize: -1}, "page_size"},
		{s.anyone, &pb.ListChallengesRequest{PageToken: "AAAA"}, "page_token"},
		{s.anyone, &pb.ListStandingsRequest{}, "challenge_id"},
		{s.anyone, &pb.ListStandingsRequest{ChallengeId: tiles, PageSize: 1, PlayerId: p.GetId()}, "page_size"},
		{s.anyone, &pb.ListStandingsRequest{ChallengeId: tiles, PageToken: "AAAA"}, "page_token"},
		{s.anyone, &pb.ListStandingsRequest{ChallengeId: tiles, PlayerId: p.GetId(), Neighbors: -1}, "neighbors"},
		{s.anyone, &pb.ListStandingsRequest{ChallengeId: newID()}, pb.ReasonChallengeNotFound},
		{s.anyone, &pb.ListStandingsRequest{ChallengeId: tiles, PlayerId: p.GetId()}, pb.ReasonNoScore},
	}
}

func accountRows(s *testServer, p player) []refused {
	rows := []refused{
		{p.ctx, &pb.RotateTokenRequest{Secret: newID()[1:]}, "secret"},
		{p.ctx, &pb.RotateTokenRequest{Secret: newID() + "."}, "secret"},
		{p.ctx, &pb.RenameRequest{Name: "guest-abcdef"}, "name"},
		{p.ctx, &pb.RenameRequest{Name: "Admin"}, pb.ReasonNameTaken},
		{s.anyone, &pb.OpenSessionRequest{}, "code"},
		{s.anyone, &pb.OpenSessionRequest{Code: newID()[1:]}, "code"},
		{s.anyone, &pb.OpenSessionRequest{Code: newID(), Secret: "short"}, "secret"},
		{s.anyone, &pb.OpenSessionRequest{Code: newID(), Comment: "a\x1b[31m"}, "comment"},
		{s.anyone, &pb.OpenSessionRequest{Code: newID(), Comment: strings.Repeat("a", 65)}, "comment"},
		{s.anyone, &pb.OpenSessionRequest{Code: newID()}, pb.ReasonSessionLinkNotFound},
		{p.ctx, &pb.EndSessionRequest{}, "session_id"},
		{p.ctx, &pb.EndSessionRequest{SessionId: "?"}, pb.ReasonSessionNotFound},
		{p.ctx, &pb.EndSessionRequest{SessionId: newID()}, pb.ReasonSessionNotFound},
		{p.ctx, &pb.AddKeyRequest{}, "signature"},
		{p.ctx, &pb.AddKeyRequest{Signature: strings.Repeat("a", 3501)}, "signature"},
		{p.ctx, &pb.RemoveKeyRequest{}, "fingerprint"},
		{p.ctx, &pb.RemoveKeyRequest{Fingerprint: "MD5:00"}, "fingerprint"},
	}
	for _, name := range []string{
		"", " ", " a", "a ", strings.Repeat("a", 25), "a\nb", "a\x00b", "a\x1b[31m", "é", "ａ", "a\u200bb", "a\u202eb", "😀", "-", "..", "--help",
		"a  b", "_", "_ann", ".ann", "a@b", "a/b", "a:b", "a{b}", "a*", "a'b", `a"b`, "a%b",
	} {
		rows = append(rows, refused{s.anyone, &pb.CreatePlayerRequest{Name: name}, "name"}, refused{p.ctx, &pb.RenameRequest{Name: name}, "name"})
	}
	for _, name := range []string{"me", "ME", "admin", "ad-min.", "s e r v e r", "greedy", "Classic", "3 x 3", p.GetName(), strings.ToUpper(p.GetName())} {
		rows = append(rows, refused{s.anyone, &pb.CreatePlayerRequest{Name: name, Secret: newID()}, pb.ReasonNameTaken})
	}
	for _, secret := range []string{"a", newID()[1:], strings.ToUpper(newID()), "1" + newID(), newID() + " ", strings.Repeat("a", 3_000)} {
		rows = append(rows, refused{s.anyone, &pb.CreatePlayerRequest{Name: "Secretive", Secret: secret}, "secret"})
	}
	return rows
}

// tokenRows returns calls on behalf of a player without a token, which are refused regardless of
// other errors in the request.
func tokenRows(s *testServer) []refused {
	var rows []refused
	for _, request := range []proto.Message{
		&pb.CreateGameRequest{Variant: "classic"}, &pb.CreateGameRequest{RequestId: "?"}, &pb.MoveRequest{}, &pb.ResignRequest{GameId: newID()},
		&pb.JoinGameRequest{}, &pb.UndoRequest{}, &pb.ReactRequest{}, &pb.CreateChallengeRequest{}, &pb.JoinChallengeRequest{}, &pb.LeaveChallengeRequest{},
		&pb.StartChallengeRequest{}, &pb.RotateTokenRequest{Secret: "short"}, &pb.RenameRequest{Name: "?"},
		&pb.CreateSessionLinkRequest{}, &pb.ListSessionsRequest{}, &pb.EndSessionRequest{}, &pb.AddKeyRequest{}, &pb.ListKeysRequest{}, &pb.RemoveKeyRequest{},
		&pb.GetPlayerRequest{PlayerId: "me"}, &pb.ListGamesRequest{PlayerId: "me"}, &pb.GetRankRequest{Variant: "classic", PlayerId: "me"},
	} {
		rows = append(rows, refused{s.anyone, request, pb.ReasonBadToken})
	}
	return rows
}

// Ensure that a wrong token fails every call, even one that needs no token, before any other check,
// over every protocol.
func TestToken_Wrong(t *testing.T) {
	t.Parallel()
	s := serve(t)
	p, other := s.player(t), s.player(t)
	id, secret, _ := strings.Cut(p.token, ".")
	_, others, _ := strings.Cut(other.token, ".")
	headers := map[string][]string{
		"empty header":     {""},
		"no scheme":        {p.token},
		"other scheme":     {"Basic " + p.token},
		"no token":         {"Bearer "},
		"id alone":         {"Bearer " + id + "."},
		"secret alone":     {"Bearer ." + secret},
		"upper case":       {"Bearer " + strings.ToUpper(p.token)},
		"shorter secret":   {"Bearer " + id + "." + secret[1:]},
		"longer secret":    {"Bearer " + id + "." + secret + "a"},
		"unknown id":       {"Bearer " + newID() + "." + secret},
		"two tokens":       {"Bearer " + p.token, "Bearer " + other.token},
		"good, then wrong": {"Bearer " + p.token, "nonsense"},
	}
	for _, protocol := range protocols {
		o := s.over(t, protocol)
		for name, header := range headers {
			_, err := o.ListVariants(s.authorization(header...), &pb.ListVariantsRequest{})
			require.Error(t, err, "%s: %s", protocol, name)
			wanted(t, err, pb.ReasonBadToken)
		}
		for _, m := range methods() {
			_, err := m.call(s.with(id+"."+others), o.conn, m.request.New().Interface())
			require.Error(t, err, "%s: %s", protocol, m.name)
			wanted(t, err, pb.ReasonBadToken)
		}
		// In HTTP, the scheme is case-insensitive, and several spaces may follow it.
		got, err := o.GetPlayer(s.authorization("bEARER  "+p.token), &pb.GetPlayerRequest{PlayerId: "me"})
		require.NoError(t, err)
		assert.Equal(t, p.GetId(), got.GetPlayer().GetId())
	}
}
