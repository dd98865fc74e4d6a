package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that verify accepts the output of watch, and says why it does not accept another one.
func TestTranscript(t *testing.T) {
	t.Parallel()
	ada := newUser(t, someServer(t), "ada")
	id := ada.finished(6)
	transcript := ada.ok("watch", id, "--from", "0", "--json")
	ada.in = strings.NewReader(transcript)
	assert.Contains(t, ada.ok("verify", "-"), "Verified: "+id)

	ada.in = strings.NewReader(strings.Replace(transcript, `"moveCount":3,`, `"moveCount":4,`, 1))
	ada.fails(exitFailed, "the transcript is not valid: version 4", "verify", "-")
	ada.in = strings.NewReader("")
	ada.fails(exitFailed, "the transcript is empty. To make one: gridstand watch GAME --from 0 --json > FILE", "verify", "-")
	ada.in = strings.NewReader("nonsense\n")
	ada.fails(exitFailed, "line 1", "verify", "-")
	ada.in = strings.NewReader(strings.Join(strings.SplitAfter(transcript, "\n")[:3], ""))
	ada.fails(exitMissing, "not over", "verify", "-")
}

// Ensure that top shows the best players and the player's own rank.
func TestLeaderboard(t *testing.T) {
	t.Parallel()
	server, _ := serverAtNoon(t) // no day ends during the test
	ada, bob := newUser(t, server, "ada"), newUser(t, server, "bob")
	ada.fails(exitUsage, "did you mean variants?", "rules")
	ada.fails(exitUsage, "did you mean top?", "yesterday")
	ada.fails(exitUsage, "did you mean play?", "server")
	ada.fails(exitUsage, "did you mean import or token?", "account", "export")
	ada.fails(exitUsage, "did you mean account?", "transfer")
	ada.fails(exitUsage, "did you mean keys or rotate?", "account", "revoke")
	ada.fails(exitUsage, "did you mean remove?", "account", "keys", "delete")
	ada.fails(exitUsage, "did you mean add?", "account", "keys", "link", "--help")
	ada.fails(exitUsage, `unknown command "zzz"`, "-h", "zzz")
	ada.fails(exitUsage, "login is now: gridstand account new", "login", "--help")
	assert.Contains(t, ada.ok("account", "@ada", "--help"), "Show your account")
	assert.Contains(t, ada.ok("-h", "play"), "Play grid games")
	assert.Contains(t, ada.ok("account", "keys", "--help", "add"), "List the SSH keys")
	ada.fails(exitUsage, "needs a file or fingerprint", "account", "keys", "revoke")
	ada.fails(exitMissing, "If you have one elsewhere: gridstand account import", "account")
	ada.fails(exitUsage, `"bo" is too short: give at least 6 characters of the id; nor is there a player with this name`, "watch", "bo")

	ada.ok("account", "new", "ada")
	ada.finished(13)
	bob.finished(13)
	for _, window := range []string{"day", "week", "all"} {
		waittest.Until(t, "both scores are on the board", func() bool {
			return strings.Count(ada.ok("top", "--window", window), "\n") == 3
		})
	}
	entries := lines(t, ada.ok("top", "--json"), func() *pb.Entry { return new(pb.Entry) })
	require.Len(t, entries, 2)
	assert.GreaterOrEqual(t, entries[0].GetScore(), entries[1].GetScore())
	assert.Len(t, lines(t, ada.ok("top", "--json", "--limit", "1"), func() *pb.Entry { return new(pb.Entry) }), 1)
	_, note, _ := ada.run("top", "--limit", "1")
	assert.Equal(t, "There are more: --limit 2 shows more, --limit 0 shows all.\n", note)

	for _, account := range []string{ada.ok("account"), bob.ok("account", "@ada"), bob.ok("account", "http://"+server+"/p/ada")} {
		assert.Regexp(t, `(?m)^classic \w{8}\n[\d,]+, resigned\n( *[\d.]+){4}\n`, account, "the board of the latest game")
		assert.Regexp(t, `(?m)^classic +best [\d,]+, rank [12], 1 game$`, account)
	}
	assert.Equal(t, bob.ok("account", "@ada"), bob.ok("top", "@ada"))
	bob.fails(exitUsage, "--window, --me and --limit are for rankings", "top", "@ada", "--me")
	bob.fails(exitUsage, "--window, --me and --limit are for rankings", "top", "@ada", "--window", "day")
	bob.fails(exitUsage, "--window, --me and --limit are for rankings", "top", "@ada", "--limit", "5")

	bob.fails(exitUsage, "a player is needed", "account", "http://"+server)
	assert.JSONEq(t, ada.ok("account", "--json"), bob.ok("account", "@ada", "--json"))

	over, eve := ada.finished(1), newUser(t, server, "eve")
	for _, text := range []string{over, "http://" + server + "/g/" + over, "http://" + server + "/play/classic?game=" + over} {
		eve.fails(exitFailed, "the game is over", "join", text)
	}

	mine := ada.ok("top", "--me")
	assert.Equal(t, 3, strings.Count(mine, "\n"))
	assert.Contains(t, mine, "ada ◂ you")
	assert.Contains(t, ada.ok("top"), "ada ◂ you")
	assert.Regexp(t, `^RANK .*\n.* ada ◂ you .*\n$`, ada.ok("top", "--me", "--limit", "1"))
	assert.Equal(t, 3, strings.Count(ada.ok("top", "--me", "--limit", "2"), "\n"))
	for _, u := range []*person{ada, bob} { // one of them has rank 1, the other rank 2
		assert.Regexp(t, `(?s) 1  .* 2  `, u.ok("top", "--me"), "rows are in rank order")
	}
	for _, name := range []string{"cal", "dan", "fay", "gil"} {
		newUser(t, server, name).finished(13)
	}
	for _, limit := range []string{"20", "0"} {
		waittest.Until(t, "all six scores are on the board", func() bool {
			return strings.Count(ada.ok("top", "--me", "--limit", limit), "\n") == 7
		})
	}
}
