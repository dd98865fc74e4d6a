package client_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/client"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func TestMove_RepeatedUntilKnown(t *testing.T) {
	t.Parallel()
	for name, failures := range map[string][]error{
		"nothing fails":            nil,
		"the store is unavailable": {storageAway(), storageAway(), storageAway(), storageAway(), storageAway()},
		"the server stops":         {refuse(codes.Unavailable, pb.ReasonServerUnavailable)},
		"too many moves":           {refuse(codes.ResourceExhausted, pb.ReasonRateLimited, retryInfo(time.Millisecond))},
		"the server is slow":       {refuse(codes.DeadlineExceeded, "")},
	} {
		var mu sync.Mutex
		var first *pb.MoveRequest
		f := &fake{move: func(n int, ctx context.Context, r *pb.MoveRequest) (*pb.Event, error) {
			mu.Lock()
			defer mu.Unlock()
			if first == nil {
				first = r
			}
			assert.True(t, proto.Equal(first, r), name)
			if n <= len(failures) {
				return nil, failures[n-1]
			}
			return eventAt(r.GetVersion() + 1), nil
		}}
		seat := f.client(t).Seat(knownAt(3))
		event, err := seat.Move(waittest.Context(t), 3, client.Slide(pb.Direction_DIRECTION_LEFT), true)
		require.NoError(t, err, name)
		assert.Equal(t, int32(4), event.GetVersion(), name)
		assert.Equal(t, pb.Direction_DIRECTION_LEFT, first.GetDirection(), name)
		assert.True(t, first.GetByBot(), name)
		assert.Equal(t, gameID, first.GetGameId(), name)
		assert.Equal(t, len(failures)+1, f.made("move"), name)
	}
}

func storageAway() error { return refuse(codes.Unavailable, pb.ReasonStorageUnavailable) }

func TestMove_BrokenConnection(t *testing.T) {
	t.Parallel()
	f := &fake{}
	f.move = func(n int, ctx context.Context, r *pb.MoveRequest) (*pb.Event, error) {
		if n == 1 { // It takes effect, but its reply is lost.
			f.listener.cut()
			<-ctx.Done()
		}
		return eventAt(r.GetVersion() + 1), nil
	}
	seat := f.client(t).Seat(knownAt(3))
	var told []error
	ctx := client.WithOnRetry(waittest.Context(t), func(_ int, _ time.Duration, err error) { told = append(told, err) })
	event, err := seat.Move(ctx, 3, client.Jump(&pb.Cell{X: 1, Y: 2}), false)
	require.NoError(t, err)
	assert.Equal(t, int32(4), event.GetVersion())
	require.NotEmpty(t, told)
	assert.ErrorIs(t, told[0], client.ErrUnreachable)
}

// Ensure that a move whose outcome is unknown says so if the context ends or the client is closed during
// a try or a wait, and that a later call is neither made nor reported as one that may have taken effect.
func TestMove_OutcomeUnknown(t *testing.T) {
	t.Parallel()
	for _, waits := range []bool{false, true} {
		for _, closes := range []bool{false, true} {
			ctx, cancel := context.WithCancel(waittest.Context(t))
			f := &fake{}
			c := f.client(t)
			end := func() {
				if cancel(); closes {
					assert.NoError(t, c.Close())
				}
			}
			if closes {
				ctx = waittest.Context(t)
			}
			f.move = func(_ int, called context.Context, _ *pb.MoveRequest) (*pb.Event, error) {
				if !waits {
					end()
					<-called.Done()
				}
				return nil, storageAway()
			}
			ctx = client.WithOnRetry(ctx, func(int, time.Duration, error) { end() })
			move := func() error {
				_, err := c.Seat(knownAt(3)).Move(ctx, 3, client.Slide(pb.Direction_DIRECTION_UP), false)
				require.ErrorIs(t, err, context.Canceled)
				assert.Equal(t, closes, strings.Contains(err.Error(), "the client is closed"), err)
				return err
			}
			err := move()
			require.ErrorIs(t, err, client.ErrUnsettled)
			assert.Equal(t, waits, errors.Is(err, client.ErrStorageUnavailable), err)
			err = move()
			require.NotErrorIs(t, err, client.ErrUnsettled)
			assert.Equal(t, codes.Canceled, client.FromError(err).Code)
			assert.Equal(t, 1, f.made("move"))
		}
	}
}

