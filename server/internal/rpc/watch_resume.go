package rpc

import (
	"context"
	"time"

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
	ctx, s := v.stream.Context(), v.service
	full := s.Limits.Exceeded(&s.Limits.WatchesPerAddress, "streams from one address that read a game's history at once", fullRetry)
	full.Value = s.replaysPerAddress()
	release, err := acquireSlot(ctx, v.replays, fullRetry, full)
	if err != nil {
		return err
	}
	defer release()
	var end time.Time // of an admitted replay of the whole log
	return v.match.Replay(ctx, v.version, match.Bounds{
		Turn: func(read, send func() error) error {
			if !end.IsZero() && time.Now().After(end) {
				return s.tooManyReplays()
			}
			return s.turn(ctx, read, send)
		},
		Count: func(events int) error { return s.checkReadRate(v.address, s.replayCost(events)) },
		Admit: func(ctx context.Context, events int32) (func(), error) {
			if s.streamReplays.limits(events) {
				end = time.Now().Add(maxStreamReplay)
			}
			return s.admitReplay(ctx, s.streamReplays, v.address, events, 1, fullRetry)
		},
	}, v.sendEvent)
}
