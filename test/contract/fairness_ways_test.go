package contract

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// fairWay is a call that might reveal the owner's attempt or the seed. If the caller may see them,
// the call must show what the way says; if not, no call may.
type fairWay struct {
	name string
	// request returns the request, or nil if the caller must not make it at this moment, because it
	// would change what other callers should see.
	request fairRequest
	// refused returns the expected reason of an error; nil if the call always succeeds.
	refused func(c fairCase) string
	// token reports whether the call needs a token.
	token bool
	// attempt and seed report whether the response contains the owner's attempt or the challenge's
	// seed.
	attempt, seed bool
	// listed reports whether a list shows the owner's attempt. It is nil if the call is not a list.
	listed func(c fairCase) bool
}

// fairUnrelated lists the calls that reveal nothing about games.
var fairUnrelated = map[string]bool{
	"/gridstand.v1.PlayerService/CreatePlayer": true, "/gridstand.v1.PlayerService/RotateToken": true,
	"/gridstand.v1.PlayerService/AddKey": true, "/gridstand.v1.PlayerService/RemoveKey": true,
	"/gridstand.v1.PlayerService/ListKeys": true, "/gridstand.v1.GameService/GetServerInfo": true,
	"/gridstand.v1.GameService/ListVariants": true, "/gridstand.v1.LeaderboardService/GetRank": true,
}

// fairRequest returns the request of a way.
type fairRequest = func(f *fairness, by *fairCaller) proto.Message

// fairOfGame returns a request about the owner's attempt.
func fairOfGame(request func(gameID string) proto.Message) fairRequest {
	return func(f *fairness, _ *fairCaller) proto.Message { return request(f.owner.game.GetId()) }
}

// fairOfChallenge returns a request about the challenge.
func fairOfChallenge(request func(c *pb.Challenge) proto.Message) fairRequest {
	return func(f *fairness, _ *fairCaller) proto.Message { return request(f.challenge) }
}

// fairGetChallenges are the calls that show a challenge.
var fairGetChallenges = map[string]func(c *pb.Challenge) proto.Message{
	"GetChallenge":   func(c *pb.Challenge) proto.Message { return &pb.GetChallengeRequest{ChallengeId: c.GetId()} },
	"WatchChallenge": func(c *pb.Challenge) proto.Message { return &pb.WatchChallengeRequest{ChallengeId: c.GetId()} },
	"GetChallenge of the day": func(c *pb.Challenge) proto.Message {
		if c.GetKind() != daily {
			return nil
		}
		return &pb.GetChallengeRequest{Daily: &pb.DailyRequest{Date: c.GetDate()}}
	},
}