// Ensure that a refusal that does not tell whether an earlier try took effect does not hide that, unlike a
// version conflict.
func TestMove_Refused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		failures []error
		doubtful bool
	}{
		"another move":                              {[]error{conflict("9")}, false},
		"another move after a lost reply":           {[]error{storageAway(), conflict("9")}, false},
		"the token was replaced after a lost reply": {[]error{storageAway(), badToken()}, true},
		"the game is gone after a lost reply":       {[]error{storageAway(), refuse(codes.NotFound, pb.ReasonGameNotFound)}, true},
		"the game is damaged after a lost reply":    {[]error{storageAway(), refuse(codes.DataLoss, pb.ReasonGameDamaged)}, true},
		"a proxy refuses after a lost reply":        {[]error{storageAway(), refuse(codes.PermissionDenied, "")}, true},
		"a proxy fails":                             {[]error{refuse(codes.Unknown, "")}, true},
		"the server fails":                          {[]error{refuse(codes.Internal, "")}, true},
		"the token was replaced before":             {[]error{badToken()}, false},
		"another move after a lost reply and a rate limit": {
			[]error{storageAway(), refuse(codes.ResourceExhausted, pb.ReasonRateLimited), conflict("9")}, false,
		},
		"the token was replaced during a rate limit": {
			[]error{refuse(codes.ResourceExhausted, pb.ReasonRateLimited), badToken()}, false,
		},
		"the token was replaced during a rate limit after a lost reply": {
			[]error{storageAway(), refuse(codes.ResourceExhausted, pb.ReasonRateLimited), badToken()}, true,
		},
	} {
		f := &fake{move: func(n int, _ context.Context, _ *pb.MoveRequest) (*pb.Event, error) {
			return nil, tt.failures[n-1]
		}}
		_, err := f.client(t).Seat(knownAt(3)).Move(waittest.Context(t), 3, client.Slide(pb.Direction_DIRECTION_UP), false)
		require.Error(t, err, name)
		assert.Equal(t, tt.doubtful, errors.Is(err, client.ErrUnsettled), "%s: %v", name, err)
		version, _ := client.CurrentVersion(err)
		assert.Equal(t, errors.Is(tt.failures[len(tt.failures)-1], conflict("9")), version == 9, "%s: %v", name, err)
		assert.Equal(t, len(tt.failures), f.made("move"), name)
	}
}

// Ensure that a call is not reported as one that may have taken effect if the server refused every try.
func TestNewGame_Limited(t *testing.T) {
	t.Parallel()
	for lost, unsettled := range []bool{false, true} {
		f := &fake{createGame: func(n int, _ *pb.CreateGameRequest) (*pb.Game, error) {
			if n <= lost {
				return nil, storageAway()
			}
			return nil, refuse(codes.ResourceExhausted, pb.ReasonRateLimited)
		}}
		_, err := f.client(t).NewGame(waittest.Context(t), "classic", client.GameOptions{})
		require.ErrorIs(t, err, client.ErrRateLimited)
		assert.Equal(t, unsettled, errors.Is(err, client.ErrUnsettled), err)
		assert.Equal(t, 4, f.made("createGame"))
	}
}

// Ensure that a request that cannot be encoded is not reported as one that may have taken effect.
func TestMove_Malformed(t *testing.T) {
	t.Parallel()
	f := &fake{}
	_, err := f.client(t).SeatAt("a\xff", 0).Move(waittest.Context(t), 3, client.Slide(pb.Direction_DIRECTION_UP), false)
	require.ErrorContains(t, err, "UTF-8")
	require.NotErrorIs(t, err, client.ErrUnsettled)
	assert.Zero(t, f.made("move"))
}

