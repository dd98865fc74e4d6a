package jobs

import (
	"time"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/match"
)

// runsUnwatched is how long after its creation a game between bots continues without watchers.
const runsUnwatched = time.Minute

// pausable reports whether the game is paused if no client watches it. Bots never stop by
// themselves, and the creators of games between bots rarely watch them to the end.
func pausable(state *replay.State) bool {
	return state.Status == replay.Active && state.Exhibition()
}

// watchedOrYoung reports whether a game between bots has watchers on any server or a preview on
// this one, or is younger than runsUnwatched by the time of its last event.
func watchedOrYoung(state *replay.State, watchers int) bool {
	return watchers > 0 || state.UpdateTime.Sub(state.CreateTime) < runsUnwatched
}

// Watched implements match.Jobs. It updates the list of the most watched games, and continues a game
// between bots that may have been paused while no client watched it.
func (m *Manager) Watched(served *match.Match) {
	if state := served.State(); pausable(state) {
		m.bots.schedule(state, 0)
	}
	m.Changed(served)
}
