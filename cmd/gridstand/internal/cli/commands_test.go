package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// TestPlayByCommands plays a game as a script would, and looks at it with every
// command that reads.
func TestPlayByCommands(t *testing.T) {
	t.Parallel()
	ada := newUser(t, someServer(t), "Ada L.")

	_, note, code := ada.run("games")
	assert.Equal(t, exitOK, code)
	assert.Equal(t, "No live games. Start one: gridstand play\n", note)
	ada.fails(exitMissing, "gridstand login", "whoami")
	ada.fails(exitMissing, "no game is live", "watch")

	id := strings.TrimSpace(ada.ok("new", "twos"))
	assert.Len(t, id, 26)
	assert.Equal(t, "twos  Ada L.  0 points  version 1  live\n. . . .\n. . . .\n. . 2 .\n. . . .\n", ada.ok("show", id[:7]))
	moved := ada.ok("move", id[:9], "LEFT")
	assert.Regexp(t, `(?m)^twos  Ada L\.  \d points  version 2  left`, moved)
	assert.Equal(t, 6, strings.Count(moved, "\n"))
	ada.fails(exitFailed, "", "move", id, "up", "--version", "1")
	ada.fails(exitUsage, "not \"sideways\"", "move", id, "sideways")
	event := lines(t, ada.ok("move", id, "right", "--bot", "--json"), func() *pb.Event { return new(pb.Event) })
	assert.True(t, event[0].GetMoved().GetByBot())
	assert.False(t, event[0].GetRanked())

	assert.Equal(t, ""+
		"GAME      VARIANT  PLAYER  SCORE  TILE  MOVES  WATCHING  STATUS  LAST MOVE\n"+
		"ABCDEFGH  twos     Ada L.      0     2      2         0  live    NOW\n",
		regexp.MustCompile(`     [02]     [24]      2`).ReplaceAllString(masked(ada.ok("games", "--order", "score"), id), "     0     2      2"))
	games := lines(t, ada.ok("games", "--json", "--mine"), func() *pb.Game { return new(pb.Game) })
	require.Len(t, games, 1)
	assert.Equal(t, id, games[0].GetId())
	assert.Contains(t, ada.ok("games", "--json"), `"private":false`, "default values are written")

	ada.fails(exitMissing, "not over", "verify", id)
	assert.Contains(t, ada.ok("resign", id), "resigned")
	ada.fails(exitFailed, "over", "move", id, "up")
	report := ada.ok("verify", id)
	assert.Contains(t, report, "Verified: "+id+", a game of twos by Ada L., ended: resigned.")
	var facts map[string]any
	require.NoError(t, json.Unmarshal([]byte(ada.ok("verify", id, "--json")), &facts))
	assert.EqualValues(t, 4, facts["versions"])
	assert.Equal(t, 4+4+4, strings.Count(ada.ok("watch", id, "--from", "0"), "points")+8)
	assert.Contains(t, ada.ok("watch", id), "resigned", "without a terminal")
	ada.fails(exitMissing, "only at version 4", "watch", id, "--from", "5")
	assert.Empty(t, ada.ok("watch", id, "--from", "4", "--json"), "nothing is missing")
	assert.Empty(t, ada.ok("games"))
	assert.Contains(t, ada.ok("games", "--status", "finished"), "finished")
	assert.Contains(t, ada.ok("whoami"), "Ada L. on ")
	player := lines(t, ada.ok("whoami", "--json"), func() *pb.Player { return new(pb.Player) })
	assert.Equal(t, "Ada L.", player[0].GetName())
	assert.Contains(t, ada.ok("version"), "gridstand ")
	assert.Equal(t, ada.ok("version"), ada.ok("--version"))
	assert.Contains(t, ada.ok("--help"), "play --local")
}

