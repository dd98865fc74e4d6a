package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/client/session"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/app/apptest"
)

// actAsClient is the variable of the environment that makes the binary of the
// tests the client itself, for those that need a process of their own.
const actAsClient = "GRIDSTAND_TEST_CLIENT"

func TestMain(m *testing.M) {
	if os.Getenv(actAsClient) != "" {
		main()
	}
	goleak.VerifyTestMain(m)
}

// limit is the time after which a test gives up waiting.
const limit = 20 * time.Second

// person is somebody with a config directory of his own who runs commands.
type person struct {
	t      *testing.T
	server string
	store  *session.Store
	name   string

	in       io.Reader
	terminal bool // where its commands run
	width    int
}

// someServer starts a server and returns its address.
func someServer(t *testing.T) string {
	t.Helper()
	s, _ := apptest.Start(t, apptest.Config(t))
	return s.Addr().String()
}

func newUser(t *testing.T, server, name string) *person {
	t.Helper()
	return &person{
		t: t, server: server, name: name,
		store: session.NewStore(filepath.Join(t.TempDir(), "credentials.json")),
	}
}

// program is a run of the client for the user.
func (u *person) program(out, err io.Writer) *program {
	in := u.in
	if in == nil {
		in = strings.NewReader("")
	}
	return &program{
		in: in, out: out, err: err, store: u.store, clock: time.Now,
		env:      []string{"GRIDSTAND_SERVER=" + u.server, "USER=" + u.name, "TERM=xterm-256color"},
		terminal: func(any) bool { return u.terminal },
		width:    func() int { return u.width },
	}
}

// run runs a command and returns what it printed, and its exit code.
func (u *person) run(args ...string) (out, err string, code int) {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(u.t.Context(), limit)
	defer cancel()
	var stdout, stderr bytes.Buffer
	code = u.program(&stdout, &stderr).run(ctx, args)
	require.NoError(u.t, ctx.Err(), "%v", args)
	return stdout.String(), stderr.String(), code
}

// ok runs a command that must succeed and returns its data.
func (u *person) ok(args ...string) string {
	u.t.Helper()
	out, err, code := u.run(args...)
	require.Equal(u.t, exitOK, code, "%v: %s", args, err)
	return out
}

// fails runs a command that must fail with a code, print no data, and say why
// in a line.
func (u *person) fails(code int, why string, args ...string) {
	u.t.Helper()
	out, err, got := u.run(args...)
	assert.Equal(u.t, code, got, "%v", args)
	assert.Empty(u.t, out, "%v", args)
	assert.Contains(u.t, err, why, "%v", args)
	wantLines := 1
	if code == exitUsage {
		wantLines = 2 // and where to look
	}
	assert.Equal(u.t, wantLines, strings.Count(err, "\n"), "%q", err)
}

// finished makes a game, with some moves, and gives it up.
func (u *person) finished(moves int) string {
	u.t.Helper()
	id := strings.TrimSpace(u.ok("new"))
	for n := range moves {
		for _, d := range []string{"up", "left", "down", "right"} {
			if _, _, code := u.run("move", id, d); code == exitOK {
				break
			}
			require.NotEqual(u.t, "right", d, "no move %d", n)
		}
	}
	u.ok("resign", id)
	return id
}

// lines parses lines of JSON as messages.
func lines[M proto.Message](t *testing.T, text string, empty func() M) []M {
	t.Helper()
	var all []M
	for line := range strings.Lines(text) {
		assert.True(t, json.Valid([]byte(line)))
		m := empty()
		require.NoError(t, protojson.Unmarshal([]byte(line), m), line)
		all = append(all, m)
	}
	return all
}

// masked replaces what differs from run to run.
func masked(text, id string) string {
	text = strings.ReplaceAll(text, id[:8], "ABCDEFGH")
	return regexp.MustCompile(`\d+ s ago|just now`).ReplaceAllString(text, "NOW")
}

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
	assert.Equal(t, "Nobody is on this board yet. Be the first: gridstand play 3x3\n", note)
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

// TestWrongUsage exits with 2, and what is not there with 3.
func TestWrongUsage(t *testing.T) {
	t.Parallel()
	u := newUser(t, someServer(t), "ada")
	u.ok("new")
	for _, args := range [][]string{
		{"dance"},
		{"show"},
		{"show", "a", "b"},
		{"show", "abc"},
		{"show", "ABC!"},
		{"games", "--nonsense"},
		{"games", "extra"},
		{"games", "--status", "lost"},
		{"games", "--order", "size"},
		{"games", "--order", "score", "--status", "finished"},
		{"games", "--limit", "-1"},
		{"top", "--window", "year"},
		{"top", "--limit", "-1"},
		{"watch", "--from", "-1"},
		{"games", "--limit", "99999999999999999999"},
		{"play", "--turn-limit", "5"},
		{"move", "abcdefgh", "up", "--version", "0"},
		{"games", "--server", "one two"},
		{"games", "--ca", "/nowhere.pem"},
	} {
		u.fails(exitUsage, "", args...)
	}
	nowhere := strings.Repeat("a", 26)
	for _, args := range [][]string{
		{"show", nowhere},
		{"show", "aaaaaaaa"},
		{"watch", nowhere},
		{"watch", nowhere, "--json"},
		{"verify", nowhere},
		{"move", nowhere, "up"},
		{"resign", nowhere},
		{"new", "nonsense"},
		{"games", "--variant", "nonsense"},
	} {
		u.fails(exitMissing, "", args...)
	}
	u.fails(exitFailed, "terminal", "play")
	u.fails(exitUsage, `--from is a whole number, not "x"`, "watch", "--from", "x")
	u.fails(exitUsage, `--turn-limit is a time such as 30s, 5m or 2h, not "5"`, "new", "--turn-limit", "5")
	u.fails(exitUsage, `--json is true or false, not "so"`, "games", "--json=so")
	bob := newUser(t, u.server, "bob")
	bob.ok("new")
	game := lines(t, u.ok("games", "--mine", "--json"), func() *pb.Game { return new(pb.Game) })[0]
	bob.fails(exitFailed, "seat", "move", game.GetId(), "up")
}

