package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that watch follows a player from one game to the next until it is interrupted,
// even if the player has not ended the previous one.
func TestWatchPlayer(t *testing.T) {
	t.Parallel()
	server := someServer(t)
	ada, bob := newUser(t, server, "ada"), newUser(t, server, "bob")
	ada.ok("account", "new", "ada")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var text, texts, note, notes output
	done := make(chan int, 2)
	go func() { done <- bob.program(&text, &note).run(ctx, []string{"watch", "@Ada"}) }()
	go func() { done <- bob.program(&texts, &notes).run(ctx, []string{"watch", "@ada", "--json"}) }()
	shown := func(what string, all ...*output) {
		t.Helper()
		for _, out := range all {
			waittest.Until(t, "it shows "+what, func() bool { return strings.Contains(out.String(), what) })
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
	third := strings.TrimSpace(ada.ok("new", "5x5"))
	shown("5x5  ada", &text)
	shown(third, &texts)
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
	assert.Equal(t, map[string]bool{first: true, second: true, third: true}, seen, "only the public games are shown")
}