// TestTranscript verifies what watch printed, and finds a tile that somebody
// altered in it.
func TestTranscript(t *testing.T) {
	t.Parallel()
	ada := newUser(t, someServer(t), "ada")
	id := ada.finished(6)
	transcript := ada.ok("watch", id, "--from", "0", "--json")
	updates := lines(t, transcript, func() *pb.WatchResponse { return new(pb.WatchResponse) })
	require.Equal(t, int32(1), updates[0].GetEvent().GetVersion())

	ada.in = strings.NewReader(transcript)
	assert.Contains(t, ada.ok("verify", "-"), "Verified: "+id)

	file := filepath.Join(t.TempDir(), "tr.json")
	require.NoError(t, os.WriteFile(file, []byte(transcript), 0o600))
	ada.fails(exitUsage, "gridstand verify - < "+file, "verify", file)

	tiles := updates[3].GetEvent().GetPosition().GetTwenty48().GetTiles()
	tiles[0] += 1024
	altered, err := protojson.Marshal(updates[3])
	require.NoError(t, err)
	all := strings.SplitAfter(transcript, "\n")
	all[3] = string(altered) + "\n"
	ada.in = strings.NewReader(strings.Join(all, ""))
	ada.fails(exitFailed, "version 4", "verify", "-")
	ada.in = strings.NewReader("nonsense\n")
	ada.fails(exitFailed, "line 1", "verify", "-")
	ada.in = strings.NewReader(strings.Join(strings.SplitAfter(transcript, "\n")[:3], ""))
	ada.fails(exitMissing, "not over", "verify", "-")
}

// TestLeaderboard shows who is best, where one stands, and what to do where
// nobody is.
func TestLeaderboard(t *testing.T) {
	t.Parallel()
	server := someServer(t)
	ada, bob := newUser(t, server, "ada"), newUser(t, server, "bob")
	_, note, code := ada.run("top", "3x3")
	assert.Equal(t, exitOK, code)
	assert.Equal(t, "There are no scores on this board yet. Be the first: gridstand play 3x3\n", note)
	ada.fails(exitMissing, "no variant", "top", "5x6")
	ada.fails(exitMissing, "gridstand login", "top", "--me")

	ada.finished(40)
	bob.ok("new")
	bob.fails(exitMissing, "not on this board", "top", "--me")
	bob.finished(40)
	for _, window := range []string{"day", "week", "all"} {
		require.Eventually(t, func() bool {
			return strings.Count(ada.ok("top", "--window", window), "\n") == 3
		}, limit, 20*time.Millisecond)
	}
	entries := lines(t, ada.ok("top", "--json"), func() *pb.Entry { return new(pb.Entry) })
	require.Len(t, entries, 2)
	assert.GreaterOrEqual(t, entries[0].GetScore(), entries[1].GetScore())
	assert.Len(t, lines(t, ada.ok("top", "--json", "--limit", "1"), func() *pb.Entry { return new(pb.Entry) }), 1)
	_, note, _ = ada.run("top", "--limit", "1")
	assert.Equal(t, "1 of 2: --limit 2 shows more, --limit 0 all.\n", note)

	mine := ada.ok("top", "--me")
	assert.Equal(t, 3, strings.Count(mine, "\n"))
	assert.Regexp(t, `ada ◂ you`, mine)
	assert.Regexp(t, `(?s) 1  .* 2  `, mine, "in the order of ranks")
}

// TestInterrupted exits with 130 and without a word.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	ada := newUser(t, someServer(t), "ada")
	id := strings.TrimSpace(ada.ok("new"))
	ctx, cancel := context.WithCancel(t.Context())
	var out, err output
	done := make(chan int, 1)
	go func() { done <- ada.program(&out, &err).run(ctx, []string{"watch", id, "--json"}) }()
	require.Eventually(t, func() bool { return strings.Contains(out.String(), `"game":`) }, limit, time.Millisecond)
	cancel()
	assert.Equal(t, exitInterrupted, <-done)
	assert.Empty(t, err.String())
}
