package contract

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
	"github.com/gridstand/gridstand/server/limits"
)

// passedOn returns the context of a call that a proxy forwards on behalf of the given address.
func passedOn(ctx context.Context, address string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "x-forwarded-for", address)
}

// limited is how a test reaches a limit.
type limited struct {
	// call makes the nth call that counts. The last one is refused.
	call func(n int) error
	// free makes calls that are not refused even now. It may be nil.
	free func()
}

// opens opens a stream and returns its error or the error of its first message.
func (s *testServer) opens(t testing.TB, ctx context.Context, id string) error {
	t.Helper()
	_, err := s.watch(t, ctx, &pb.WatchRequest{GameId: id}).receive(t)
	return err
}

// Ensure that each limit is reached, that the call beyond it is refused with the limit, its name and
// when to retry, and that what must not count does not.
func TestLimits(t *testing.T) {
	t.Parallel()
	bots := func(variant string) *pb.CreateGameRequest {
		return &pb.CreateGameRequest{Variant: variant, Seats: seats("greedy"), RequestId: newID()}
	}
	for name, tt := range map[string]struct {
		limit  int
		reason string // RATE_LIMITED if empty
		change change // may be nil
		reach  func(t *testing.T, s *testServer) limited
	}{
		"moves_per_second": {4, "", nil, func(t *testing.T, s *testServer) limited {
			p, other := s.player(t), s.player(t)
			g, theirs := s.game(t, p, "classic"), s.game(t, other, "classic")
			first := slide(g.GetId(), 1, g.GetPosition().GetTwenty48().GetLegalMoves()[0])
			return limited{func(int) error { // A repeated move has no effect, but still counts as a call.
				_, err := s.Move(p.ctx, first)
				return err
			}, func() { s.moves(t, other, theirs, 1) }}
		}},
		"reactions_per_second": {1, "", nil, func(t *testing.T, s *testServer) limited {
			p := s.player(t)
			one, two := s.game(t, p, "classic").GetId(), s.game(t, p, "classic").GetId()
			react := func(p player, id string) error {
				_, err := s.React(p.ctx, &pb.ReactRequest{GameId: id, Reaction: clap})
				return err
			}
			return limited{func(i int) error {
				err := react(p, []string{one, two}[i%2])
				if err != nil {
					require.ErrorContains(t, err, "at most 1 reaction a second")
				}
				return err
			}, func() {
				require.NoError(t, react(s.player(t), one), "another account")
			}}
		}},
		"events_per_game": {4, pb.ReasonGameTooLong, func(c *server.Config) { c.BotPace = time.Millisecond }, func(t *testing.T, s *testServer) limited {
			p := s.player(t)
			g := s.game(t, p, "classic")
			return limited{func(int) error {
				now := s.get(t, g.GetId())
				_, err := s.Move(p.ctx, slide(g.GetId(), now.GetVersion(), now.GetPosition().GetTwenty48().GetLegalMoves()[0]))
				return err
			}, func() {
				s.refuses(t, p.ctx, &pb.UndoRequest{GameId: g.GetId(), Version: 4}, pb.ReasonGameTooLong)
				s.resign(t, p, g.GetId())
				endless := s.create(t, p, bots("classic")).GetId()
				waittest.Until(t, "a game that only bots play ends", func() bool {
					return s.get(t, endless).GetResult().GetReason() == pb.Result_REASON_ABANDONED
				})
			}}
		}},
		"streams_per_address": {2, "", nil, func(t *testing.T, s *testServer) limited {
			id := s.game(t, s.player(t), "classic").GetId()
			first, leave := context.WithCancel(s.anyone)
			again := s.over(t, protocols[1])
			return limited{func(n int) error {
				return []*testServer{s, again}[n%2].opens(t, []context.Context{first, s.anyone}[min(n, 1)], id)
			}, func() {
				leave()
				waittest.Until(t, "a stream that ends makes room", func() bool { return again.opens(t, s.anyone, id) == nil })
			}}
		}},
		"reads_per_address_per_second": {1, "", nil, func(t *testing.T, s *testServer) limited {
			p := s.player(t)
			g := s.game(t, p, "classic")
			return limited{func(int) error {
				_, err := s.ListGames(s.anyone, &pb.ListGamesRequest{})
				return err
			}, func() { s.move(t, p, g.GetId(), 1, g.GetPosition()) }}
		}},
		"wrong_tokens_per_minute": {5, "", nil, func(t *testing.T, s *testServer) limited {
			known, other := s.player(t), s.player(t)
			me := func(ctx context.Context) error {
				_, err := s.GetPlayer(ctx, &pb.GetPlayerRequest{PlayerId: "me"})
				return err
			}
			require.NoError(t, me(known.ctx))
			return limited{func(int) error {
				err := me(s.with(other.GetId() + "." + strings.Repeat("a", 26)))
				if status.Code(err) == codes.Unauthenticated {
					return nil
				}
				return err
			}, func() {
				require.NoError(t, me(known.ctx), "an account that was verified before")
				require.NoError(t, me(other.ctx), "a valid token")
			}}
		}},
		"new_players_per_minute": {3, "", nil, func(t *testing.T, s *testServer) limited {
			create := func(address string) error {
				_, err := s.CreatePlayer(passedOn(s.anyone, address), &pb.CreatePlayerRequest{Name: "p" + newID()[:20]})
				return err
			}
			return limited{func(int) error { return create("198.51.100.1") }, func() { require.NoError(t, create("198.51.100.2")) }}
		}},
		"new_games_per_minute": {2, "", nil, func(t *testing.T, s *testServer) limited {
			p := s.player(t)
			first := &pb.CreateGameRequest{Variant: "classic", RequestId: newID()}
			run := s.challenge(t, s.player(t), shortRace()).GetId()
			return limited{func(n int) error {
				request := &pb.CreateGameRequest{Variant: "classic"}
				if n == 0 {
					request = first
				}
				_, err := s.CreateGame(p.ctx, request)
				return err
			}, func() {
				s.create(t, p, first)
				s.refuses(t, p.ctx, shortRace(), pb.ReasonRateLimited)
				s.refuses(t, p.ctx, &pb.JoinChallengeRequest{ChallengeId: run}, pb.ReasonRateLimited)
				s.game(t, s.player(t), "classic")
			}}
		}},
		"new_games_per_address_per_minute": {3, "", nil, func(t *testing.T, s *testServer) limited {
			players := []player{s.player(t), s.player(t)}
			return limited{func(n int) error {
				_, err := s.CreateGame(players[n%2].ctx, &pb.CreateGameRequest{Variant: "classic"})
				return err
			}, nil}
		}},
		"new_challenges_per_address_per_minute": {3, "", nil, func(t *testing.T, s *testServer) limited {
			create := func(private bool) error {
				_, err := s.CreateChallenge(s.player(t).ctx, &pb.CreateChallengeRequest{Kind: link, Variant: "classic", Private: private})
				return err
			}
			return limited{func(int) error { return create(false) }, func() { require.NoError(t, create(true)) }}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(c *server.Config) {
				i := slices.IndexFunc(limits.Table[:], func(l limits.Limit) bool { return l.Field == name })
				c.Limits[i] = tt.limit
				c.Proxies = "127.0.0.0/8"
				c.BotPace = time.Hour
				if tt.change != nil {
					tt.change(c)
				}
			})
			l := tt.reach(t, s)
			var err error
			n := 0
			for ; err == nil && n < 1000; n++ {
				err = l.call(n)
			}
			require.Greater(t, n, min(tt.limit, 3), "refused too early")
			reason := tt.reason
			if reason == "" {
				reason = pb.ReasonRateLimited
			}
			assert.Equal(t, map[string]string{"limit_name": name, "limit": strconv.Itoa(tt.limit)}, wantReason(t, err, reason))
			if l.free != nil {
				l.free()
			}
		})
	}
}

