package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/scheduler"
)

// Ensure that a game that waits for players is processed soon, and earlier if
// it expires before.
func TestManager_FirstDelay(t *testing.T) {
	t.Parallel()
	waiting := &replay.State{Status: replay.Waiting, UpdateTime: time.UnixMilli(1_790_000_000_000)}
	for waitingFor, want := range map[time.Duration]time.Duration{
		time.Second: time.Second, scheduler.LeaseFor: scheduler.LeaseFor, time.Hour: scheduler.LeaseFor,
	} {
		m := &Manager{Config: Config{WaitingFor: waitingFor}}
		assert.Equal(t, want, m.firstDelay(waiting), waitingFor)
	}
}
