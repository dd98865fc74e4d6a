package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestCompletion offers variants, live games and words.
func TestCompletion(t *testing.T) {
	t.Parallel()
	ada := newUser(t, someServer(t), "ada")
	id := strings.TrimSpace(ada.ok("new"))
	waiting := strings.TrimSpace(ada.ok("new", "tribolo", "--seats", "me,open,open"))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"play", ""}, "classic\t"},
		{[]string{"top", ""}, "6x6\t"},
		{[]string{"watch", ""}, id + "\tada, classic, 0"},
		{[]string{"move", ""}, id},
		{[]string{"join", ""}, waiting + "\tada, open, open, tribolo"},
		{[]string{"bot", ""}, "minimax\n"},
		{[]string{"bot", "greedy", ""}, "tribolo\t"},
		{[]string{"move", id, ""}, "left\n"},
		{[]string{"top", "--window", ""}, "week\n"},
		{[]string{"games", "--variant", ""}, "vt100\t"},
		{[]string{"new", "tribolo", "--seats", "me,o"}, "me,open\n"},
		{[]string{"bot", "greedy", "tribolo", "--seats", ""}, "\nminimax\n"},
		{[]string{"play", "--turn-limit", ""}, ":4\n"}, // no files
		{[]string{"play", "--server", ""}, ":4\n"},
		{[]string{"play", "--ca", ""}, ":0\n"},
	} {
		assert.Contains(t, ada.ok(append([]string{"__complete"}, c.args...)...), c.want, "%v", c.args)
	}
	assert.NotContains(t, ada.ok("__complete", "watch", id, ""), id)
	nobody := newUser(t, "127.0.0.1:1", "ada")
	assert.NotContains(t, nobody.ok("__complete", "play", ""), "classic")
	assert.Contains(t, ada.ok("completion", "bash"), "gridstand")
}
