package contract

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that a wrong token fails every call, even one that needs no token, before any other
// check.
func TestToken_Wrong(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	each(t, func(t *testing.T, s *testServer) {
		p, other := s.player(t), s.player(t)
		id, secret, _ := strings.Cut(p.token, ".")
		_, otherSecret, _ := strings.Cut(other.token, ".")
		wrong := map[string][]string{
			"empty header":     {""},
			"no scheme":        {p.token},
			"other scheme":     {"Basic " + p.token},
			"scheme alone":     {"Bearer"},
			"no token":         {"Bearer "},
			"two spaces":       {"Bearer  " + p.token},
			"id alone":         {"Bearer " + id},
			"secret empty":     {"Bearer " + id + "."},
			"secret alone":     {"Bearer ." + secret},
			"colon":            {"Bearer " + id + ":" + secret},
			"trailing text":    {"Bearer " + p.token + ".a"},
			"upper case":       {"Bearer " + strings.ToUpper(p.token)},
			"shorter secret":   {"Bearer " + id + "." + secret[1:]},
			"longer secret":    {"Bearer " + id + "." + secret + "a"},
			"not base32":       {"Bearer " + id + ".1" + secret[1:]},
			"wrong secret":     {"Bearer " + id + "." + newID()},
			"other's secret":   {"Bearer " + id + "." + otherSecret},
			"unknown id":       {"Bearer " + newID() + "." + secret},
			"huge":             {"Bearer " + id + "." + strings.Repeat("a", 8000)},
			"glob":             {"Bearer " + strings.Repeat("*", 26) + "." + secret},
			"two tokens":       {"Bearer " + p.token, "Bearer " + other.token},
			"good, then wrong": {"Bearer " + p.token, "nonsense"},
		}
		for name, header := range wrong {
			for _, m := range methods() {
				_, err := m.call(s.authorization(header...), s.conn, m.request.New().Interface())
				assert.Equal(t, codes.Unauthenticated, status.Code(err), "%s: %s: %v", m.name, name, err)
				switch name {
				case "empty header", "no scheme", "other scheme", "scheme alone", "no token":
					assert.Contains(t, status.Convert(err).Message(), `must be "Bearer"`, "%s: %s", m.name, name)
				default:
					assert.Contains(t, status.Convert(err).Message(), "token", "%s: %s", m.name, name)
				}
			}
		}
		// The scheme is case-insensitive in HTTP.
		got, err := s.GetPlayer(s.authorization("bEARER "+p.token), &pb.GetPlayerRequest{PlayerId: "me"})
		require.NoError(t, err)
		assert.Equal(t, p.GetId(), got.GetPlayer().GetId())
	})
}

// Ensure that calls on behalf of a player need a token, regardless of other errors in the
// request, and that other calls do not.
func TestToken_Missing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		g := s.game(t, p, "classic")
		s.finish(t, p, "classic")
		need := map[string]func() error{
			"CreateGame": func() error {
				_, err := s.CreateGame(s.anyone, &pb.CreateGameRequest{Variant: "classic"})
				return err
			},
			"CreateGame, fields": func() error {
				_, err := s.CreateGame(s.anyone, &pb.CreateGameRequest{RequestId: "?"})
				return err
			},
			"Move": func() error {
				_, err := s.Move(s.anyone, slide(g.GetId(), 1, pb.Direction_DIRECTION_UP))
				return err
			},
			"Move, fields":      func() error { _, err := s.Move(s.anyone, &pb.MoveRequest{}); return err },
			"Resign":            func() error { _, err := s.Resign(s.anyone, &pb.ResignRequest{GameId: g.GetId()}); return err },
			"Resign, not found": func() error { _, err := s.Resign(s.anyone, &pb.ResignRequest{GameId: newID()}); return err },
			"JoinGame":          func() error { _, err := s.JoinGame(s.anyone, &pb.JoinGameRequest{}); return err },
			"Undo":              func() error { _, err := s.Undo(s.anyone, &pb.UndoRequest{}); return err },
			"CreateChallenge":   func() error { _, err := s.CreateChallenge(s.anyone, &pb.CreateChallengeRequest{}); return err },
			"JoinChallenge":     func() error { _, err := s.JoinChallenge(s.anyone, &pb.JoinChallengeRequest{}); return err },
			"LeaveChallenge":    func() error { _, err := s.LeaveChallenge(s.anyone, &pb.LeaveChallengeRequest{}); return err },
			"StartChallenge":    func() error { _, err := s.StartChallenge(s.anyone, &pb.StartChallengeRequest{}); return err },
			"RotateToken":       func() error { _, err := s.RotateToken(s.anyone, &pb.RotateTokenRequest{}); return err },
			"RotateToken, fields": func() error {
				_, err := s.RotateToken(s.anyone, &pb.RotateTokenRequest{Secret: "short"})
				return err
			},
			"AddKey":    func() error { _, err := s.AddKey(s.anyone, &pb.AddKeyRequest{}); return err },
			"ListKeys":  func() error { _, err := s.ListKeys(s.anyone, &pb.ListKeysRequest{}); return err },
			"RemoveKey": func() error { _, err := s.RemoveKey(s.anyone, &pb.RemoveKeyRequest{}); return err },
			"GetPlayer": func() error { _, err := s.GetPlayer(s.anyone, &pb.GetPlayerRequest{PlayerId: "me"}); return err },
			"ListGames": func() error { _, err := s.ListGames(s.anyone, &pb.ListGamesRequest{PlayerId: "me"}); return err },
			"GetRank": func() error {
				_, err := s.GetRank(s.anyone, &pb.GetRankRequest{Variant: "classic", PlayerId: "me"})
				return err
			},
		}
		for name, call := range need {
			err := call()
			assert.Equal(t, codes.Unauthenticated, status.Code(err), "%s: %v", name, err)
		}
		none := map[string]func() error{
			"GetServerInfo": func() error { _, err := s.GetServerInfo(s.anyone, &pb.GetServerInfoRequest{}); return err },
			"ListVariants":  func() error { _, err := s.ListVariants(s.anyone, &pb.ListVariantsRequest{}); return err },
			"GetGame":       func() error { _, err := s.GetGame(s.anyone, &pb.GetGameRequest{GameId: g.GetId()}); return err },
			"ListGames": func() error {
				_, err := s.ListGames(s.anyone, &pb.ListGamesRequest{PlayerId: p.GetId()})
				return err
			},
			"ListScores": func() error { _, err := s.ListScores(s.anyone, &pb.ListScoresRequest{Variant: "classic"}); return err },
			"GetRank": func() error {
				_, err := s.GetRank(s.anyone, &pb.GetRankRequest{Variant: "classic", PlayerId: p.GetId()})
				return err
			},
			"GetPlayer": func() error { _, err := s.GetPlayer(s.anyone, &pb.GetPlayerRequest{PlayerId: p.GetId()}); return err },
		}
		for name, call := range none {
			assert.NoError(t, call(), name)
		}
		assert.NotNil(t, s.watch(t, s.anyone, &pb.WatchRequest{GameId: g.GetId()}).game(t))
	})
}
