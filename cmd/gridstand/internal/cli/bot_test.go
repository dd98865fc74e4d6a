package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Ensure that bots play complete games, and that the summary combines their results.
func TestBot(t *testing.T) {
	t.Parallel()
	ada := newUser(t, someServer(t), "ada")
	out := ada.ok("bot", "rote", "3x3", "--games", "2")
	assert.Regexp(t, `^([a-z2-7]{26} +[\d,]+ points +\d+ +[\d,]+ moves +[\d.]+/s\n){2}rote, 3x3: mean [\d,]+, spread [\d,]+, \d of 2 won\n$`, out)

	out = ada.ok("bot", "greedy", "tribolo", "--json")
	all := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, all, 1)
	var g botGame
	require.NoError(t, json.Unmarshal([]byte(all[0]), &g))
	assert.Positive(t, g.Score)
	assert.Positive(t, g.Moves)
	assert.False(t, ada.game(g.GameID).GetRanked())
	assert.Contains(t, ada.ok("verify", g.GameID), "Verified")
}
