package cli

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

var update = flag.Bool("update", false, "update the golden files")

// serverAtNoon starts a server whose store's clock is set to the next day's noon, and returns its
// address and the clock.
func serverAtNoon(t *testing.T) (address string, clock *servertest.Clock) {
	t.Helper()
	clock = servertest.ClockAt(12)
	config := servertest.Config(t).Unlimited()
	config.StoreNow = clock.Now
	config.BotPace = 0
	s, _ := servertest.Start(t, config)
	return s.Addr().String(), clock
}

// slide makes the given number of moves in a game.
func (u *person) slide(game string, moves int, flags ...string) {
	u.t.Helper()
	for made := 0; made < moves; {
		before := made
		for _, d := range []string{"up", "left", "down", "right"} {
			if _, _, code := u.run(append([]string{"move", game, d}, flags...)...); code == exitOK {
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
	return strings.TrimSpace(u.ok("join", challenge))
}

// volatile matches the parts of JSON that differ between runs, by the names that replace them.
var volatile = []struct{ found, replacement string }{
	{`127\.0\.0\.1:\d+`, "ADDRESS"},
	{`/c/[a-z2-7]{26}`, "/c/ID"},
	{`daily \d{4}-\d\d-\d\d`, "daily DATE"},
	{`"[a-z2-7]{26}"`, `"ID"`},
	{`"[A-Za-z0-9+/]{43}="`, `"BYTES"`},
	{`"\d{4}-\d\d-\d\d(T[0-9:.]+Z)?"`, `"TIME"`},
	{`"(score|spawned|largestTile)":\d+`, `"$1":"SCORE"`},
	{`"scores":\[\d+\]`, `"scores":"SCORE"`},
	{`\d+ points?`, "SCORE"},
}

// golden compares JSON with a golden file, ignoring volatile parts.
func golden(t *testing.T, file, got string) {
	t.Helper()
	for _, v := range volatile {
		got = regexp.MustCompile(v.found).ReplaceAllString(got, v.replacement)
	}
	path := filepath.Join("testdata", "json", file)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, file)
}

// Ensure that a ranking shows how its results are distributed, with the player's own, and that a server
// that sends nonsense does no harm.
func TestDistribution(t *testing.T) {
	t.Parallel()
	standing := func(id string, score int32) *pb.Standing {
		return &pb.Standing{Who: &pb.Standing_Player{Player: &pb.Player{Id: id}}, Score: score}
	}
	rows := []*pb.Standing{standing("a", 2399), standing("b", 1000), standing("c", 900), standing("d", 100)}
	const bars = "\n▄▁▁▁█▁▁▁▁▁▁▄  all results, from 0 to 2,399\n"
	counts := []int32{1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 1}
	assert.Equal(t, bars, distribution(counts, rows, ""))
	assert.Equal(t, bars+"    ^ you\n", distribution(counts, rows, "c"))
	assert.Equal(t, bars+"           ^ you\n", distribution(counts, rows, "a"))
	for _, score := range []int32{math.MaxInt32, math.MinInt32} {
		rows[3].Score = score
		assert.LessOrEqual(t, len(distribution(make([]int32, 1000), rows, "d")), 100)
		rows[0].Score = -1
	}
}

// Ensure that a daily game can be played and shown in scripts, stays hidden until it
// closes, and can then be verified.
func TestDaily(t *testing.T) {
	t.Parallel()
	server, clock := serverAtNoon(t)
	ada, bob, eve := newUser(t, server, "ada"), newUser(t, server, "bob"), newUser(t, server, "eve")
	out, note, code := ada.run("daily")
	require.Equal(t, exitOK, code)
	assert.Regexp(t, `^Daily \d{4}-\d\d-\d\d: open, closes in 1(2 h|1 h 5\d min)\nid +[a-z2-7]{26}\nlink +http://127.*\nvariant +classic\n`+
		`commitment +[0-9a-f]{64}\ntomorrow +[0-9a-f]{64}\n$`, out)
	assert.Contains(t, note, "gridstand join daily")
	ada.fails(exitMissing, "you have no account", "top", "daily", "--me")
	ada.fails(exitUsage, "--window is for variants", "top", "daily", "--window", "week")

	ada.ok("account", "new", "ada")
	bob.ok("account", "new", "bob")

	// A player has one attempt.
	game := ada.begun("daily")
	assert.Equal(t, game, ada.begun("daily"))
	ada.slide(game, 12)
	assert.Regexp(t, `your game +`+game+`, \d+ points?\n$`, ada.ok("daily"))
	_, note, _ = ada.run("top", "daily")
	assert.Equal(t, "No attempt that counts has finished yet.\n", note, "there was no daily game yesterday")
	tomorrow := clock.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	assert.Equal(t, "Daily "+tomorrow+": starts in 12 h\n", ada.ok("top", tomorrow))
	ada.fails(exitMissing, "it opens at "+tomorrow+" 00:00:00 UTC", "join", tomorrow)
	later := clock.Now().UTC().AddDate(0, 0, 2).Format(time.DateOnly)
	ada.fails(exitMissing, "no daily game "+later+": that day has not begun", "top", later)
	ada.fails(exitMissing, "no daily game "+yesterday(clock)+": nobody has opened it", "top", "yesterday")
	ada.fails(exitMissing, "Today's: gridstand daily, and its ranking: gridstand top daily", "top", yesterday(clock)+"/classic")
	ada.ok("resign", game)

	// The attempt is hidden from other players until the daily game closes.
	until := clock.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour).Format("2006-01-02 15:04:05 UTC")
	ada.fails(exitMissing, "this attempt's seed is hidden until its challenge is closed: it closes at "+until, "challenge", game)
	assert.Equal(t, 14, strings.Count(ada.ok("watch", game, "--from", "0", "--json"), "\n"), "players can watch their own attempts")
	for _, command := range []string{"show", "watch", "verify"} {
		eve.fails(exitMissing, until, command, game)
	}
	running := strings.TrimSpace(bob.ok("new"))
	eve.fails(exitMissing, "the game is not over", "challenge", running)
	const unset = "--limit must be unset for a challenge with the tiles of a game"
	eve.fails(exitUsage, unset, "challenge", running, "--limit", "1m")
	his := bob.begun("daily")
	bob.slide(his, 1, "--bot") // so that it does not count
	bob.ok("resign", his)
	assert.Contains(t, bob.ok("show", game), "ada", "such an attempt opens the others, too")

	var standings string
	waittest.Until(t, "the result is recorded", func() bool {
		standings = ada.ok("top", "daily")
		return strings.Count(standings, "\n") == 3
	})
	assert.Regexp(t, `(?m)^   1  ada ◂ you +\d+  `+game, standings)
	bob.fails(exitMissing, "not on this board", "top", "daily", "--me")
	golden(t, "top.json", ada.ok("top", "daily", "--json"))
	golden(t, "daily.json", ada.ok("daily", "--json"))
	out = ada.ok("daily")
	whole := regexp.MustCompile(`(?m)^id +(\S+)$`).FindStringSubmatch(out)[1]

	// The day ends.
	clock.Pass(12 * time.Hour)
	_, note, _ = ada.run("top", "daily")
	assert.Equal(t, "No attempt that counts has finished yet.\nYesterday's results: gridstand top yesterday\n", note)
	for _, day := range []string{"yesterday", yesterday(clock)} {
		assert.Regexp(t, `(?m)^   1  ada ◂ you +\d+  `+game, ada.ok("top", day))
	}
	eve.fails(exitFailed, "closed", "join", whole)
	assert.Regexp(t, `(?m)^seed +[0-9a-f]{64}$`, ada.ok("show", "yesterday"))
	assert.Regexp(t, `\ntomorrow +[0-9a-f]{64}\n$`, ada.ok("show", "daily"))
	assert.Contains(t, ada.ok("verify", game), "It is an attempt at the challenge "+whole+
		", whose seed is the same.\nThe ranking lists it with this score, at rank 1.\n")
	golden(t, "verify.json", ada.ok("verify", game, "--json"))
	assert.Contains(t, ada.ok("verify", his), "It does not count in the ranking.")
}

// Ensure that scripts can name the daily game of another variant than the server's first.
func TestDaily_Variant(t *testing.T) {
	t.Parallel()
	config, clock := servertest.Config(t), servertest.ClockAt(12)
	config.StoreNow, config.Daily = clock.Now, "classic,3x3"
	s, _ := servertest.Start(t, config)
	ada := newUser(t, s.Addr().String(), "ada")
	out, note, _ := ada.run("daily", "3x3")
	assert.Contains(t, out, "variant     3x3\n")
	assert.Equal(t, "Play it: gridstand join daily/3x3\n", note)
	game := ada.begun("daily/3x3")
	assert.Equal(t, "3x3", ada.game(game).GetVariant())
	assert.Contains(t, ada.ok("daily", "3x3"), "your game   "+game)
	ada.fails(exitMissing, "this server has no such daily game", "join", "daily/vt100")

	clock.Pass(24 * time.Hour)
	_, note, _ = ada.run("top", "daily/3x3")
	assert.Contains(t, note, "\nYesterday's results: gridstand top yesterday/3x3\n")
	assert.Regexp(t, `(?s)^Daily .*, 3x3: closed .*\nvariant +3x3\n`, ada.ok("show", "yesterday/3x3"))
}

// yesterday returns the day before the clock's current day.
func yesterday(c *servertest.Clock) string {
	return c.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly)
}

