package faulttest

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
}

func newLedger() *ledger {
	return &ledger{events: map[string]map[int32]*pb.Event{}, games: map[string]map[int32]*pb.Game{}}
}

// event notes an event that somebody was told.
func (l *ledger) event(e *pb.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return note(l.events, e.GetGameId(), e.GetVersion(), e)
}

// game notes a game that somebody was told.
func (l *ledger) game(g *pb.Game) error {
	g = proto.CloneOf(g)
	g.Watchers = 0
	l.mu.Lock()
	defer l.mu.Unlock()
	return note(l.games, g.GetId(), g.GetVersion(), g)
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
