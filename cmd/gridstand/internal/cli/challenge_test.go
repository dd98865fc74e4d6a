package cli

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	"github.com/gridstand/gridstand/internal/verify"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

var update = flag.Bool("update", false, "update the golden files")

// storeClock is the clock of a server's store. A test can advance it, or stop it for a
// while.
type storeClock struct {
	ahead   atomic.Int64
	stopped atomic.Pointer[time.Time]
}

func (c *storeClock) now() time.Time {
	if at := c.stopped.Load(); at != nil {
		return *at
	}
	return time.Now().Add(time.Duration(c.ahead.Load()))
}

func (c *storeClock) stop() {
	at := c.now()
	c.stopped.Store(&at)
}

func (c *storeClock) resume() {
	c.ahead.Store(int64(time.Until(*c.stopped.Load())))
	c.stopped.Store(nil)
}

func (c *storeClock) forward(d time.Duration) { c.ahead.Add(int64(d)) }

// noon returns a clock that is set to the next day's noon.
func noon() *storeClock {
	clock := &storeClock{}
	day := time.Now().UTC().Truncate(24 * time.Hour)
	clock.forward(time.Until(day.Add(36 * time.Hour)))
	return clock
}

// serverAtNoon starts a server whose store's clock is set to noon, and returns its
// address and the clock.
func serverAtNoon(t *testing.T) (address string, clock *storeClock) {
	t.Helper()
	clock = noon()
	config := servertest.Config(t).Unlimited()
	config.StoreNow = clock.now
	config.BotPace = 0
	s, _ := servertest.Start(t, config)
	return s.Addr().String(), clock
}

// slide makes the given number of moves in a game.
func (u *person) slide(game string, moves int) {
	u.t.Helper()
	for made := 0; made < moves; {
		before := made
		for _, d := range []string{"up", "left", "down", "right"} {
			if _, _, code := u.run("move", game, d); code == exitOK {
				made++
				break
			}
		}
		require.Less(u.t, before, made, "no legal move after %d moves", made)
	}
}

// begun starts an attempt at a challenge and returns the game's id.
func (u *person) begun(challenge string) string {
	u.t.Helper()
	return strings.TrimSpace(u.ok("new", "--challenge", challenge))
}

// volatile matches the parts of JSON that differ between runs: ids, commitments, seeds
// and times.
var volatile = regexp.MustCompile(`"[a-z2-7]{26}"|"[A-Za-z0-9+/]{43}="|"\d{4}-\d\d-\d\d(T[0-9:.]+Z)?"|/c/[a-z2-7]{26}|127\.0\.0\.1:\d+|daily \d{4}-\d\d-\d\d`)

// golden compares JSON with a golden file, ignoring volatile parts.
func golden(t *testing.T, file, got string) {
	t.Helper()
	got = volatile.ReplaceAllStringFunc(got, func(found string) string {
		switch {
		case strings.HasPrefix(found, "daily"):
			return "daily DATE"
		case strings.HasPrefix(found, "127"):
			return "ADDRESS"
		case strings.HasPrefix(found, "/c/"):
			return "/c/ID"
		case strings.HasSuffix(found, `="`):
			return `"BYTES"`
		case id.Valid(strings.Trim(found, `"`)):
			return `"ID"`
		}
		return `"TIME"`
	})
	path := filepath.Join("testdata", "json", file)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, file)
}

