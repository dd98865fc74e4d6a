package rpc

import (
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/match"
)

// resume makes the view start after the last version that the client has.
func (v *View) resume(after int32, state *replay.State) error {
	if after > state.Version {
		return &match.VersionConflictError{Version: state.Version}
	}
	v.version, v.everyUntil = after, state.Version
	v.over = state.Status == replay.Finished && after == state.Version
	return nil
}

// replay sends events that are no longer in memory.
func (v *View) replay() error {
	past := v.match.History(v.version)
	for {
		page, err := past.Next(v.stream.Context(), func(e *match.Event) { v.encodeEvent(e) })
		if err != nil || len(page) == 0 {
			return err
		}
		v.service.Budgets.Charge(v.address, 1) // to encode and send the page
		for _, e := range page {
			if err := v.sendEvent(e); err != nil {
				return err
			}
		}
	}
}
