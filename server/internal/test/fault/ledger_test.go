package fault

import (
	"fmt"
	"sync"

	"google.golang.org/protobuf/proto"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// ledger notes everything that clients are told of games: by game and version,
// what was told first. What is told later has to be the same.
type ledger struct {
	mu     sync.Mutex
	events map[string]map[int32]*pb.Event
	games  map[string]map[int32]*pb.Game // without the number of watchers
	latest map[string]int32
}

func newLedger() *ledger {
	return &ledger{
		events: map[string]map[int32]*pb.Event{}, games: map[string]map[int32]*pb.Game{}, latest: map[string]int32{},
	}
}

// event notes an event that somebody was told.
func (l *ledger) event(e *pb.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.latest[e.GetGameId()] = max(l.latest[e.GetGameId()], e.GetVersion())
	return note(l.events, e.GetGameId(), e.GetVersion(), e)
}

// game notes a game that somebody was told.
func (l *ledger) game(g *pb.Game) error {
	g = proto.CloneOf(g)
	g.Watchers = 0
	l.mu.Lock()
	defer l.mu.Unlock()
	l.latest[g.GetId()] = max(l.latest[g.GetId()], g.GetVersion())
	return note(l.games, g.GetId(), g.GetVersion(), g)
}

// message notes an event or a game.
func (l *ledger) message(m proto.Message) error {
	switch m := m.(type) {
	case *pb.Event:
		return l.event(m)
	case *pb.Game:
		return l.game(m)
	default:
		return fmt.Errorf("neither an event nor a game: %v", m)
	}
}

// update notes what a watcher was shown.
func (l *ledger) update(m *pb.WatchResponse) error {
	switch {
	case m.GetEvent() != nil:
		return l.event(m.GetEvent())
	case m.GetGame() != nil:
		return l.game(m.GetGame())
	default:
		return nil
	}
}

// newest is the latest version of a game that anybody was told; 0 for none.
func (l *ledger) newest(gameID string) int32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.latest[gameID]
}

// versions is how many versions of all games people were told.
func (l *ledger) versions() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	total := 0
	for _, v := range l.latest {
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
