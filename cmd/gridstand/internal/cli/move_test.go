package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that cells are parsed as labeled on the borders of the board, and that the
// placeholder "x,y" in the help is not a cell.
func TestParseMove(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]*pb.Cell{
		"12,4": {X: 12, Y: 4}, "c,4": {X: 12, Y: 4}, "F, a": {X: 15, Y: 10}, "0,0": {}, "99,99": {X: 99, Y: 99},
	} {
		move, ok := parseMove(text)
		assert.True(t, ok, text)
		assert.Equal(t, client.Jump(want), move, text)
	}
	for _, text := range []string{"x,y", "g,1", "1", "-1,2", "1,2,3", ",", "", "lefty"} {
		_, ok := parseMove(text)
		assert.False(t, ok, text)
	}
	move, ok := parseMove("LEFT")
	assert.True(t, ok)
	assert.Equal(t, client.Slide(pb.Direction_DIRECTION_LEFT), move)
}