// fairWays returns all calls that might reveal something.
func fairWays() []fairWay {
	ways := []fairWay{
		{
			name: "CreateGame again", token: true,
			refused: func(c fairCase) string {
				switch {
				case c.begins():
					c.who = fairOwner // of the attempt that the call returns
					return c.attempt()
				case c.kind == race:
					return pb.ReasonNotEntered
				}
				return pb.ReasonChallengeClosed
			},
			request: func(f *fairness, by *fairCaller) proto.Message {
				if by.game == nil && by.Player != nil && f.when < fairClosed && f.kind != race {
					return nil
				}
				return &pb.CreateGameRequest{ChallengeId: f.challenge.GetId()}
			},
		},
		{
			name: "JoinGame", token: true,
			refused: func(c fairCase) string {
				if c.who != fairOwner {
					return pb.ReasonSeatTaken
				}
				return c.attempt()
			},
			request: fairOfGame(func(id string) proto.Message { return &pb.JoinGameRequest{GameId: id} }),
		},
		{
			name: "CreateChallenge, a rematch of the attempt", token: true, seed: true,
			refused: func(c fairCase) string {
				if reason := c.attempt(); reason != "" || c.when >= fairOver && c.seed() {
					return reason
				}
				return pb.ReasonSeedHidden
			},
			request: fairOfGame(func(id string) proto.Message {
				return &pb.CreateChallengeRequest{Kind: rematch, GameId: id, RequestId: newID()}
			}),
		},
		{
			name: "ListStandings around the owner",
			refused: func(c fairCase) string {
				if c.kind != race && c.when < fairOver {
					return pb.ReasonNoScore
				}
				return ""
			},
			request: func(f *fairness, _ *fairCaller) proto.Message {
				return &pb.ListStandingsRequest{ChallengeId: f.challenge.GetId(), PlayerId: f.owner.GetId(), Neighbors: 5}
			},
		},
		{
			name:    "GetPlayer",
			request: func(f *fairness, _ *fairCaller) proto.Message { return &pb.GetPlayerRequest{PlayerId: f.owner.GetId()} },
		},
	}
	for name, request := range map[string]func(c *pb.Challenge) proto.Message{
		"ListStandings":               func(c *pb.Challenge) proto.Message { return &pb.ListStandingsRequest{ChallengeId: c.GetId()} },
		"ListChallenges":              func(*pb.Challenge) proto.Message { return &pb.ListChallengesRequest{} },
		"ListChallenges of this kind": func(c *pb.Challenge) proto.Message { return &pb.ListChallengesRequest{Kind: c.GetKind()} },
		"ListScores":                  func(c *pb.Challenge) proto.Message { return &pb.ListScoresRequest{Variant: c.GetVariant()} },
	} {
		ways = append(ways, fairWay{name: name, request: fairOfChallenge(request)})
	}
	for name, request := range fairGetChallenges {
		ways = append(ways, fairWay{name: name, seed: true, request: fairOfChallenge(request)}, fairWay{
			name: name + " of tomorrow",
			request: func(f *fairness, _ *fairCaller) proto.Message {
				if f.tomorrow == nil || f.when >= fairClosed {
					return nil
				}
				return request(f.tomorrow)
			},
		})
	}
	return slices.Concat(ways, fairReads(), fairLists(), fairMoves(), fairRosters())
}

// fairReads returns the calls that return or stream the owner's attempt.
func fairReads() (ways []fairWay) {
	for name, request := range map[string]func(id string) proto.Message{
		"GetGame":         func(id string) proto.Message { return &pb.GetGameRequest{GameId: id} },
		"Watch":           func(id string) proto.Message { return &pb.WatchRequest{GameId: id} },
		"Watch a preview": func(id string) proto.Message { return &pb.WatchRequest{GameId: id, Preview: true} },
		"Watch all": func(id string) proto.Message {
			return &pb.WatchRequest{GameId: id, AfterVersion: proto.Int32(0), EveryEvent: true}
		},
		"Watch the end": func(id string) proto.Message { return &pb.WatchRequest{GameId: id, AfterVersion: proto.Int32(5)} },
	} {
		ways = append(ways, fairWay{name: name, attempt: true, refused: fairCase.attempt, request: fairOfGame(request)})
	}
	return ways
}

