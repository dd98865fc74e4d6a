//go:build slow

package bench

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/ratio"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// thousands is the number of watchers in a large audience.
const thousands = 50_000

// BenchmarkMemory compares a server's memory per watcher, after a few events, with a bare
// server's memory per stream. It uses many streams per connection, and one connection per
// stream. Every watcher must receive every event.
func BenchmarkMemory(b *testing.B) {
	for _, way := range []struct {
		name, unit    string
		watchers      int
		perConnection int
		tls, events   bool
		goal          ratio.Goal
	}{
		{"50,000_watchers_of_one_game", "B/watcher", thousands, perConnection, false, false, ratio.AtMost(1.15)},
		{"10,000_watchers_with_connections_of_their_own", "B/connection", thousands / 5, 1, false, false, ratio.AtMost(0.6)},
		{"the_same_with_TLS", "B/connection", thousands / 5, 1, true, false, ratio.AtMost(0.6)},
		{"10,000_readers_of_events_beside_watchers", "B/connection", thousands / 5, 1, false, true, ratio.AtMost(0.2)},
		{"the_same_readers_with_TLS", "B/connection", thousands / 5, 1, true, true, ratio.Goal{}},
	} {
		b.Run(way.name, func(b *testing.B) {
			var variables []string
			if way.tls {
				cert, key := servertest.Certificate(b)
				variables = []string{certVariable + "=" + cert, keyVariable + "=" + key}
			}
			server := startOurs(b, variables...)
			p := startedPlayer(b, server, "player")
			plain := startBareProcess(b, prepared, p.event, variables...)
			echo := bareMove(plain.dial(b), p.event)
			each := func(server *process, plan watchPlan, publish func() error) float64 {
				goroutines, files := server.ask(b, "goroutines"), server.ask(b, "files")
				before := server.ask(b, "memory")
				plan.perConnection, plan.tls = way.perConnection, way.tls
				s := watchedGame{openAudience(b, server.address, plan), publish}
				s.many(b, 10)
				after := server.ask(b, "memory")
				if plan.versioned {
					current, err := p.Games.GetGame(p.Ctx, &pb.GetGameRequest{GameId: p.game.GetId()})
					require.NoError(b, err)
					s.requireVersion(b, current.GetGame().GetVersion())
				}
				s.close(b)
				waittest.Until(b, "the server has noticed that the watchers left", func() bool {
					return server.ask(b, "goroutines") < goroutines+10 && server.ask(b, "files") < files+10
				})
				return (after - before) / float64(way.watchers)
			}
			ratio.Compare(b, way.unit, way.goal,
				func() float64 {
					version := p.event.GetVersion()
					request := &pb.WatchRequest{GameId: p.game.GetId(), AfterVersion: &version}
					return each(server, watchPlan{requests: sameRequest(request, way.watchers), versioned: true, events: way.events}, p.move)
				},
				func() float64 {
					request := &pb.WatchRequest{GameId: p.game.GetId()}
					return each(plain, watchPlan{requests: sameRequest(request, way.watchers)}, echo)
				})
		})
	}
}
