package match

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Ensure that a call by a player with several seats counts as repeated if it names the seat of
// the earlier event or no seat, but not if it names another seat.
func TestDecide_Seats(t *testing.T) {
	t.Parallel()
	sd := seed(t, 1)
	begun, err := replay.Start("g", replay.Entry{Seat: game.NoSeat, Action: created(t, "classic", sd)}, sd, time.Time{})
	require.NoError(t, err)
	state := *begun.State
	state.Seats = []replay.Seat{{Player: ann}, {Player: ann}, {Player: bob}}

	m := newMatch(&Hub{}, "g")
	resigned, err := state.Apply(replay.Entry{Seat: 0, Action: replay.Resigned{}}, time.Time{})
	require.NoError(t, err)
	require.Equal(t, replay.Active, resigned.State.Status)
	m.ring.put(resigned)
	m.tip.Store(&gamelog.Tip{ID: store.ID{Version: 2}, State: resigned.State})

	at := func(player replay.Player, version int32, seat int) Call {
		return Call{PlayerID: player.ID, Version: version, Seat: seat, Action: replay.Resigned{}}
	}
	for _, tt := range []struct {
		name   string
		call   Call
		repeat bool
		err    error
		drafts bool
	}{
		{"no seat named", at(ann, 1, game.NoSeat), true, nil, false},
		{"the same seat", at(ann, 1, 0), true, nil, false},
		{"the same seat at another version", at(ann, 99, 0), true, nil, false},
		{"the other seat at the old version", at(ann, 1, 1), false, &VersionConflictError{Version: 2}, false},
		{"the other seat at the current version", at(ann, 2, 1), false, nil, true},
		{"another player at the old version", at(bob, 1, game.NoSeat), false, &VersionConflictError{Version: 2}, false},
		{"another player at any version", at(bob, 0, game.NoSeat), false, nil, true},
		{"another player's seat", at(bob, 1, 0), false, ErrNotSeated, false},
	} {
		event, draft, err := tt.call.decide(t.Context(), m, *m.tip.Load())
		require.Equal(t, tt.err, err, tt.name)
		require.Equal(t, tt.repeat, event != nil, tt.name)
		require.Equal(t, tt.drafts, draft != nil, tt.name)
	}
}
