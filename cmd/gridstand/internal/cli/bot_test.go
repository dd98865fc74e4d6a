package cli

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that bots play complete games, and that the summary combines their results.
func TestBot(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
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
func TestBot_RateLimited_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	c := servertest.Config(t)
	c.Limits.MovesPerSecond = 1 // even the slowest machine plays faster than this
	server, _ := servertest.Start(t, c)
	ada := newUser(t, server.Addr().String(), "ada")
	var out, note output
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	code := make(chan int, 1)
	go func() { code <- ada.program(&out, &note).run(ctx, []string{"bot", "rote", "6x6"}) }()
	const limited = "at most 1 moves a second"
	require.Eventually(t, func() bool { return strings.Contains(note.String(), limited) }, limit, 5*time.Millisecond)
	moves := func() int32 {
		return lines(t, ada.ok("games", "--mine", "--json"), func() *pb.Game { return new(pb.Game) })[0].GetPosition().GetMoveCount()
	}
	before := moves()
	require.Eventually(t, func() bool { return moves() >= before+3 }, limit, 20*time.Millisecond)
	cancel()
	assert.Equal(t, exitInterrupted, <-code)
	assert.Equal(t, 1, strings.Count(note.String(), limited), note.String())
}
