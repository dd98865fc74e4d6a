package rpc

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/gamelog"
)

// Ensure that a game that waits for players is absent from lists if none of them has watched it since
// its last event, and that games in progress are listed without watchers.
func TestAbsent(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, tt := range []struct {
		status   replay.Status
		age      time.Duration
		watchers int
		absent   bool
	}{
		{replay.Waiting, challenge.AbsentAfter, 0, false},
		{replay.Waiting, challenge.AbsentAfter + time.Second, 0, true},
		{replay.Waiting, time.Hour, 1, false},
		{replay.Active, time.Hour, 0, false},
	} {
		head := gamelog.Head{State: &replay.State{Status: tt.status, UpdateTime: now.Add(-tt.age)}, Watchers: tt.watchers}
		assert.Equal(t, tt.absent, absent(head, now), "%+v", tt)
	}
}
