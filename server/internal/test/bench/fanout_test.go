package bench

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/ratio"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

const (
	// watchers are shown one game, so many on a connection.
	watchers      = 20_000
	perConnection = 250
	// ahead is how far the slowest watcher may be behind: less than a match
	// keeps in memory, so that no watcher gets a game in place of events.
	ahead = 32
)

// startOurs starts a server in a process of its own, on a Redis that writes
// every move to disk.
func startOurs(b *testing.B, variables ...string) *process {
	b.Helper()
	return startProcess(b, ours, append(variables, storeVariable+"="+startStore(b))...)
}

// watchedGame is a game with an audience.
type watchedGame struct {
	*audience
	publish func() error // brings one event to everybody
}

// watchGame opens an audience of one of the player's games, with so many
// streams on each connection.
func watchGame(b *testing.B, server *process, p *player, n, perConnection int) watchedGame {
	b.Helper()
	version := p.event.GetVersion()
	request := &pb.WatchRequest{GameId: p.game.GetId(), AfterVersion: &version}
	return watchedGame{
		openAudience(b, server.address, watchPlan{requests: sameRequest(request, n), perConnection: perConnection, versioned: true, tls: server.tls}),
		p.move,
	}
}

// readGame is watchGame for readers of events.
func readGame(b *testing.B, server *process, p *player, n int) watchedGame {
	b.Helper()
	version := p.event.GetVersion()
	request := &pb.WatchRequest{GameId: p.game.GetId(), AfterVersion: &version}
	return watchedGame{
		openAudience(b, server.address, watchPlan{
			requests: sameRequest(request, n), perConnection: 1, versioned: true, events: true, tls: server.tls,
		}),
		p.move,
	}
}

// watchBareGame opens an audience of a bare server that sends the event.
func watchBareGame(b *testing.B, server *process, event *pb.Event, n, perConnection int) watchedGame {
	b.Helper()
	request := &pb.WatchRequest{GameId: event.GetGameId()}
	return watchedGame{
		openAudience(b, server.address, watchPlan{requests: sameRequest(request, n), perConnection: perConnection}),
		bareMove(server.dial(b), event),
	}
}

// startedPlayer returns a player who has moved once in a game on the server.
func startedPlayer(b *testing.B, server *process, name string) *player {
	b.Helper()
	p := newPlayer(b, server.dial(b), name)
	require.NoError(b, p.move())
	return p
}

// watchNewGame opens an audience of a game of the nth player: one game is over
// before all comparisons are.
func watchNewGame(b *testing.B, server *process, n int) (*player, watchedGame) {
	b.Helper()
	p := startedPlayer(b, server, fmt.Sprintf("player %d", n))
	return p, watchGame(b, server, p, watchers, perConnection)
}

// BenchmarkEvents compares events shown to all watchers of one game with
// messages that a bare server sends to as many streams: one that encodes each
// message once, and one that does so for each stream.
func BenchmarkEvents(b *testing.B) {
	server := startOurs(b)
	for n, bare := range []struct {
		name, side string
		goal       ratio.Goal
	}{
		{"beside_prepared_messages", prepared, ratio.AtLeast(0.95)},
		{"beside_messages_encoded_for_each", marshalling, ratio.AtLeast(2)},
	} {
		b.Run(bare.name, func(b *testing.B) {
			p, game := watchNewGame(b, server, n)
			stream := watchBareGame(b, startBareProcess(b, bare.side, p.event), p.event, watchers, perConnection)
			ratio.Compare(b, "events/s", bare.goal,
				func() float64 { return game.perSecond(b, game.publish) },
				func() float64 { return stream.perSecond(b, stream.publish) })
		})
	}
}

// BenchmarkCostOfAnEvent is what an event costs the server for each watcher:
// processor time, which is nearly the same on a busy machine, and allocations.
// Watchers share connections, as behind a proxy, or have one each, as single
// users do.
func BenchmarkCostOfAnEvent(b *testing.B) {
	server := startOurs(b)
	for n, cost := range []struct {
		name, question, unit, side string
		watchers, perConnection    int
	}{
		{"allocations", "allocations", "allocations/event", prepared, watchers, perConnection},
		{"time_beside_a_prepared_message", "work", "µs/event", prepared, watchers, perConnection},
		{"time_beside_a_message_encoded_for_each", "work", "µs/event", marshalling, watchers, perConnection},
		{"time_with_a_connection_each", "work", "µs/event", prepared, watchers / 4, 1},
	} {
		b.Run(cost.name, func(b *testing.B) {
			p := startedPlayer(b, server, fmt.Sprintf("player %d", n))
			game := watchGame(b, server, p, cost.watchers, cost.perConnection)
			plain := startBareProcess(b, cost.side, p.event)
			stream := watchBareGame(b, plain, p.event, cost.watchers, cost.perConnection)
			ratio.Compare(b, cost.unit, ratio.Goal{},
				func() float64 { return costOfAnEvent(b, server, cost.question, game) },
				func() float64 { return costOfAnEvent(b, plain, cost.question, stream) })
		})
	}
}

// costOfAnEvent is what the server answers to a question, for each event that a
// watcher is shown.
func costOfAnEvent(b *testing.B, server *process, question string, to watchedGame) float64 {
	b.Helper()
	const events = 50
	to.many(b, 1) // What the first brings about is not measured.
	before := server.ask(b, question)
	to.many(b, events)
	return (server.ask(b, question) - before) / events / float64(to.size())
}

// many publishes so many events, at the pace of the slowest.
func (s watchedGame) many(b *testing.B, events int64) {
	b.Helper()
	seen := s.least()
	for i := range events {
		s.awaitLeast(b, seen+i-ahead+1)
		require.NoError(b, s.publish())
	}
	s.awaitLeast(b, seen+events)
}