// Ensure that limits apply to each SSH client rather than to the host, and that wrong credentials are
// limited in the same way as wrong tokens.
func TestLimit_Hosts(t *testing.T) {
	t.Parallel()
	h, _ := hosts(t, func(c *server.Config) {
		c.Limits[limits.NewPlayersPerMinute], c.Limits[limits.WrongTokensPerMinute], c.Proxies = 1, 1, "127.0.0.1"
	})
	create := func(address string) error {
		_, err := h.CreatePlayer(passedOn(h.call(newKey(t)), address), &pb.CreatePlayerRequest{Name: "p" + newID()[:20]})
		return err
	}
	require.NoError(t, create("198.51.100.1"))
	wantReason(t, create("198.51.100.1"), pb.ReasonRateLimited)
	require.NoError(t, create("198.51.100.2"))
	wrong := host{h.testServer, "gridstand_ssh_" + newID()}
	guess := func(address string) error {
		_, err := h.GetPlayer(passedOn(wrong.call(newKey(t)), address), &pb.GetPlayerRequest{PlayerId: "me"})
		return err
	}
	wantReason(t, guess("198.51.100.3"), pb.ReasonBadCredential)
	wantReason(t, guess("198.51.100.3"), pb.ReasonRateLimited)
	wantReason(t, guess("198.51.100.4"), pb.ReasonBadCredential)
}

// Ensure that a server reports its configured limits, which may be 0 for none, its storage and the
// address of its pages.
func TestGetServerInfo(t *testing.T) {
	t.Parallel()
	given := func(row int) int {
		if limits.Name(row) == limits.HeldBytesPerAddress {
			return math.MaxInt32 // This test's responses might exceed a smaller limit.
		}
		return []int{4096 + row, 0, math.MaxInt32}[row%3]
	}
	s := serve(t, func(c *server.Config) {
		c.MinTurnLimit = 20 * time.Millisecond
		c.PublicURL = "https://play.example:8443"
		for i := range c.Limits {
			c.Limits[i] = given(i)
		}
	})
	info, err := s.GetServerInfo(s.anyone, &pb.GetServerInfoRequest{})
	require.NoError(t, err)
	assert.Equal(t, "gridstand", info.GetName())
	assert.NotEmpty(t, info.GetVersion())
	assert.True(t, info.GetReactions())
	told := info.GetLimits().ProtoReflect()
	assert.Equal(t, 20*time.Millisecond, info.GetLimits().GetMinTurnLimit().AsDuration())
	for i, limit := range limits.Table {
		field := told.Descriptor().Fields().ByName(protoreflect.Name(limit.Field))
		assert.EqualValues(t, given(i), told.Get(field).Int(), limit.Field)
	}
	storage := pb.Storage_STORAGE_DURABLE
	if s.volatile {
		storage = pb.Storage_STORAGE_EMBEDDED
	}
	assert.Equal(t, storage, info.GetStorage())
	assert.Equal(t, "https://play.example:8443", info.GetWebUrl())
}
