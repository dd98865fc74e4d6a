package cli

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that watch follows a player from one game to the next until it is interrupted,
// even if the next game was created before the previous one ended.
func TestWatchPlayer(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	server := someServer(t)
	ada, bob := newUser(t, server, "ada"), newUser(t, server, "bob")
	ada.ok("login", "ada")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var text, texts, note, notes output
	done := make(chan int, 2)
	go func() { done <- bob.program(&text, &note).run(ctx, []string{"watch", "@Ada"}) }()
	go func() { done <- bob.program(&texts, &notes).run(ctx, []string{"watch", "@ada", "--json"}) }()
	shown := func(what string, all ...*output) {
		t.Helper()
		for _, out := range all {
			require.Eventually(t, func() bool { return strings.Contains(out.String(), what) }, limit, 5*time.Millisecond, "%s", what)
		}
	}
	const waiting = "ada is not playing a public game now; waiting for the next one.\n"
	shown(waiting, &note, &notes)

	ada.ok("new", "--private")
	first := strings.TrimSpace(ada.ok("new", "twos"))
	shown("twos  ada  0 points  version 1\n", &text)
	shown(first, &texts)
	ada.ok("move", first, "left")
	shown("version 2  left", &text)
	ada.ok("resign", first)
	shown("resigned", &text)

	second := strings.TrimSpace(ada.ok("new", "3x3"))
	shown("3x3  ada", &text)
	shown(second, &texts)
	cancel()
	assert.Equal(t, exitInterrupted, <-done)
	assert.Equal(t, exitInterrupted, <-done)
	assert.Equal(t, strings.Repeat(waiting, strings.Count(note.String(), "\n")), note.String())

	seen := map[string]bool{}
	for _, update := range lines(t, texts.String(), func() *pb.WatchResponse { return new(pb.WatchResponse) }) {
		if g := update.GetGame(); g != nil {
			seen[g.GetId()] = true
		}
	}
	assert.Equal(t, map[string]bool{first: true, second: true}, seen, "only the public games are shown")
}

// Ensure that a follower leaves an unfinished game once the player has played another
// one.
func TestWatchPlayer_Leaves(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	server := someServer(t)
	ada, bob := newUser(t, server, "ada"), newUser(t, server, "bob")
	ada.ok("new", "twos")
	ctx, cancel := context.WithTimeout(t.Context(), 2*limit)
	defer cancel()
	var out, note output
	done := make(chan int, 1)
	go func() { done <- bob.program(&out, &note).run(ctx, []string{"watch", "@ada"}) }()
	require.Eventually(t, func() bool { return strings.Contains(out.String(), "twos  ada") }, limit, 5*time.Millisecond)
	ada.ok("new", "3x3")
	require.Eventually(t, func() bool { return strings.Contains(out.String(), "3x3  ada") }, limit, 5*time.Millisecond)
	cancel()
	assert.Equal(t, exitInterrupted, <-done)
	assert.Empty(t, note.String())
}
