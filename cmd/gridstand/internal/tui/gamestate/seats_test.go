package gamestate

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/style"
)

// Ensure that the points of all lines of the log end in the same column, and that a line that is too
// long is cut before its points.
func TestLogLines(t *testing.T) {
	t.Parallel()
	s := State{Log: []Entry{
		{Move: 12, What: "red greedy jumped to 3,1", Gained: 4},
		{Move: 11, What: "blue ada jumped to b,12", Gained: 12},
		{Move: 10, What: "undone"},
	}}
	for width, want := range map[int]string{
		60: "    12  red greedy jumped to 3,1      +4\n" +
			"    11  blue ada jumped to b,12      +12\n" +
			"    10  undone",
		30: "    12  red greedy ju…      +4\n" +
			"    11  blue ada jump…     +12\n" +
			"    10  undone",
	} {
		assert.Equal(t, want, ansi.Strip(s.LogLines(style.Theme{}, width, 3)))
	}
	assert.Equal(t, 1, strings.Count(s.LogLines(style.Theme{}, 60, 2), "\n"))
}