func TestMove_WrongReply(t *testing.T) {
	t.Parallel()
	for name, event := range map[string]*pb.Event{
		"no event":        nil,
		"another game":    {GameId: otherID, Version: 4, Position: position()},
		"a later version": eventAt(5),
	} {
		f := &fake{
			move: func(int, context.Context, *pb.MoveRequest) (*pb.Event, error) { return event, nil },
			undo: func(_ int, r *pb.UndoRequest) (*pb.Event, error) {
				assert.Nil(t, r.ToVersion, "the last move")
				return event, nil
			},
		}
		seat := f.client(t).Seat(knownAt(3))
		_, err := seat.Move(waittest.Context(t), 3, client.Slide(pb.Direction_DIRECTION_UP), false)
		assert.ErrorIs(t, err, client.ErrBadStream, name)
		_, err = seat.Undo(waittest.Context(t), 3, nil)
		assert.ErrorIs(t, err, client.ErrBadStream, name)
	}
}

func TestResign_NamesTheSeat(t *testing.T) {
	t.Parallel()
	f := &fake{resign: func(n int, r *pb.ResignRequest) (*pb.Event, error) {
		if n == 1 {
			return nil, refuse(codes.DeadlineExceeded, "")
		}
		assert.Nil(t, r.Version)
		if r.Seat == nil {
			return nil, refuse(codes.PermissionDenied, pb.ReasonNotSeated)
		}
		assert.Equal(t, int32(1), r.GetSeat())
		return eventAt(4), nil
	}}
	c := f.client(t)
	g := gameAt(3)
	g.Seats = []*pb.Seat{
		{Index: 0, Occupant: &pb.Seat_Bot{Bot: "greedy"}},
		{Index: 1, Occupant: &pb.Seat_Player{Player: &pb.Player{Id: playerID}}},
		{Index: 2, Occupant: &pb.Seat_Player{Player: &pb.Player{Id: playerID}}},
	}
	seat := c.Seat(client.Game{Game: g})
	assert.Equal(t, int32(1), seat.Index())
	assert.Equal(t, gameID, seat.GameID())
	event, err := seat.Resign(waittest.Context(t))
	require.NoError(t, err)
	assert.Equal(t, int32(4), event.GetVersion())

	c.SetToken("")
	seat = c.Seat(client.Game{Game: g})
	assert.Equal(t, int32(-1), seat.Index())
	_, err = seat.Resign(waittest.Context(t))
	assert.ErrorIs(t, err, client.ErrNotSeated)
}

// Ensure that a call that creates something is repeated with the same request_id until its outcome is
// known, and that the next one has another.
func TestCreate_Once(t *testing.T) {
	t.Parallel()
	var ids []string
	answer := func(n int, r interface{ GetRequestId() string }) error {
		if ids = append(ids, r.GetRequestId()); n%2 == 1 {
			return storageAway()
		}
		return nil
	}
	f := &fake{
		createGame: func(n int, r *pb.CreateGameRequest) (*pb.Game, error) {
			assert.Equal(t, "twos", r.GetVariant())
			assert.True(t, r.GetPrivate())
			assert.Equal(t, time.Minute, r.GetTurnLimit().AsDuration())
			return gameAt(1), answer(n, r)
		},
		createChallenge: func(n int, r *pb.CreateChallengeRequest) (*pb.Challenge, error) {
			assert.Equal(t, "classic", r.GetVariant())
			return &pb.Challenge{Id: challengeID}, answer(n, r)
		},
		joinChallenge: func(n int, r *pb.JoinChallengeRequest) (*pb.Challenge, error) {
			assert.Equal(t, "greedy", r.GetBot())
			return &pb.Challenge{Id: challengeID}, answer(n, r)
		},
	}
	c, ctx, request := f.client(t), waittest.Context(t), &pb.CreateChallengeRequest{Variant: "classic"}
	for range 2 {
		g, err := c.NewGame(ctx, "twos", client.GameOptions{Private: true, TurnLimit: time.Minute})
		require.NoError(t, err)
		assert.Equal(t, gameID, g.GetId())
		created, err := c.NewChallenge(ctx, request)
		require.NoError(t, err)
		assert.Equal(t, challengeID, created.GetId())
		assert.Empty(t, request.GetRequestId(), "the caller's request was modified")
		joined, err := c.AddBot(ctx, challengeID, "greedy")
		require.NoError(t, err)
		assert.Equal(t, challengeID, joined.GetId())
	}
	require.Len(t, ids, 12)
	for i := 0; i < len(ids); i += 2 {
		assert.Regexp(t, `^[a-z2-7]{26}$`, ids[i])
		assert.Equal(t, ids[i], ids[i+1])
		assert.NotContains(t, ids[:i], ids[i])
	}
	_, err := c.AddBot(ctx, otherID, "greedy")
	require.ErrorIs(t, err, client.ErrBadStream, "an answer with another challenge")
	made := f.made("joinChallenge")
	_, err = c.AddBot(ctx, challengeID, "")
	require.ErrorIs(t, err, client.ErrInvalid)
	assert.Equal(t, made, f.made("joinChallenge"), "a call without a bot would add the account itself")
	_, err = c.Attempt(ctx, "")
	require.ErrorContains(t, err, "challenge", "a server would create another game")
	f.createChallenge = func(int, *pb.CreateChallengeRequest) (*pb.Challenge, error) { return nil, badToken() }
	_, err = c.NewChallenge(ctx, nil)
	require.ErrorIs(t, err, client.ErrBadToken)
	f.createGame = func(int, *pb.CreateGameRequest) (*pb.Game, error) { return nil, storageAway() }
	_, err = c.NewGame(ctx, "twos", client.GameOptions{})
	assert.ErrorIs(t, err, client.ErrUnsettled)
	assert.ErrorIs(t, err, client.ErrStorageUnavailable)
}

