package contract

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

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
	"/gridstand.v1.PlayerService/CreatePlayer": true, "/gridstand.v1.PlayerService/RotateToken": true, "/gridstand.v1.PlayerService/Rename": true,
	"/gridstand.v1.PlayerService/CreateSessionLink": true, "/gridstand.v1.PlayerService/OpenSession": true,
	"/gridstand.v1.PlayerService/ListSessions": true, "/gridstand.v1.PlayerService/EndSession": true,
	"/gridstand.v1.PlayerService/AddKey": true, "/gridstand.v1.PlayerService/RemoveKey": true,
	"/gridstand.v1.PlayerService/ListKeys": true, "/gridstand.v1.GameService/GetServerInfo": true,
	"/gridstand.v1.GameService/ListVariants": true, "/gridstand.v1.LeaderboardService/GetRank": true,
	// These answer only the player of the seat.
	"/gridstand.v1.GameService/JoinGame": true, "/gridstand.v1.GameService/Undo": true, "/gridstand.v1.GameService/Resign": true,
	// These return what GetChallenge returns.
	"/gridstand.v1.ChallengeService/JoinChallenge": true, "/gridstand.v1.ChallengeService/LeaveChallenge": true,
	"/gridstand.v1.ChallengeService/StartChallenge": true, "/gridstand.v1.ChallengeService/RaceNow": true,
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
		{
			name: "GetProfile",
			request: func(f *fairness, _ *fairCaller) proto.Message {
				return &pb.GetProfileRequest{PlayerId: f.owner.GetId()}
			},
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
				if f.tomorrow == nil || f.when == fairClosed {
					return nil
				}
				return request(f.tomorrow)
			},
		})
	}
	return slices.Concat(ways, fairReads(), fairLists(), fairMoves())
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
	return append(ways, fairWay{
		name: "React", token: true,
		refused: func(c fairCase) string {
			if reason := c.attempt(); reason != "" || c.when < fairOver {
				return reason
			}
			return pb.ReasonGameOver
		},
		request: fairOfGame(func(id string) proto.Message { return &pb.ReactRequest{GameId: id, Reaction: clap} }),
	})
}

// fairLists returns the calls that list games.
func fairLists() (ways []fairWay) {
	for of, request := range map[string]func(f *fairness) *pb.ListGamesRequest{
		"all":        func(*fairness) *pb.ListGamesRequest { return &pb.ListGamesRequest{} },
		"by score":   func(*fairness) *pb.ListGamesRequest { return &pb.ListGamesRequest{Status: active, OrderBy: byScore} },
		"of owner":   func(f *fairness) *pb.ListGamesRequest { return &pb.ListGamesRequest{PlayerId: f.owner.GetId()} },
		"of name":    func(f *fairness) *pb.ListGamesRequest { return &pb.ListGamesRequest{PlayerName: f.owner.GetName()} },
		"of caller":  func(*fairness) *pb.ListGamesRequest { return &pb.ListGamesRequest{PlayerId: "me"} },
		"by viewers": func(*fairness) *pb.ListGamesRequest { return &pb.ListGamesRequest{Status: active, OrderBy: byWatchers} },
	} {
		ways = append(ways, fairWay{
			name: "ListGames " + of, token: of == "of caller", attempt: true,
			listed: func(c fairCase) bool {
				over := strings.HasPrefix(of, "by ") && c.when >= fairOver
				return !over && c.listed(strings.HasPrefix(of, "of ")) && (of != "of caller" || c.who == fairOwner)
			},
			request: func(f *fairness, _ *fairCaller) proto.Message { return request(f) },
		})
	}
	return ways
}

