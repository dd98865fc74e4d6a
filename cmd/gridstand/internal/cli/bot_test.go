package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	servertest "github.com/gridstand/gridstand/internal/testkit/server"
)

// Ensure that bots play complete games, and that the summary combines their results.
func TestBot(t *testing.T) {
	t.Parallel()
	ada := newUser(t, quickServer(t), "ada")
	out := ada.ok("bot", "rote", "3x3", "--games", "2")
	assert.Regexp(t, `(?s)GAME +SCORE +TILE +MOVES +MOVES/S\n.*rote, 3x3: mean [\d,]+, spread [\d,]+, from`, out)
	assert.Equal(t, 4, strings.Count(out, "\n"))

	out = ada.ok("bot", "greedy", "tribolo", "--json")
	all := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, all, 2)
	var g botGame
	require.NoError(t, json.Unmarshal([]byte(all[0]), &g))
	assert.Positive(t, g.Score)
	assert.Positive(t, g.Moves)
	var s botSummary
	require.NoError(t, json.Unmarshal([]byte(all[1]), &s))
	assert.EqualValues(t, g.Score, s.Mean)
	assert.Zero(t, s.Spread)
	assert.False(t, ada.game(g.GameID).GetRanked())
	assert.Contains(t, ada.ok("verify", g.GameID), "Verified")
}

// Ensure that the program reports only once per game that the bot has hit the rate limit.
func TestBot_RateLimited(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	c := servertest.Config(t)
	c.Limits.MovesPerSecond = 5 // even the slowest machine plays faster than this
	server, _ := servertest.Start(t, c)
	_, note, code := newUser(t, server.Addr().String(), "ada").run("bot", "rote", "3x3")
	assert.Equal(t, exitOK, code)
	assert.Equal(t, 1, strings.Count(note, "at most 5 moves a second"), note)
}
