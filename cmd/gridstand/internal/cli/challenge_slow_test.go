//go:build slow

package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

func (c *storeClock) stop() {
	at := c.now()
	c.stopped.Store(&at)
}

func (c *storeClock) resume() {
	c.ahead.Store(int64(time.Until(*c.stopped.Load())))
	c.stopped.Store(nil)
}

// Ensure that programs can wait for a race, play it and verify it once it is closed. The countdown
// takes seconds.
func TestRace(t *testing.T) {
	t.Parallel()
	// Do not advance the server's clock: that would count as an outage and extend the race.
	clock, config := &storeClock{}, servertest.Config(t)
	config.StoreNow = clock.now
	running, _ := servertest.Start(t, config)
	server := running.Addr().String()
	ada, bob, eve := newUser(t, server, "ada"), newUser(t, server, "bob"), newUser(t, server, "eve")
	race := strings.Fields(ada.ok("race", "--minutes", "10"))[0]
	bob.ok("join", race)
	clock.stop() // keeps the race from opening before ada waits for it
	ada.ok("join", race[:8])
	eve.fails(exitFailed, "the race has started", "join", race)
	eve.fails(exitFailed, "the race has started", "new", "--challenge", race)
	eve.fails(exitMissing, "you have no account", "whoami") // No account is created for a race that cannot be joined.
	var begun, note output
	code := make(chan int, 1)
	go func() {
		code <- ada.program(&begun, &note).run(t.Context(), []string{"new", "--challenge", race, "--wait"})
	}()
	waittest.Until(t, "ada waits", func() bool { return note.String() != "" })
	clock.resume()
	require.Equal(t, exitOK, <-code, note.String())
	assert.Equal(t, "Waiting for the challenge to open.\n", note.String())
	games := map[*person]string{ada: strings.TrimSpace(begun.String()), bob: bob.begun(race)}
	ada.slide(games[ada], 6)
	bob.slide(games[bob], 3)
	assert.Contains(t, eve.ok("show", games[ada]), "ada", "the boards of a race are public")
	rows := ada.ok("standings", race)
	assert.Regexp(t, `(?m)^ +\d  ada ◂ you +\d+ +\d+ +6  playing`, rows)
	assert.Regexp(t, `(?m)^ +\d  bob +\d+ +\d+ +3  playing`, rows)
	ada.ok("resign", games[ada])
	assert.Regexp(t, `(?m)^ +\d  ada ◂ you .*  finished`, ada.ok("standings", race))
	bob.ok("resign", games[bob]) // The last player's resignation closes the race.

	for u, game := range games {
		waittest.Until(t, "the race closes", func() bool {
			out, _, code := u.run("verify", game)
			return code == exitOK && strings.Contains(out, "an attempt at the challenge "+race)
		})
		assert.Contains(t, eve.ok("watch", game, "--from", "0", "--json"), `"seed":"`)
	}
	eve.fails(exitFailed, "the challenge is closed", "join", race)
	assert.Equal(t, games[ada], strings.TrimSpace(ada.ok("join", race)), "a player finds their attempt")
}