// TestNoServer says how to start one, or where else to look.
func TestNoServer(t *testing.T) {
	t.Parallel()
	for server, todo := range map[string]string{
		"":                          "gridstand play --local, or:",
		"127.0.0.1":                 "gridstand play --local --server 127.0.0.1:2048",
		"[::1]:99":                  "gridstand play --local --server [::1]:99",
		"play.example.org":          "--server or $GRIDSTAND_SERVER names another",
		"localhost:1,localhost:2":   "names another",
		"dns:///play.example.org:7": "names another",
	} {
		p := newUser(t, server, "").program(io.Discard, io.Discard)
		assert.Contains(t, p.explain(&session.Error{Code: codes.Unavailable, Message: "refused"}), todo, server)
	}
	for _, args := range [][]string{
		{"games"}, {"watch"}, {"show", strings.Repeat("a", 26)}, {"new"}, {"top"}, {"variants"}, {"login", "ada"},
	} {
		t.Run(args[0], func(t *testing.T) {
			t.Parallel()
			newUser(t, "127.0.0.1:1", "ada").fails(exitFailed, "gridstand play --local", args...)
		})
	}
}

// TestAccounts makes them by hand, from the login name, and by asking.
func TestAccounts(t *testing.T) {
	t.Parallel()
	server := someServer(t)
	ada := newUser(t, server, "whatever")
	assert.Contains(t, ada.ok("login", "ada"), "ada on ")
	assert.Contains(t, ada.ok("login", "Ada"), "ada on ", "there is no other of that name")
	ada.fails(exitFailed, "--replace", "login", "eve")
	kept := func() session.Credential {
		cred, found, err := ada.store.Load(ada.server)
		require.NoError(t, err)
		require.True(t, found)
		return cred
	}
	before := kept()
	assert.Contains(t, ada.ok("login", "--rotate"), "ada on ")
	assert.Equal(t, before.PlayerID, kept().PlayerID)
	assert.NotEqual(t, before.Token, kept().Token)
	assert.Contains(t, ada.ok("whoami"), "ada on ")
	ada.fails(exitUsage, "login", "login", "--rotate", "ada")
	assert.Contains(t, ada.ok("login", "eve", "--replace"), "eve on ")
	_, note, _ := ada.run("new", "--name", "mallory")
	assert.Contains(t, note, "You are eve")

	second := newUser(t, server, "ada")
	second.fails(exitFailed, "belongs to another", "new", "--name", "ADA")
	second.ok("new")
	assert.Contains(t, second.ok("whoami"), "ada-2 on ", "a number where the login name is taken")

	asked := newUser(t, server, "grace")
	asked.terminal, asked.in = true, strings.NewReader("bad/name\n")
	_, note, code := asked.run("new")
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, note, "Your name on "+server+" [grace]: ")
	asked.in = strings.NewReader("\n")
	asked.ok("new")
	assert.Contains(t, asked.ok("whoami"), "grace on ")
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

// output is a buffer that a test looks at while it is written to.
type output struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all.String()
}

// TestCompletion offers variants, live games and words.
func TestCompletion(t *testing.T) {
	t.Parallel()
	ada := newUser(t, someServer(t), "ada")
	id := strings.TrimSpace(ada.ok("new"))
	waiting := strings.TrimSpace(ada.ok("new", "tribolo", "--seats", "me,open,open"))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"play", ""}, "classic\t"},
		{[]string{"top", ""}, "6x6\t"},
		{[]string{"watch", ""}, id + "\tada, classic, 0"},
		{[]string{"move", ""}, id},
		{[]string{"join", ""}, waiting + "\tada, open, open, tribolo"},
		{[]string{"bot", ""}, "minimax\n"},
		{[]string{"bot", "greedy", ""}, "tribolo\t"},
		{[]string{"move", id, ""}, "left\n"},
		{[]string{"top", "--window", ""}, "week\n"},
		{[]string{"games", "--variant", ""}, "vt100\t"},
	} {
		assert.Contains(t, ada.ok(append([]string{"__complete"}, c.args...)...), c.want, "%v", c.args)
	}
	assert.NotContains(t, ada.ok("__complete", "watch", id, ""), id)
	nobody := newUser(t, "127.0.0.1:1", "ada")
	assert.NotContains(t, nobody.ok("__complete", "play", ""), "classic")
	assert.Contains(t, ada.ok("completion", "bash"), "gridstand")
}