// Ensure that a daily game can be played and shown in scripts, stays hidden until it
// closes, and can then be verified.
func TestDaily(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	server, clock := serverAtNoon(t)
	ada, bob := newUser(t, server, "ada"), newUser(t, server, "bob")
	// step runs a subtest to which the users report. Each step needs the ones before it.
	step := func(name string, test func(t *testing.T)) {
		t.Helper()
		require.True(t, t.Run(name, func(t *testing.T) {
			ada.t, bob.t = t, t
			test(t)
		}))
		ada.t, bob.t = t, t
	}

	step("a daily game is shown before it is played", func(t *testing.T) {
		out, note, code := ada.run("daily")
		require.Equal(t, exitOK, code)
		assert.Regexp(t, `^Daily \d{4}-\d\d-\d\d: open, closes in 1(2 h|1 h 5\d min)\nid +[a-z2-7]{26}\nlink +http://127.*\nvariant +classic\n`+
			`commitment +[0-9a-f]{64}\ntomorrow +[0-9a-f]{64}\n$`, out)
		assert.Contains(t, note, "gridstand new --challenge daily")
		golden(t, "daily.json", ada.ok("daily", "--json"))
		ada.fails(exitMissing, "this variant has no daily game", "daily", "vt100")
		ada.fails(exitMissing, "there is no daily game on 2020-01-01, or its", "daily", "--date", "2020-01-01")
		ada.fails(exitUsage, "--date must be a day", "daily", "--date", "today")
		ada.fails(exitMissing, "you have no account", "standings", "daily", "--share")
	})

	var game string
	step("a player has one attempt", func(t *testing.T) {
		game = ada.begun("daily")
		assert.Equal(t, game, ada.begun("daily"), "there is only one attempt")
		ada.fails(exitMissing, "your attempt is not over yet", "standings", "daily", "--share")
		_ = newUser(t, server, "carl").ok("bot", "rote", "--challenge", "daily", "--json")
		ada.slide(game, 12)
		assert.Regexp(t, `your game +`+game+`, \d+ points?\n$`, ada.ok("daily"))
		_, note, _ := ada.run("standings", "daily")
		assert.Equal(t, "No attempt that counts has finished yet.\n", note, "there was no daily game yesterday")
		for _, day := range []string{"yesterday", yesterday(clock)} {
			ada.fails(exitMissing, "no daily game on "+yesterday(clock)+", or its", "standings", day)
			ada.fails(exitMissing, "no daily game of classic on "+yesterday(clock)+", or its", "standings", day, "--variant", "classic")
		}
		ada.ok("resign", game)
	})
	step("an attempt is hidden from other players until the daily game closes", func(t *testing.T) {
		until := clock.now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour).Format("2006-01-02 15:04:05 UTC")
		ada.fails(exitMissing, until, "verify", game)
		ada.fails(exitMissing, "this attempt's seed is hidden until its challenge is closed: it closes at "+until, "beat", game)
		assert.Equal(t, 14, strings.Count(ada.ok("watch", game, "--from", "0", "--json"), "\n"), "players can watch their own attempts")
		bob.fails(exitMissing, until, "show", game)
		bob.fails(exitMissing, until, "watch", game)
		eve := newUser(t, server, "eve")
		eve.fails(exitMissing, until, "show", game[:6])
		eve.fails(exitMissing, until, "beat", game)
		eve.fails(exitMissing, "the tiles of this game are still hidden", "beat", strings.TrimSpace(newUser(t, server, "joe").ok("new")))
		eve.fails(exitMissing, "you have no account", "whoami") // No account is created to beat a game that cannot be beaten.
		bob.fails(exitMissing, until, "verify", game)
	})
	// The attempt does not count, but once it is over, bob may see the other attempts.
	step("a bot plays an attempt", func(t *testing.T) {
		_ = bob.ok("bot", "rote", "--challenge", "daily", "--json")
		assert.Contains(t, bob.ok("show", game), "ada")
	})
	step("the standings list the result", func(t *testing.T) {
		var standings string
		require.Eventually(t, func() bool {
			standings = ada.ok("standings", "daily")
			return strings.Count(standings, "\n") == 3
		}, limit, 20*time.Millisecond, "the result was not recorded")
		assert.Regexp(t, `(?m)^   1  ada ◂ you +\d+  `+game[:6], standings)
		assert.NotContains(t, standings, " bob ") // an id may contain the name
		ada.ok("standings", "daily", "--me")
		bob.fails(exitMissing, "not in these standings", "standings", "daily", "--me")
		golden(t, "daily-standings.json", score(ada.ok("standings", "daily", "--json")))
		golden(t, "daily-played.json", score(ada.ok("daily", "--json")))
	})
	step("a result can be shared as text", func(t *testing.T) {
		golden(t, "daily-share.json", score(ada.ok("standings", "daily", "--share", "--json")))
		shared := ada.ok("standings", "daily", "--share")
		assert.Regexp(t, `^Gridstand daily \d{4}-\d\d-\d\d: \d+ points?, 1st of 1\n[⬛🟦🟩]+\nhttp://127\.0\.0\.1:\d+/c/[a-z2-7]{26}\n$`, shared)
		assert.True(t, strings.HasSuffix(ada.ok("daily"), "\n\n"+shared))
	})

	whole := regexp.MustCompile(`(?m)^id +(\S+)$`).FindStringSubmatch(ada.ok("daily"))[1]
	require.True(t, id.Valid(whole), whole)
	clock.forward(12 * time.Hour)
	step("the results of yesterday are listed after the daily game has closed", func(t *testing.T) {
		_, note, _ := ada.run("standings", "daily")
		assert.Equal(t, "No attempt that counts has finished yet.\nYesterday's results: gridstand standings yesterday\n", note)
		for _, day := range []string{"yesterday", yesterday(clock)} {
			assert.Regexp(t, `(?m)^   1  ada ◂ you +\d+  `+game[:6], ada.ok("standings", day))
		}
		ada.fails(exitMissing, "no daily game on 2020-01-01", "standings", "2020-01-01")
		assert.Equal(t, game, lines(t, newUser(t, server, "dan").ok("show", game[:6], "--json"), func() *pb.Game { return new(pb.Game) })[0].GetId(),
			"the standings of yesterday resolve the short id")
		newUser(t, server, "eve").fails(exitFailed, "closed", "new", "--challenge", whole)
	})
	step("attempts can be verified after the daily game has closed", func(t *testing.T) {
		assert.Regexp(t, `(?m)^seed +[0-9a-f]{64}$`, ada.ok("daily", "--date", yesterday(clock)))
		verified := ada.ok("verify", game)
		assert.Contains(t, verified, "It is an attempt at the challenge "+whole+
			", whose seed is the same. The standings list it with this score, at rank 1.\n")
		golden(t, "verify-attempt.json", score(ada.ok("verify", game, "--json")))
		bobs := lines(t, bob.ok("games", "--mine", "--json"), func() *pb.Game { return new(pb.Game) })
		require.Len(t, bobs, 1)
		assert.Contains(t, ada.ok("verify", bobs[0].GetId()), "It does not count in the standings.")
		ada.in = strings.NewReader(ada.ok("watch", game, "--from", "0", "--json"))
		assert.Contains(t, ada.ok("verify", "-"), "Verified: "+game)
	})
}

