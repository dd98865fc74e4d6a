//go:build slow

package bench

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/ratio"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

const (
	// watchers is the number of watchers of one game, and perConnection is how many of them
	// share a connection.
	watchers      = 20_000
	perConnection = 250
	// ahead is the maximum number of events by which the slowest watcher may lag. It is less
	// than the number of events that a match keeps in memory, so that no watcher is sent the
	// whole game instead of events.
	ahead = 32
)

// startOurs starts a server in its own process, on a Redis server that syncs every move to
// disk.
func startOurs(b *testing.B, variables ...string) *process {
	b.Helper()
	return startProcess(b, ours, append(variables, storeVariable+"="+startStore(b))...)
}

// watchedGame is a game with an audience.
type watchedGame struct {
	*audience
	publish func() error // sends one event to every watcher
}

// watchGame opens an audience for the player's current game, with perConnection streams on each
// connection.
func watchGame(b *testing.B, server *process, p *player, n, perConnection int) watchedGame {
	b.Helper()
	return followGame(b, server, p, n, watchPlan{perConnection: perConnection})
}

// readGame is like watchGame, but for readers of Server-Sent Events.
func readGame(b *testing.B, server *process, p *player, n int) watchedGame {
	b.Helper()
	return followGame(b, server, p, n, watchPlan{perConnection: 1, events: true})
}

func followGame(b *testing.B, server *process, p *player, n int, plan watchPlan) watchedGame {
	b.Helper()
	version := p.event.GetVersion()
	plan.requests = sameRequest(&pb.WatchRequest{GameId: p.game.GetId(), AfterVersion: &version}, n)
	plan.versioned, plan.tls = true, server.tls
	return watchedGame{openAudience(b, server.address, plan), p.move}
}

// watchBareGame opens an audience for a bare server that sends the given event.
func watchBareGame(b *testing.B, server *process, event *pb.Event, n, perConnection int) watchedGame {
	b.Helper()
	request := &pb.WatchRequest{GameId: event.GetGameId()}
	return watchedGame{
		openAudience(b, server.address, watchPlan{requests: sameRequest(request, n), perConnection: perConnection}),
		bareMove(server.dial(b), event),
	}
}

// startedPlayer returns a player who has started a game on the server and made one move.
func startedPlayer(b *testing.B, server *process, name string) *player {
	b.Helper()
	p := newPlayer(b, server.dial(b), name)
	require.NoError(b, p.move())
	return p
}

// BenchmarkCostOfAnEvent measures what an event costs the server per watcher: allocations and
// processor time. Both depend little on the machine's load. Watchers either share
// connections, as they do behind a proxy, or each have their own, as individual users do.
func BenchmarkCostOfAnEvent(b *testing.B) {
	server := startOurs(b)
	for n, cost := range []struct {
		name, question, unit    string
		watchers, perConnection int
	}{
		{"allocations", "allocations", "allocations/event", watchers, perConnection},
		{"time_beside_a_prepared_message", "work", "µs/event", watchers, perConnection},
		{"time_with_a_connection_each", "work", "µs/event", watchers / 4, 1},
	} {
		b.Run(cost.name, func(b *testing.B) {
			p := startedPlayer(b, server, fmt.Sprintf("player %d", n))
			game := watchGame(b, server, p, cost.watchers, cost.perConnection)
			plain := startBareProcess(b, prepared, p.event)
			stream := watchBareGame(b, plain, p.event, cost.watchers, cost.perConnection)
			ratio.Compare(b, cost.unit, ratio.Goal{},
				func() float64 { return costOfAnEvent(b, server, cost.question, game) },
				func() float64 { return costOfAnEvent(b, plain, cost.question, stream) })
		})
	}
}

// costOfAnEvent asks the server a question before and after publishing events, and returns the
// increase in the answer per event and watcher.
func costOfAnEvent(b *testing.B, server *process, question string, to watchedGame) float64 {
	b.Helper()
	const events = 50
	to.many(b, 1) // exclude the one-time effects of the first event
	before := server.ask(b, question)
	to.many(b, events)
	return (server.ask(b, question) - before) / events / float64(to.size())
}

// many publishes the given number of events, but no faster than the slowest watcher receives
// them.
func (s watchedGame) many(b *testing.B, events int64) {
	b.Helper()
	seen := s.least()
	for i := range events {
		s.awaitLeast(b, seen+i-ahead+1)
		require.NoError(b, s.publish())
	}
	s.awaitLeast(b, seen+events)
}