// fairMoves returns moves in the owner's attempt, at a version that it does not have, and moves in
// the entrants' own attempts before a race opens: the server must not say whether they are legal,
// because that would reveal something about the first board.
func fairMoves() []fairWay {
	const wrong = 999
	ways := []fairWay{{
		name: "Move", token: true,
		refused: func(c fairCase) string {
			switch {
			case c.who != fairOwner:
				return pb.ReasonNotSeated
			case c.when < fairOpen:
				return pb.ReasonGameNotStarted
			case c.when >= fairOver:
				return pb.ReasonGameOver
			}
			return pb.ReasonVersionConflict
		},
		request: fairOfGame(func(id string) proto.Message { return slide(id, wrong, pb.Direction_DIRECTION_UP) }),
	}}
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

// call makes a call and checks whether it is refused, or shows what it must show. A list may show an
// attempt late.
func (f *fairness) call(way fairWay, by *fairCaller) {
	request := way.request(f, by)
	if request == nil {
		return
	}
	c, want := f.of(by), ""
	if way.refused != nil {
		want = way.refused(c)
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
	name := fmt.Sprintf("%s for %s, %v", way.name, by.role, f.when)
	last := fairBoards(f.boards[max(0, len(f.boards)-1):]...)
	var data []byte
	var err error
	waittest.Until(f.t, name+" is complete", func() bool {
		data, err = f.ask(by, request)
		return way.listed == nil || !shows || fairShows(data, last)
	})
	assert.Equal(f.t, want, refusalOf(f.t, err).info.GetReason(), "%s: %v", name, err)
	assert.True(f.t, !shows || fairShows(data, last), "%s does not show the board", name)
	assert.True(f.t, !reveals || fairShows(data, fairSeed(f.seed)), "%s does not show the seed", name)
	same := f.when == fairClosed && by.role == fairPlaying // whose own attempt has the same boards by now
	f.saw(way.name, by, sees || same, append(data, fairEncode(status.Convert(err).Proto())...))
}

// ask makes a call. Of a stream, it returns the messages up to the last event of the attempt, or up to
// the seed if it is public.
func (f *fairness) ask(by *fairCaller, request proto.Message) ([]byte, error) {
	m := methodOf(request)
	f.asked[m.name] = true
	if !m.streams {
		answer, err := m.call(by.ctx, f.s.conn, request)
		return fairEncode(answer), err
	}
	ctx, cancel := context.WithCancel(by.ctx)
	defer cancel()
	answer := m.response.New().Interface()
	stream, err := f.s.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, m.name)
	require.NoError(f.t, err)
	require.NoError(f.t, stream.SendMsg(request))
	require.NoError(f.t, stream.CloseSend())
	var data []byte
	for {
		err := stream.RecvMsg(answer)
		switch {
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil:
			return data, err
		}
		data = append(data, fairEncode(answer)...)
		if f.complete(answer) {
			return data, nil
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

// read reads the pages and events that the server serves to browsers. A busy server may take too long to
// answer: it then refuses nothing, and shows a page without its picture.
func (f *fairness) read(by *fairCaller) {
	nobody, caller := f.of(f.callers[0]).attempt(), f.of(by).attempt()
	game, challenge := "/g/"+f.owner.game.GetId(), "/c/"+f.challenge.GetId()
	for path, want := range map[string]string{ // the reason of the error, or ""
		challenge: "", challenge + "/events": "", "/daily": "", game + "/picture.png": nobody, game + "/events": caller,
		game + "/events?after_version=0&every_event=1": caller, game + "/events?preview=1": caller,
	} {
		reason, body := f.fetch(by, path)
		answered := reason != pb.ReasonServerUnavailable && reason != pb.ReasonStorageUnavailable
		if answered {
			assert.Equal(f.t, want, reason, "%s for %s, %v", path, by.role, f.when)
		}
		f.asked[path] = f.asked[path] || answered
		f.saw(path, by, caller == "", body)
	}
	_, page := f.fetch(by, game)
	assert.False(f.t, nobody != "" && bytes.Contains(page, []byte("picture.png")), "%s shows a picture, %v", game, f.when)
	f.saw(game, by, nobody == "", page)
}

// fetch makes an HTTP request and returns the reason of an error, and the body; of a stream, the events
// up to the last one to wait for.
func (f *fairness) fetch(by *fairCaller, path string) (reason string, _ []byte) {
	ctx, cancel := context.WithCancel(by.ctx)
	defer cancel()
	e := f.s.events(f.t, ctx, path, "Connection: close")
	if e.answer.Header.Get("Content-Type") != "text/event-stream" {
		body, err := io.ReadAll(e.body)
		require.NoError(f.t, err)
		if e.answer.StatusCode != http.StatusOK {
			reason = cmp.Or(refusalOf(f.t, failure(bytes.NewReader(body))).info.GetReason(), e.answer.Status)
		}
		return reason, body
	}
	var body bytes.Buffer
	e.body = bufio.NewReader(io.TeeReader(e.body, &body))
	for {
		record, err := e.next()
		if err != nil || record.Update != nil && f.complete(record.Update) || record.Snapshot != nil && f.complete(record.Snapshot) {
			return "", body.Bytes()
		}
	}
}