// fairLists returns the calls that list games.
func fairLists() (ways []fairWay) {
	add := func(of string, list *pb.ListGamesRequest) {
		ways = append(ways, fairWay{
			name: fmt.Sprintf("ListGames of %s, %v", of, list), token: of == "the caller", attempt: true,
			listed: func(c fairCase) bool {
				active := c.when < fairOver
				switch {
				case list.GetStatus() == pb.GameStatus_GAME_STATUS_WAITING, active && list.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED,
					!active && list.GetStatus() == pb.GameStatus_GAME_STATUS_ACTIVE:
					return false
				case of == "the caller":
					return c.who == fairOwner && c.listed(true)
				}
				return c.listed(of != "all")
			},
			request: func(f *fairness, by *fairCaller) proto.Message {
				request := proto.CloneOf(list)
				switch of {
				case "the owner":
					request.PlayerId = f.owner.GetId()
				case "the owner's name":
					request.PlayerName = f.owner.GetName()
				case "the caller":
					request.PlayerId = "me"
				}
				return request
			},
		})
	}
	for of, statuses := range map[string][]pb.GameStatus{
		"all":       {0, pb.GameStatus_GAME_STATUS_ACTIVE, pb.GameStatus_GAME_STATUS_FINISHED, pb.GameStatus_GAME_STATUS_WAITING},
		"the owner": {0, pb.GameStatus_GAME_STATUS_ACTIVE, pb.GameStatus_GAME_STATUS_FINISHED}, "the owner's name": {0}, "the caller": {0},
	} {
		for _, status := range statuses {
			add(of, &pb.ListGamesRequest{Status: status})
		}
	}
	for _, order := range []pb.OrderBy{pb.OrderBy_ORDER_BY_SCORE, pb.OrderBy_ORDER_BY_WATCHERS} {
		add("all", &pb.ListGamesRequest{Status: pb.GameStatus_GAME_STATUS_ACTIVE, OrderBy: order, Variant: "classic"})
	}
	return ways
}

// fairMoves returns the calls that would change the owner's attempt. They name a version that it does
// not have. Before a race opens, its entrants also try to move in their own attempts: the server must
// not say whether a move is legal, because that would reveal something about the first board.
func fairMoves() []fairWay {
	refused := func(c fairCase) string {
		switch {
		case c.who != fairOwner:
			return pb.ReasonNotSeated
		case c.when < fairOpen:
			return pb.ReasonGameNotStarted
		case c.when >= fairOver:
			return pb.ReasonGameOver
		}
		return pb.ReasonVersionConflict
	}
	const wrong = 999
	ways := []fairWay{
		{
			name: "Move", token: true, refused: refused,
			request: fairOfGame(func(id string) proto.Message { return slide(id, wrong, pb.Direction_DIRECTION_UP) }),
		},
		{
			name: "Undo", token: true, refused: refused,
			request: fairOfGame(func(id string) proto.Message { return &pb.UndoRequest{GameId: id, Version: wrong} }),
		},
		{
			name: "Resign", token: true,
			refused: func(c fairCase) string {
				if c.who == fairOwner && c.when >= fairOver {
					return c.attempt() // The call returns the last event again.
				}
				return refused(c)
			},
			request: fairOfGame(func(id string) proto.Message { return &pb.ResignRequest{GameId: id, Version: proto.Int32(wrong)} }),
		},
	}
	for d := pb.Direction_DIRECTION_UP; d <= pb.Direction_DIRECTION_RIGHT; d++ {
		ways = append(ways, fairWay{
			name: fmt.Sprintf("Move %v before the race", d), token: true,
			refused: func(fairCase) string { return pb.ReasonGameNotStarted },
			request: func(f *fairness, by *fairCaller) proto.Message {
				if f.when >= fairOpen || by.game == nil {
					return nil
				}
				return slide(by.game.GetId(), 1, d)
			},
		})
	}
	return ways
}

// fairRosters returns the calls that concern the roster of a race that has been started.
func fairRosters() (ways []fairWay) {
	add := func(name string, allowed func(c fairCase) bool, reason string, request func(c *pb.Challenge) proto.Message) {
		ways = append(ways, fairWay{
			name: name, token: true,
			refused: func(c fairCase) string {
				switch {
				case c.kind != race:
					return codes.InvalidArgument.String()
				case allowed(c):
					return ""
				}
				return reason
			},
			request: func(f *fairness, _ *fairCaller) proto.Message {
				if f.when == fairWaiting {
					return nil
				}
				return request(f.challenge)
			},
		})
	}
	add("JoinChallenge", fairCase.begins, pb.ReasonChallengeStarted,
		func(c *pb.Challenge) proto.Message { return &pb.JoinChallengeRequest{ChallengeId: c.GetId()} })
	add("LeaveChallenge", func(c fairCase) bool { return !c.begins() }, pb.ReasonChallengeStarted,
		func(c *pb.Challenge) proto.Message { return &pb.LeaveChallengeRequest{ChallengeId: c.GetId()} })
	add("StartChallenge", func(c fairCase) bool { return c.who == fairCreator }, pb.ReasonNotCreator,
		func(c *pb.Challenge) proto.Message { return &pb.StartChallengeRequest{ChallengeId: c.GetId()} })
	return ways
}