// yesterday returns the day before the clock's current day.
func yesterday(c *storeClock) string { return c.now().UTC().AddDate(0, 0, -1).Format(time.DateOnly) }

// Ensure that the report says whether the transcript or the challenge was altered.
func TestVerify_Altered(t *testing.T) {
	t.Parallel()
	for want, version := range map[string]int32{
		"the game is valid, but does not match its challenge: x": 0, "the transcript is not valid: version 7: x": 7,
	} {
		err := new(program).report(verify.Report{}, &verify.Difference{Version: version, What: "x"})
		require.EqualError(t, err, want)
		assert.Equal(t, exitFailed, exitCode(t.Context(), err))
	}
}

// scores matches the parts of the output that depend on the tiles.
var scores = regexp.MustCompile(`"(score|spawned|largestTile)":\d+|"scores":\[\d+\]|\d+ points?|[⬛🟦🟩]+`)

// score replaces the parts of the output that depend on the tiles with a placeholder.
func score(text string) string {
	return scores.ReplaceAllStringFunc(text, func(found string) string {
		name, _, ok := strings.Cut(found, ":")
		if ok {
			return name + `:"SCORE"`
		}
		return "SCORE"
	})
}

// Ensure that a race can be created, joined through a link, started by the last player to
// be ready, and verified once it is closed.
func TestRace_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	// Do not advance the server's clock: that would count as an outage and extend the race.
	clock, config := &storeClock{}, servertest.Config(t)
	config.StoreNow = clock.now
	running, _ := servertest.Start(t, config)
	server := running.Addr().String()
	ada, bob, eve := newUser(t, server, "ada"), newUser(t, server, "bob"), newUser(t, server, "eve")
	for _, minutes := range []string{"0.1", "90", "NaN"} {
		ada.fails(exitUsage, "--minutes must be between", "race", "--minutes", minutes)
	}
	ada.fails(exitMissing, "no variant", "race", "5x9")
	golden(t, "race-created.json", ada.ok("race", "3x3", "--minutes", "1", "--bot", "greedy", "--json"))
	created := strings.Fields(ada.ok("race", "--minutes", "0.2", "--bot", "greedy"))
	require.Len(t, created, 2)
	race, link := created[0], created[1]
	assert.Equal(t, "http://"+server+"/c/"+race, link)
	assert.Regexp(t, `(?s)^Race of 12 s: waiting for players\n.*  ada ◂ you .*  greedy \(bot\) `, ada.ok("standings", race))
	ada.fails(exitMissing, "not open yet", "new", "--challenge", race)

	bob.env = []string{serverVariable + "="} // The link names the server.
	assert.Regexp(t, `entrant +ada, not ready\nentrant +greedy \(bot\), ready\nentrant +bob, ready\n$`, bob.ok("join", link))
	bob.env = nil
	clock.stop() // keeps the race from opening before ada waits for it
	golden(t, "race.json", ada.ok("join", race[:8], "--json"))
	eve.fails(exitFailed, "the race has started", "join", race)
	eve.fails(exitFailed, "the race has started", "new", "--challenge", race)
	eve.fails(exitMissing, "you have no account", "whoami") // No account is created for a race that cannot be joined.
	var begun, note output
	code := make(chan int, 1)
	go func() {
		code <- ada.program(&begun, &note).run(t.Context(), []string{"new", "--challenge", race, "--wait"})
	}()
	require.Eventually(t, func() bool { return note.String() != "" }, limit, 5*time.Millisecond)
	clock.resume()
	require.Equal(t, exitOK, <-code, note.String())
	clock.stop() // keeps the race open during the next commands
	assert.Equal(t, "Waiting for the challenge to open.\n", note.String())
	game := strings.TrimSpace(begun.String())
	other := bob.begun(link)
	first := func(u *person, game string) string {
		return u.ok("watch", game, "--from", "0", "--json")
	}
	ada.slide(game, 6)
	bob.slide(other, 3)
	assert.Contains(t, eve.ok("show", game), "ada", "the boards of a race are public")
	rows := ada.ok("standings", race)
	assert.Regexp(t, `(?m)^ +\d  ada ◂ you +\d+ +\d+ +6  playing`, rows)
	assert.Regexp(t, `(?m)^ +\d  bob +\d+ +\d+ +3  playing`, rows)
	ada.ok("resign", game)
	assert.Regexp(t, `(?m)^ +\d  ada ◂ you .*  finished`, ada.ok("standings", race))
	clock.resume()

	for u, game := range map[*person]string{ada: game, bob: other} {
		var verified string
		require.Eventually(t, func() bool {
			out, _, code := u.run("verify", game)
			verified = out
			return code == exitOK
		}, limit, 50*time.Millisecond, "the race did not close")
		assert.Contains(t, verified, "an attempt at the challenge "+race)
		assert.Contains(t, first(eve, game), `"seed":"`)
	}
	eve.fails(exitFailed, "the challenge is closed", "join", race)
	eve.fails(exitMissing, "you have no account", "whoami")
	assert.Equal(t, game, strings.TrimSpace(ada.ok("join", race)), "a player finds their attempt")
	golden(t, "race-standings.json", regexp.MustCompile(`"(score|largestTile|rank)":\d+`).
		ReplaceAllString(regexp.MustCompile(`.*"ada".*\n`).FindString(ada.ok("standings", race, "--json")), `"$1":"N"`))
}

