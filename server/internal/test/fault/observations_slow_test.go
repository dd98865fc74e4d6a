//go:build slow

package fault

import (
	"fmt"
	"sync"

	"google.golang.org/protobuf/proto"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// observations holds the events and games that clients received, by game and version. All
// clients must receive the same content for a version.
type observations struct {
	mu     sync.Mutex
	events map[string]map[int32]*pb.Event
	games  map[string]map[int32]*pb.Game // without numbers of watchers
	latest map[string]int32
	// attempts lists the games that are attempts at challenges. Their seeds are not recorded,
	// because the last event contains the seed only once the challenge has closed.
	attempts map[string]bool
}

func newObservations() *observations {
	return &observations{
		events: map[string]map[int32]*pb.Event{}, games: map[string]map[int32]*pb.Game{}, latest: map[string]int32{}, attempts: map[string]bool{},
	}
}

// event records an event that a client received.
func (o *observations) event(e *pb.Event) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.latest[e.GetGameId()] = max(o.latest[e.GetGameId()], e.GetVersion())
	if o.attempts[e.GetGameId()] {
		e = proto.CloneOf(e)
		e.Seed = nil
	}
	return note(o.events, e.GetGameId(), e.GetVersion(), e)
}

// game records a game that a client received.
func (o *observations) game(g *pb.Game) error {
	g = proto.CloneOf(g)
	g.Watchers = 0
	o.mu.Lock()
	defer o.mu.Unlock()
	o.latest[g.GetId()] = max(o.latest[g.GetId()], g.GetVersion())
	if g.GetChallengeId() != "" {
		o.attempts[g.GetId()], g.Seed = true, nil
	}
	return note(o.games, g.GetId(), g.GetVersion(), g)
}

// update records a message of a Watch stream.
func (o *observations) update(m *pb.WatchResponse) error {
	switch {
	case m.GetEvent() != nil:
		return o.event(m.GetEvent())
	case m.GetGame() != nil:
		return o.game(m.GetGame())
	default:
		return nil
	}
}

// latestVersion returns the latest version of a game that any client has observed, or 0 if none
// has.
func (o *observations) latestVersion(gameID string) int32 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.latest[gameID]
}

func note[M proto.Message](in map[string]map[int32]M, gameID string, version int32, m M) error {
	if in[gameID] == nil {
		in[gameID] = map[int32]M{}
	}
	before, ok := in[gameID][version]
	if !ok {
		in[gameID][version] = m
		return nil
	}
	if !proto.Equal(before, m) {
		return fmt.Errorf("version %d of %s was\n%v\nand is now\n%v", version, gameID, before, m)
	}
	return nil
}