// fairGone returns the reason for refusing a request if the challenge or attempt that it names has
// been removed, or "" if the request names neither.
func fairGone(request proto.Message) string {
	if r, ok := request.(interface{ GetChallengeId() string }); ok && r.GetChallengeId() != "" {
		return pb.ReasonChallengeNotFound
	}
	if r, ok := request.(*pb.GetChallengeRequest); ok && r.GetDaily().GetDate() != "" {
		return pb.ReasonChallengeNotFound
	}
	if r, ok := request.(interface{ GetGameId() string }); ok && r.GetGameId() != "" {
		return pb.ReasonGameNotFound
	}
	return ""
}

// call makes a call and checks whether it is refused, or shows what it must show. A list may show an
// attempt late.
func (f *fairness) call(way fairWay, door fairDoor, by *fairCaller) {
	request := way.request(f, by)
	if request == nil {
		return
	}
	c, want := f.of(by), ""
	if way.refused != nil {
		want = way.refused(c)
	}
	if gone := fairGone(request); gone != "" && f.when == fairExpired {
		want = gone
	}
	if way.token && by.Player == nil {
		want = pb.ReasonBadToken
	}
	sees := c.attempt() == ""
	if way.listed != nil {
		sees = way.listed(c)
	}
	shows := way.attempt && sees && want == ""
	reveals := want == "" && c.seed() && (way.seed || shows && f.when >= fairOver)
	name := fmt.Sprintf("%s by %s for %s, %v", way.name, door.name, by.role, f.when)
	var data []byte
	var err error
	waittest.Until(f.t, name+" is complete", func() bool {
		data, err = f.ask(door, by, request)
		if f.when == fairExpired {
			return fairReason(err) == want // A server may still remember the challenge.
		}
		return way.listed == nil || !shows || fairShows(data, fairBoards(f.boards[len(f.boards)-1]))
	})
	assert.Equal(f.t, want, fairReason(err), "%s: %v", name, err)
	assert.True(f.t, !shows || fairShows(data, fairBoards(f.boards[len(f.boards)-1])), "%s does not show the board", name)
	assert.True(f.t, !reveals || fairShows(data, fairSeed(f.seed)), "%s does not show the seed", name)
	same := f.when == fairClosed && by.role == fairPlaying // whose own attempt has the same boards by now
	f.saw(way.name+" by "+door.name, by, sees || same, append(data, fairEncode(status.Convert(err).Proto())...))
}

// ask makes a call. Of a stream, it returns the messages up to the last event of the attempt, or up to
// the seed if it is public.
func (f *fairness) ask(door fairDoor, by *fairCaller, request proto.Message) ([]byte, error) {
	method := fairMethods()[request.ProtoReflect().Descriptor().FullName()]
	f.asked[method.name] = true
	answer := method.answer.New().Interface()
	ctx, cancel := context.WithCancel(by.ctx)
	defer cancel()
	if !method.streams {
		err := door.conn.Invoke(ctx, method.name, request, answer)
		return fairEncode(answer), err
	}
	stream, err := door.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method.name)
	require.NoError(f.t, err)
	require.NoError(f.t, stream.SendMsg(request))
	require.NoError(f.t, stream.CloseSend())
	var all []byte
	for {
		err := stream.RecvMsg(answer)
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return all, err
		}
		all = append(all, fairEncode(answer)...)
		if f.complete(answer) {
			return all, nil
		}
	}
}