func TestResolve(t *testing.T) {
	t.Parallel()
	id := func(prefix string) string { return (prefix + strings.Repeat("a", 26))[:26] }
	list := func(ids ...string) []*pb.Game {
		var games []*pb.Game
		for _, id := range ids {
			games = append(games, &pb.Game{Id: id})
		}
		return games
	}
	f := &fake{listGames: func(_ int, ctx context.Context, r *pb.ListGamesRequest) (*pb.ListGamesResponse, error) {
		switch {
		case r.GetOrderBy() == pb.OrderBy_ORDER_BY_WATCHERS:
			assert.Equal(t, pb.GameStatus_GAME_STATUS_ACTIVE, r.GetStatus())
			return &pb.ListGamesResponse{Games: list(id("watched"))}, nil
		case r.GetPlayerId() == "":
			return &pb.ListGamesResponse{Games: list(id("public"), id("twicex"), id("doublea"), id("doubleb"), "hostile\x1b[31m"), NextPageToken: "p"}, nil
		case tokenOf(ctx) == "":
			return nil, badToken()
		case r.GetPageToken() == "":
			return &pb.ListGamesResponse{Games: list(id("public"), id("twicey")), NextPageToken: "2"}, nil
		default:
			return &pb.ListGamesResponse{Games: list(id("second"))}, nil
		}
	}}
	c := f.client(t)
	for prefix, want := range map[string]string{
		gameID:            gameID,
		" PUBLIC":         id("public"),
		"publica":         id("public"),
		"second":          id("second"),
		"watched":         id("watched"),
		id("second")[:25]: id("second"),
	} {
		got, err := c.Resolve(waittest.Context(t), prefix)
		require.NoError(t, err, prefix)
		assert.Equal(t, want, got)
	}
	for prefix, want := range map[string]error{
		"":            client.ErrInvalid,
		"short":       client.ErrInvalid,
		"not-base32":  client.ErrInvalid,
		gameID + "a":  client.ErrInvalid,
		"unknown":     client.ErrGameNotFound,
		"twice2":      client.ErrGameNotFound,
		"double":      client.ErrInvalid,
		"hostile":     client.ErrGameNotFound,
		"\x1b[31mxyz": client.ErrInvalid,
	} {
		_, err := c.Resolve(waittest.Context(t), prefix)
		assert.ErrorIs(t, err, want, prefix)
		assert.NotContains(t, err.Error(), "\x1b")
	}
	_, err := c.Resolve(waittest.Context(t), gameID+"a")
	assert.ErrorContains(t, err, gameID+"a", "not cut off to something that looks like an id")
	_, err = c.Resolve(waittest.Context(t), "double")
	assert.ErrorContains(t, err, "2 games")

	c.SetToken("")
	_, err = c.Resolve(waittest.Context(t), "second")
	assert.ErrorIs(t, err, client.ErrGameNotFound)
}
