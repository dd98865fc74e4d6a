package app

import (
	"context"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/challenge"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/lobby"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/play"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/watch"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

const evil = "\x1b]0;owned\a\x1b[2J\r\n\u202e\u0085\u009b31mevil 漢字"

// evilGame returns a game whose board is valid and whose other fields are not.
func evilGame() *pb.Game {
	g := tuitest.Game(tuitest.Board(4, 4))
	g.Variant, g.Watchers, g.UpdateTime, g.CreateTime = evil+strings.Repeat("w", 10_000), math.MinInt32, nil, nil
	g.Seats = append(g.Seats, &pb.Seat{Occupant: &pb.Seat_Player{Player: &pb.Player{Name: evil}}}, &pb.Seat{Occupant: &pb.Seat_Bot{Bot: evil}})
	g.GetPosition().Scores = []int32{math.MinInt32}
	return g
}

// evilChallenges returns challenges that only a faulty server would send.
func evilChallenges() map[string]*pb.Challenge {
	crowd, never, unnamed, rematch := tuitest.Race(), tuitest.Race(), tuitest.WaitingRace(), tuitest.Race()
	for range 500 {
		crowd.Entrants = append(crowd.Entrants, &pb.Entrant{
			Who: &pb.Entrant_Player{Player: &pb.Player{Id: evil, Name: strings.Repeat(evil, 10)}}, GameId: client.NewSecret(),
		})
	}
	never.OpenTime = &timestamppb.Timestamp{Seconds: 1 << 62, Nanos: -5}
	never.Limit = &durationpb.Duration{Seconds: -1 << 62}
	unnamed.Creator, unnamed.Entrants = nil, []*pb.Entrant{{}, {GameId: evil}}
	rematch.Kind, rematch.Variant = pb.ChallengeKind_CHALLENGE_KIND_REMATCH, strings.Repeat(evil, 50)
	rematch.Target = &pb.Target{Player: &pb.Player{Name: evil}, Score: math.MinInt32}
	daily := tuitest.DailyGame()
	daily.Id, daily.Variant = tuitest.ChallengeID, evil
	return map[string]*pb.Challenge{
		"daily": daily, "crowd": crowd, "never": never, "unnamed": unnamed, "rematch": rematch,
		"empty": {Id: tuitest.ChallengeID, Kind: 99, Variant: evil, OpenTime: timestamppb.New(time.Time{})},
	}
}

// evilServer sends c and hostile games and lists. It counts the streams of games.
type evilServer struct {
	*tuitest.Server
	variants []*pb.Variant
	watched  atomic.Int32
}

func newEvilServer(c *pb.Challenge) *evilServer {
	s := &evilServer{Server: &tuitest.Server{}}
	s.variants = []*pb.Variant{{
		Id: evil, Title: evil, Summary: evil, Rules: strings.Repeat(evil, 500), Kind: pb.Kind_KIND_TRIBOLO,
		Seats: math.MaxInt32, Rows: -1, Columns: math.MaxInt32, Bots: []string{evil, evil},
	}, {Id: "classic", Bots: []string{evil}}}
	games := []*pb.Game{evilGame()}
	lines := []*pb.Standing{nil, {Rank: -1, Score: math.MinInt32, Who: &pb.Standing_Player{Player: &pb.Player{Name: evil}}, GameId: evil}}
	s.OnLists = func(string, string, pb.Window) (ui.Lists, error) {
		return ui.Lists{
			Variants: s.variants, Live: games, Mine: games, Variant: evil, Moving: math.MinInt32, Races: []*pb.Challenge{c},
			Scores: []*pb.Entry{nil, {Rank: -1, Score: math.MinInt32, Player: &pb.Player{Name: evil}, GameId: evil}},
		}, nil
	}
	s.OnLiveGames = func(pb.OrderBy) ([]*pb.Game, error) { return games, nil }
	s.OnPlayerGame = func(string) (*pb.Game, error) { return games[0], nil }
	s.OnPlace = func(pb.Window) (ui.Place, error) {
		return ui.Place{Entry: &pb.Entry{Rank: -1, Score: math.MinInt32, GameId: evil}}, nil
	}
	s.OnGame = func() (*pb.Game, error) { return nil, client.ErrBadStream }
	s.OnChallenge = func(*pb.GetChallengeRequest) (*pb.GetChallengeResponse, error) {
		return &pb.GetChallengeResponse{Challenge: c}, nil
	}
	s.OnRace = func(string) error { return client.ErrChallengeStarted }
	s.OnStandings = func(*pb.ListStandingsRequest) (*pb.ListStandingsResponse, error) {
		return &pb.ListStandingsResponse{Standings: lines, Total: -1}, nil
	}
	s.OnReact = func(pb.Reaction) error { return client.ErrReactionsOff }
	s.Contest = tuitest.NewChallengeStream(client.ChallengeUpdate{
		Snapshot:   &pb.WatchChallengeResponse{Challenge: c, Standings: lines, Total: -1},
		Connection: client.Connection{State: client.Live},
	})
	return s
}

// Variants implements ui.Server.
func (s *evilServer) Variants(context.Context) ([]*pb.Variant, error) { return s.variants, nil }

// Watch implements ui.Server. Every game is hostile.
func (s *evilServer) Watch(ctx context.Context, o client.WatchOptions) ui.Stream[client.Update] {
	s.watched.Add(1)
	g, from := evilGame(), &tuitest.Server{}
	g.Id = o.GameID
	from.Stream(g.GetId()).Push(client.Update{Game: g, Skipped: -1, Audience: new(int32)})
	return from.Watch(ctx, o)
}

// Ensure that no page shows escape sequences or other control characters from a hostile server's
// strings, or text outside the window, whatever key is pressed, that pages can be drawn at any size and tolerate absurd numbers and
// missing messages, and that a challenge's page follows no more boards than a race can have.
func TestHostile(t *testing.T) {
	t.Parallel()
	type open = func(ctx context.Context, env *ui.Env) ui.Page
	watched := func(r ui.Route) open {
		return func(ctx context.Context, env *ui.Env) ui.Page { return watch.New(ctx, env, r) }
	}
	pages := map[string]open{
		"lobby": lobby.New,
		"rules": lobby.New,
		"name": func(ctx context.Context, env *ui.Env) ui.Page {
			p := lobby.New(ctx, env)
			p.Own().AskName(env)
			return p
		},
		"play":  func(ctx context.Context, env *ui.Env) ui.Page { return play.New(ctx, env, evilGame()) },
		"watch": watched(ui.Route{Watch: []string{evil}}), "wall": watched(ui.Route{Watch: []string{evil, "second"}}),
		"best wall": watched(ui.Route{Wall: true}), "TV": watched(ui.Route{TV: true}),
		"follow": watched(ui.Route{Follow: &pb.Player{Id: evil, Name: evil}}),
		"replay": watched(ui.Route{Watch: []string{evil}, Replay: true}),
	}
	challenges := evilChallenges()
	for name := range challenges {
		pages["challenge "+name] = func(ctx context.Context, env *ui.Env) ui.Page {
			return challenge.New(ctx, env, tuitest.ChallengeID, false)
		}
		pages["attempt "+name] = func(ctx context.Context, env *ui.Env) ui.Page {
			g := evilGame()
			g.ChallengeId = tuitest.ChallengeID
			return play.New(ctx, env, g)
		}
	}
	for name, open := range pages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := challenges[name[strings.Index(name, " ")+1:]]
				if c == nil {
					c = challenges["empty"]
				}
				s := newEvilServer(c)
				env := tuitest.Env(s)
				d := tuitest.Drive(t, env, open(t.Context(), env))
				for i, key := range []string{"?", "tab", "tab", "down", "y", "v", "e", "enter", "n", "down", "right", "esc", "left", "home", "b", "1", "X", "u", "n"} {
					d.Settle()
					size := tuitest.Sizes[i%2]
					env.Width, env.Height, env.Theme.Profile = size[0], size[1], []colorprofile.Profile{colorprofile.ASCII, colorprofile.TrueColor}[i/2%2]
					if name == "rules" {
						d.Page.Own().Ask(lobby.Rules(s.variants[0]))
					}
					tuitest.Harmless(t, env, d.Page)
					d.Press(key)
				}
				for _, size := range [][2]int{{0, 0}, {1, 200}, {3, 3}, {24, 5}, {30, 10}, {57, 21}, {130, 40}, {240, 70}} {
					env.Width, env.Height = size[0], size[1]
					d.Screen() // must not panic
				}
				if c, ok := d.Page.(ui.Closing); ok {
					assert.NotRegexp(t, "[\x1b\a\u202e]", c.ClosingMessage())
				}
				if strings.HasPrefix(name, "challenge") {
					assert.LessOrEqual(t, s.watched.Load(), int32(8))
				}
			})
		})
	}
}
