package directory

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/game/replay"
)

// Ensure that a game's status becomes the list's of the same name: Of converts
// the number.
func TestStatus(t *testing.T) {
	t.Parallel()
	assert.Equal(t, Waiting, Status(replay.Waiting))
	assert.Equal(t, Active, Status(replay.Active))
	assert.Equal(t, Finished, Status(replay.Finished))
}
