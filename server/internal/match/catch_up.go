package match

import (
	"context"
	"errors"
	"fmt"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/store"
)

// catchUp reads the entries after the tip. It returns a *gamelog.DamagedError if the log does
// not contain the tip.
func (m *Match) catchUp(ctx context.Context) error {
	tip := m.currentTip()
	found := false
	err := m.hub.Log.Read(ctx, m.id, tip.ID.Version, func(r store.Record) error {
		if !found {
			if r.ID != tip.ID {
				return &gamelog.DamagedError{GameID: m.id, Version: tip.ID.Version, Detail: fmt.Sprintf("it has entry %s instead of %s", r.ID, tip.ID)}
			}
			found = true
			return nil
		}
		next, event, err := tip.Apply(m.id, r, m.recent)
		if err != nil {
			return err
		}
		m.advance(tip.ID, next, event)
		tip = next
		return nil
	})
	if errors.Is(err, errNotRecent) {
		return m.catchUpFar(ctx)
	}
	if err == nil && !found {
		err = &gamelog.DamagedError{GameID: m.id, Version: tip.ID.Version, Detail: fmt.Sprintf("entry %s is missing", tip.ID)}
	}
	return err
}

// catchUpFar is catchUp after an undo far back. It replays the whole log, once for all such undos.
func (m *Match) catchUpFar(ctx context.Context) error {
	tip := m.currentTip()
	return m.hub.Log.Replay(ctx, m.id, tip.ID.Version-1, func(next gamelog.Tip, event *replay.Event) error {
		switch {
		case next.ID.Version > tip.ID.Version:
			m.advance(tip.ID, next, event)
			tip = next
		case next.ID != tip.ID:
			return &gamelog.DamagedError{GameID: m.id, Version: tip.ID.Version, Detail: fmt.Sprintf("it has entry %s instead of %s", next.ID, tip.ID)}
		}
		return nil
	})
}

// recent finds earlier states in memory.
func (m *Match) recent(version int32) (*replay.State, error) {
	if e := m.ring.at(version); e != nil {
		return e.State, nil
	}
	return nil, errNotRecent
}

// errNotRecent means that an earlier state is not in memory.
var errNotRecent = errors.New("the version is not in memory")
