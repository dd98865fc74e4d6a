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
	seat.OnRetry = func(_ int, _ time.Duration, err error) { told = append(told, err) }
	event, err := seat.Move(waittest.Context(t), 3, client.Jump(&pb.Cell{X: 1, Y: 2}), false)
	require.NoError(t, err)
	assert.Equal(t, int32(4), event.GetVersion())
	require.NotEmpty(t, told)
	assert.ErrorIs(t, told[0], client.ErrUnreachable)
}

func TestMove_Refused(t *testing.T) {
	t.Parallel()
	for name, failures := range map[string][]error{
		"at the first try":                                {conflict("9")},
		"after an unknown outcome":                        {storageAway(), conflict("9")},
		"after several unknown outcomes and a rate limit": {storageAway(), refuse(codes.ResourceExhausted, pb.ReasonRateLimited), conflict("9")},
	} {
		f := &fake{move: func(n int, _ context.Context, _ *pb.MoveRequest) (*pb.Event, error) {
			return nil, failures[n-1]
		}}
		_, err := f.client(t).Seat(knownAt(3)).Move(waittest.Context(t), 3, client.Slide(pb.Direction_DIRECTION_UP), false)
		require.ErrorIs(t, err, client.ErrVersionConflict, name)
		assert.NotErrorIs(t, err, client.ErrUnsettled, name)
		version, ok := client.CurrentVersion(err)
		assert.True(t, ok, name)
		assert.Equal(t, int32(9), version, name)
		assert.Equal(t, len(failures), f.made("move"), name)
	}
}

// Ensure that a move whose outcome is unknown says so if the context ends during a try or a wait.
func TestMove_OutcomeUnknown(t *testing.T) {
	t.Parallel()
	for _, waits := range []bool{false, true} {
		ctx, cancel := context.WithCancel(waittest.Context(t))
		f := &fake{move: func(n int, _ context.Context, _ *pb.MoveRequest) (*pb.Event, error) {
			if n == 6 {
				cancel()
			}
			return nil, storageAway()
		}}
		seat := f.client(t).Seat(knownAt(3))
		if waits {
			seat.OnRetry = func(int, time.Duration, error) { cancel() }
		}
		_, err := seat.Move(ctx, 3, client.Slide(pb.Direction_DIRECTION_UP), false)
		require.ErrorIs(t, err, client.ErrUnsettled)
		assert.ErrorIs(t, err, context.Canceled)
		if waits {
			assert.ErrorIs(t, err, client.ErrStorageUnavailable)
		}
	}
}

// Ensure that a refusal that does not tell whether an earlier try took effect does not hide that.
func TestMove_RefusedInDoubt(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		failures []error
		doubtful bool
	}{
		"the token was replaced after a lost reply": {[]error{storageAway(), badToken()}, true},
		"the game is gone after a lost reply":       {[]error{storageAway(), refuse(codes.NotFound, pb.ReasonGameNotFound)}, true},
		"the game is damaged after a lost reply":    {[]error{storageAway(), refuse(codes.DataLoss, pb.ReasonGameDamaged)}, true},
		"a proxy refuses after a lost reply":        {[]error{storageAway(), refuse(codes.PermissionDenied, "")}, true},
		"a proxy fails":                             {[]error{refuse(codes.Unknown, "")}, true},
		"the server fails":                          {[]error{refuse(codes.Internal, "")}, true},
		"the token was replaced before":             {[]error{badToken()}, false},
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
		assert.Equal(t, len(tt.failures), f.made("move"), name)
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

// Ensure that a call that was not made is not reported as one that may have taken effect.
func TestMove_ContextAlreadyDone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(waittest.Context(t))
	cancel()
	f := &fake{}
	_, err := f.client(t).Seat(knownAt(3)).Move(ctx, 3, client.Slide(pb.Direction_DIRECTION_UP), false)
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, client.ErrUnsettled)
	assert.Zero(t, f.made("move"))
}

func TestNewGame_OutcomeUnknown(t *testing.T) {
	t.Parallel()
	f := &fake{createGame: func(int, *pb.CreateGameRequest) (*pb.Game, error) { return nil, storageAway() }}
	_, err := f.client(t).NewGame(waittest.Context(t), "twos", client.GameOptions{})
	assert.ErrorIs(t, err, client.ErrUnsettled)
	assert.ErrorIs(t, err, client.ErrStorageUnavailable)
}

func TestMove_WrongReply(t *testing.T) {
	t.Parallel()
	for name, event := range map[string]*pb.Event{
		"no event":        nil,
		"another game":    {GameId: otherID, Version: 4, Position: position()},
		"a later version": eventAt(5),
	} {
		f := &fake{move: func(int, context.Context, *pb.MoveRequest) (*pb.Event, error) { return event, nil }}
		_, err := f.client(t).Seat(knownAt(3)).Move(waittest.Context(t), 3, client.Slide(pb.Direction_DIRECTION_UP), false)
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

func TestNewGame_MakesOneGame(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var ids []string
	f := &fake{createGame: func(n int, r *pb.CreateGameRequest) (*pb.Game, error) {
		mu.Lock()
		defer mu.Unlock()
		ids = append(ids, r.GetRequestId())
		if n%2 == 1 {
			return nil, storageAway()
		}
		assert.Equal(t, "twos", r.GetVariant())
		assert.True(t, r.GetPrivate())
		assert.Equal(t, time.Minute, r.GetTurnLimit().AsDuration())
		return gameAt(1), nil
	}}
	c := f.client(t)
	opts := client.GameOptions{Private: true, TurnLimit: time.Minute}
	for range 2 {
		g, err := c.NewGame(waittest.Context(t), "twos", opts)
		require.NoError(t, err)
		assert.Equal(t, gameID, g.GetId())
	}
	require.Len(t, ids, 4)
	assert.Regexp(t, `^[a-z2-7]{26}$`, ids[0])
	assert.Equal(t, ids[0], ids[1])
	assert.Equal(t, ids[2], ids[3])
	assert.NotEqual(t, ids[0], ids[2])
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
