package challenge

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/frame"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// hostile returns challenges that only a faulty server would send.
func hostile() map[string]*pb.Challenge {
	const evil = "\x1b[2J\x1b]0;evil\a\u202e"
	crowd := tuitest.Race()
	for range 5000 {
		crowd.Entrants = append(crowd.Entrants, &pb.Entrant{
			Who: &pb.Entrant_Player{Player: &pb.Player{Id: evil, Name: strings.Repeat(evil, 100)}}, GameId: client.NewSecret(),
		})
	}
	never := tuitest.Race()
	never.OpenTime = &timestamppb.Timestamp{Seconds: 1 << 62, Nanos: -5}
	never.Limit = &durationpb.Duration{Seconds: -1 << 62}
	empty := &pb.Challenge{Id: tuitest.ChallengeID, Kind: 99, Variant: evil, OpenTime: timestamppb.New(time.Time{})}
	unnamed := tuitest.WaitingRace()
	unnamed.Creator, unnamed.Entrants = nil, []*pb.Entrant{{}, {GameId: evil}}
	rematch := tuitest.Race()
	rematch.Kind, rematch.Variant = pb.ChallengeKind_CHALLENGE_KIND_REMATCH, strings.Repeat(evil, 50)
	return map[string]*pb.Challenge{"crowd": crowd, "never": never, "empty": empty, "unnamed": unnamed, "rematch": rematch}
}

// watchedServer is a server that records the games that are watched.
type watchedServer struct {
	*tuitest.Server
	watched chan<- string
}

func (s *watchedServer) Watch(ctx context.Context, o client.WatchOptions) ui.Stream {
	s.watched <- o.GameID
	return s.Server.Watch(ctx, o)
}

// Ensure that the page can draw any challenge and removes control characters from its
// strings, and that it follows no more boards than a race can have.
func TestPage_Hostile(t *testing.T) {
	t.Parallel()
	for name, c := range hostile() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &tuitest.Server{OnGame: func() (*pb.Game, error) { return nil, client.ErrBadStream }}
			watched := make(chan string, 10_000)
			p, d := open(t, server, c, func(env *ui.Env) { env.Server = &watchedServer{server, watched} })
			for _, size := range tuitest.Sizes {
				d.Env.Width, d.Env.Height = size[0], size[1]
				d.Press("z")
				screen := frame.Draw(d.Env, p, frame.State{}).Content + p.ClosingMessage()
				for _, code := range []string{"\x1b]", "\x1b[2J", "\a", "\u202e"} {
					assert.NotContains(t, screen, code)
				}
			}
			assert.LessOrEqual(t, len(watched), 8)
		})
	}
}
