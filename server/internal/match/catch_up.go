package match

import (
	"context"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/gamelog"
)

// catchUp reads the entries after the tip. It returns a *gamelog.DamagedError if they do not follow it.
func (m *Match) catchUp(ctx context.Context) error {
	tip := *m.tip.Load()
	return m.hub.Log.Replay(ctx, m.id, tip, func(next gamelog.Tip, event *replay.Event) error {
		m.advance(tip.ID, next, event)
		tip = next
		return nil
	})
}

// recent finds earlier states in memory.
func (m *Match) recent(version int32) *replay.State {
	if e := m.ring.at(version); e != nil {
		return e.State
	}
	return nil
}
