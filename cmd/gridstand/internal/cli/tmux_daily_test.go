//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Ensure that a player can leave and resume the daily game, and that its result stays on
// the terminal at the end, including when the finished game is opened again.
func TestTerminal_Daily(t *testing.T) {
	t.Parallel()
	p := newPanes(t)
	server, _ := serverAtNoon(t) // so that the day does not end during the test
	// again opens the daily game in another pane for the same user.
	again := func(before, pane string) {
		require.NoError(t, os.Rename(filepath.Join(p.dir, before), filepath.Join(p.dir, pane)))
		p.open(pane, "daily --server "+server)
	}
	p.open("first", "daily --server "+server+" --name ada")
	p.sees("first", `(?s)Daily \d{4}-\d\d-\d\d.*SCORE`)
	for range 5 { // enough keys for at least ten moves
		p.tmux("send-keys", "-t", "first", "Left", "Down", "Right", "Up")
	}
	p.sees("first", `MOVES +[1-9]\d`)
	p.tmux("send-keys", "-t", "first", "q")
	p.sees("first", `(?s)\d moves?\)\.\s+Come back with.*exit=0`)

	again("first", "second")
	p.sees("second", `(?s)Daily.*MOVES +[1-9]\d`)
	p.tmux("send-keys", "-t", "second", "n")
	p.sees("second", `(?s)Give up this attempt.*y give up`)
	p.tmux("send-keys", "-t", "second", "y")
	p.sees("second", `(?s)Resigned.*Gridstand daily \d{4}-\d\d-\d\d: \d+ points?, 1st of 1`)
	p.tmux("send-keys", "-t", "second", "q")
	p.sees("second", `(?s)Gridstand daily .* points?, 1st of 1.*exit=0`)

	again("second", "third")
	p.sees("third", `(?s)finished.*Resigned.*1st of 1.*ada \(you\)`)
	p.tmux("send-keys", "-t", "third", "q")
	p.sees("third", `(?s)Gridstand daily .*exit=0`)
}
