package jobs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/game/replay"
)

// Ensure that a game between bots is paused when it has no watchers, but not in its first minute, and
// that it ends if it stays unwatched for as long as finished games are kept.
func TestManager_Pause(t *testing.T) {
	t.Parallel()
	m := &Manager{Config: Config{AbandonAfter: time.Hour, KeepFinished: 5 * time.Hour}}
	created := time.Now()
	for _, tt := range []struct {
		age      time.Duration
		watchers int
		runs     bool
	}{
		{0, 0, true},
		{time.Minute - 1, 0, true},
		{time.Minute, 0, false},
		{time.Hour, 0, false},
		{time.Hour, 1, true},
	} {
		g := &replay.State{
			Status: replay.Active, Seats: []replay.Seat{{Bot: "greedy"}}, CreateTime: created, UpdateTime: created.Add(tt.age),
		}
		assert.True(t, pausable(g))
		assert.Equal(t, tt.runs, watchedOrYoung(g, tt.watchers), tt)
		assert.Equal(t, g.UpdateTime.Add(5*time.Hour), m.overdueAt(g), tt)
		g.Creator.ID = showcaseCreator
		assert.Equal(t, g.UpdateTime, m.overdueAt(g), "a paused showcase ends")
	}
	assert.False(t, pausable(&replay.State{Status: replay.Active, Seats: []replay.Seat{{Bot: "greedy"}, {}}}))
}

// Ensure that all servers derive the same id for a showcase that begins in the same minute.
func TestShowcaseID(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	assert.Equal(t, showcaseID(at), showcaseID(at.Add(time.Minute-1)))
	assert.NotEqual(t, showcaseID(at), showcaseID(at.Add(time.Minute)))
}
