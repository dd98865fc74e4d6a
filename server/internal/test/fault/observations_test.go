package fault

import (
	"fmt"
	"sync"

	"google.golang.org/protobuf/proto"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// observations are the events and games that clients were sent, by game and
// version. All clients must be sent the same for a version.
type observations struct {
	mu     sync.Mutex
	events map[string]map[int32]*pb.Event
	games  map[string]map[int32]*pb.Game // without the number of watchers
	latest map[string]int32
}

func newObservations() *observations {
	return &observations{
		events: map[string]map[int32]*pb.Event{}, games: map[string]map[int32]*pb.Game{}, latest: map[string]int32{},
	}
}

// event notes an event that a client was sent.
func (o *observations) event(e *pb.Event) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.latest[e.GetGameId()] = max(o.latest[e.GetGameId()], e.GetVersion())
	return note(o.events, e.GetGameId(), e.GetVersion(), e)
}

// game notes a game that a client was sent.
func (o *observations) game(g *pb.Game) error {
	g = proto.CloneOf(g)
	g.Watchers = 0
	o.mu.Lock()
	defer o.mu.Unlock()
	o.latest[g.GetId()] = max(o.latest[g.GetId()], g.GetVersion())
	return note(o.games, g.GetId(), g.GetVersion(), g)
}

// observe notes an event or a game.
func (o *observations) observe(m proto.Message) error {
	switch m := m.(type) {
	case *pb.Event:
		return o.event(m)
	case *pb.Game:
		return o.game(m)
	default:
		return fmt.Errorf("neither an event nor a game: %v", m)
	}
}

// update notes a message of a Watch.
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

// latestVersion is a game's latest version that any client has observed, 0 for
// none.
func (o *observations) latestVersion(gameID string) int32 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.latest[gameID]
}

// totalVersions is the sum of the latest versions of all games.
func (o *observations) totalVersions() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	total := 0
	for _, v := range o.latest {
		total += int(v)
	}
	return total
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
		return fmt.Errorf("version %d of %s was told as\n%v\nand is now\n%v", version, gameID, before, m)
	}
	return nil
}