// complete reports whether a message of a stream is the last one to wait for. The stream of a
// challenge may begin with its state before the close.
func (f *fairness) complete(m proto.Message) bool {
	switch m := m.(type) {
	case *pb.WatchResponse:
		return max(m.GetGame().GetVersion(), m.GetEvent().GetVersion()) >= f.owner.game.GetVersion()
	case *pb.WatchChallengeResponse:
		return f.when != fairClosed || m.GetChallenge().GetId() != f.challenge.GetId() || len(m.GetChallenge().GetSeed()) > 0
	}
	return true
}

// read reads the pages and events that the server serves to browsers.
func (f *fairness) read(door fairDoor, by *fairCaller) {
	nobody := f.of(f.callers[0])
	game, challenge := "/g/"+f.owner.game.GetId(), "/c/"+f.challenge.GetId()
	paths := map[string]bool{ // whether the response is not an error
		challenge: f.when < fairExpired, challenge + "/events": f.when < fairExpired, "/daily": true,
		game + "/events": f.of(by).attempt() == "",
		game + "/events?after_version=0&every_event=1": f.of(by).attempt() == "",
		game + "/events?preview=1":                     f.of(by).attempt() == "",
	}
	if f.when < fairExpired { // A server caches pictures of finished games.
		paths[game+"/picture.png"] = nobody.attempt() == ""
	}
	for path, ok := range paths {
		code, body := f.fetch(door, by, path)
		assert.Equal(f.t, ok, code == http.StatusOK, "%s for %s, %v: %d", path, by.role, f.when, code)
		f.saw(path, by, f.of(by).attempt() == "", body)
	}
	_, page := f.fetch(door, by, game)
	assert.Equal(f.t, nobody.attempt() == "", bytes.Contains(page, []byte("picture.png")), "%s shows a picture, %v", game, f.when)
	f.saw(game, by, nobody.attempt() == "", page)
}

// fetch makes an HTTP request and returns the status and the body; of a stream, the events up to the
// last one to wait for.
func (f *fairness) fetch(door fairDoor, by *fairCaller, path string) (int, []byte) {
	ctx, cancel := context.WithCancel(f.t.Context())
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, door.http+path, nil)
	require.NoError(f.t, err)
	if by.token != "" {
		request.Header.Set("Authorization", "Bearer "+by.token)
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(f.t, err)
	defer func() { _ = response.Body.Close() }()
	var body []byte
	lines := bufio.NewReader(response.Body)
	for err == nil {
		var line []byte
		line, err = lines.ReadBytes('\n')
		body = append(body, line...)
		data, event := bytes.CutPrefix(line, []byte("data: "))
		for _, update := range []proto.Message{&pb.WatchResponse{}, &pb.WatchChallengeResponse{}} {
			if event && protojson.Unmarshal(data, update) == nil && f.complete(update) {
				return response.StatusCode, body
			}
		}
	}
	return response.StatusCode, body
}

// fairReason returns the reason of an error, its code if it has no reason, or "" for no error.
func fairReason(err error) string {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	if err == nil {
		return ""
	}
	return status.Code(err).String()
}

// fairMethod describes a method of the contract.
type fairMethod struct {
	name    string // /service/method
	answer  protoreflect.MessageType
	streams bool
}

// fairMethods returns all methods of the contract, keyed by the name of the request message.
var fairMethods = sync.OnceValue(func() map[protoreflect.FullName]fairMethod {
	all := map[protoreflect.FullName]fairMethod{}
	protoregistry.GlobalFiles.RangeFilesByPackage("gridstand.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				m := service.Methods().Get(j)
				answer, err := protoregistry.GlobalTypes.FindMessageByName(m.Output().FullName())
				if err != nil {
					panic(err) // impossible: the generated code registers all messages
				}
				all[m.Input().FullName()] = fairMethod{fmt.Sprintf("/%s/%s", service.FullName(), m.Name()), answer, m.IsStreamingServer()}
			}
		}
		return true
	})
	return all
})