// Ensure that a link and a rematch can be created and played.
func TestChallenge_LinkAndRematch(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	server, _ := serverAtNoon(t)
	ada, bob := newUser(t, server, "ada"), newUser(t, server, "bob")
	golden(t, "challenge.json", ada.ok("challenge", "3x3", "--limit", "1h", "--private", "--json"))
	link := strings.Fields(ada.ok("challenge", "3x3"))[1]
	hers := ada.begun(link)
	his := strings.TrimSpace(bob.ok("join", link))
	board := func(u *person, game string) string {
		_, rows, _ := strings.Cut(u.ok("show", game), "\n")
		return rows
	}
	assert.Equal(t, board(ada, hers), board(bob, his), "the same tiles")
	bob.fails(exitMissing, "hidden", "show", hers)
	ada.fails(exitUsage, "--seat is for games", "join", link, "--seat", "0")
	ada.fails(exitUsage, "is neither an id nor a link", "join", "ftp://example.com/c/x")
	ada.fails(exitUsage, "is not a link to a challenge", "standings", "http://"+server+"/x/y")
	ada.fails(exitUsage, "give \"daily\", a link, or at least 6 characters", "standings", "abc")
	ada.fails(exitMissing, "give the full id", "standings", "aaaaaaa")
	ada.fails(exitMissing, "no challenge with this id", "standings", strings.Repeat("a", 26))
	ada.fails(exitUsage, "--challenge determines", "new", "classic", "--challenge", link)
	ada.fails(exitUsage, "--challenge is for one game", "bot", "greedy", "--challenge", link, "--games", "2")

	game := ada.finished(20)
	golden(t, "beat.json", score(bob.ok("beat", game[:8], "--json")))
	rematch := strings.Fields(bob.ok("beat", game[:8]))[0]
	again := bob.begun(rematch)
	bob.slide(again, 20)
	bob.ok("resign", again)
	assert.Equal(t, board(ada, game), board(bob, again), "equal moves give equal boards")
	require.Eventually(t, func() bool { return strings.Contains(bob.ok("standings", rematch), "bob ◂ you") }, limit, 20*time.Millisecond)
	assert.Regexp(t, `^Rematch: beat ada's [\d,]+: open, closes in 7 days\n`, bob.ok("standings", rematch))
	assert.Contains(t, bob.ok("verify", again), "Its tiles were known before, so its standings prove nothing.")
}