// Ensure that on a server without daily games, no command is advised that fails for the same reason.
func TestDaily_None(t *testing.T) {
	t.Parallel()
	config := servertest.Config(t)
	config.Daily = ""
	s, _ := servertest.Start(t, config)
	ada := newUser(t, s.Addr().String(), "ada")
	for _, args := range [][]string{{"daily"}, {"top", "daily"}, {"top", "yesterday"}} {
		_, note, code := ada.run(args...)
		assert.Equal(t, exitMissing, code)
		assert.Equal(t, "gridstand: this server has no such daily game\n", note)
	}
}

// Ensure that a race can be created and joined, and that a link and a
// rematch can be played.
func TestChallenges(t *testing.T) {
	t.Parallel()
	server, clock := serverAtNoon(t)
	ada, bob := newUser(t, server, "ada"), newUser(t, server, "bob")
	ada.fails(exitUsage, "a challenge needs a variant of 2048, such as classic", "race", "tribolo")
	ada.ok("account", "new", "ada") // so the race has created none
	bob.ok("account", "new", "bob")
	golden(t, "race.json", ada.ok("race", "3x3", "--limit", "1m", "--bot", "greedy", "--json"))
	created := strings.Fields(ada.ok("race", "--limit", "12m", "--bot", "greedy"))
	require.Len(t, created, 2)
	race := created[0]
	assert.Equal(t, "http://"+server+"/c/"+race, created[1])
	assert.Regexp(t, `(?s)^Race of 12 min: waiting for players\n.*  ada ◂ you .*  greedy \(bot\) `, ada.ok("top", race))
	waiting := func() string { return bob.ok("games", "--status", "waiting", "--variant", "classic") }
	waittest.Until(t, "the race is listed", func() bool { return strings.Contains(waiting(), race) })
	assert.Regexp(t, `^RACE .*\n`+race+` +classic +12 min +ada, greedy \(bot\) .*\n$`, waiting())
	bob.env = []string{serverVariable + "="} // The link names the server.
	assert.Regexp(t, `entrant +ada, not ready\nentrant +greedy \(bot\), ready\nentrant +bob, ready\n$`, bob.ok("join", created[1]))
	bob.env = nil
	golden(t, "join.json", bob.ok("join", race, "--json"))
	ada.ok("join", race) // Now all are ready.
	clock.Pass(5 * time.Second)
	assert.Equal(t, race, ada.game(ada.begun(race)).GetChallengeId())
	waittest.Until(t, "the race is no longer listed", func() bool { return waiting() == "" })
	late := "the account has not joined the race, and it has started. Watch it: gridstand watch " + race
	newUser(t, server, "eve").fails(exitFailed, late, "join", race)

	golden(t, "challenge.json", ada.ok("challenge", "3x3", "--limit", "1h", "--private", "--json"))
	link := strings.Fields(ada.ok("challenge", "3x3"))[1]
	hers := ada.begun(link)
	bob.ok("join", link)
	bob.fails(exitMissing, "hidden", "show", hers)

	game := ada.finished(12)
	golden(t, "rematch.json", bob.ok("challenge", game[:8], "--json"))
	rematch := strings.Fields(bob.ok("challenge", game[:8]))[0]
	again := bob.begun(rematch)
	bob.slide(again, 12)
	bob.ok("resign", again)
	waittest.Until(t, "the result is recorded", func() bool { return strings.Contains(bob.ok("top", rematch), "bob ◂ you") })
	assert.Regexp(t, `^Challenge: beat ada's [\d,]+: open, closes in 7 days\n`, bob.ok("top", rematch))
	assert.Contains(t, bob.ok("verify", again), "Its tiles were known before, so its ranking proves nothing.")
}
