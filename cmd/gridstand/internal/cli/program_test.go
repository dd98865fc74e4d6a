package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/client"
	outputtest "github.com/gridstand/gridstand/internal/testkit/output"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	"github.com/gridstand/gridstand/internal/testkit/testmain"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// actAsClient is an environment variable that makes the test binary run the client, for
// tests that need a separate process.
const actAsClient = "TEST_AS_CLIENT"

func TestMain(m *testing.M) {
	// On a busy machine, the timeouts of the program and of its connections are too short.
	dialOptions = append(dialOptions, grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: limit}))
	for _, timeout := range []*time.Duration{
		&stopTimeout, &sshStopTimeout,
	} {
		*timeout = limit
	}
	// All servers are on this machine. A proxy cannot reach them.
	if err := os.Setenv("NO_PROXY", "*"); err != nil {
		panic(err)
	}
	if os.Getenv(actAsClient) != "" {
		os.Exit(Main())
	}
	testmain.Run(m)
}

const limit = waittest.Patience

// person is a user who runs commands with their own config directory.
type person struct {
	t      *testing.T
	server string
	store  *client.Store
	state  string
	name   string

	in       io.Reader
	env      []string // in addition to the default environment
	terminal bool     // whether commands run on a terminal
	width    int
}

// someServer starts a server whose bots move immediately and returns its address.
func someServer(t testing.TB) string {
	t.Helper()
	config := servertest.Config(t)
	config.BotPace = 0
	s, _ := servertest.Start(t, config)
	return s.Addr().String()
}

func newUser(t *testing.T, server, name string) *person {
	t.Helper()
	return &person{
		t: t, server: server, name: name,
		store: client.NewStore(filepath.Join(t.TempDir(), "credentials.json")), state: t.TempDir(),
	}
}

// program returns a program that runs as the user and writes to out and err.
func (u *person) program(out, err io.Writer) *program {
	in := u.in
	if in == nil {
		in = strings.NewReader("")
	}
	return &program{
		in: in, out: out, err: err, store: u.store, state: u.state, clock: time.Now, timeout: context.WithTimeout,
		env:      append([]string{"GRIDSTAND_SERVER=" + u.server, "TERM=xterm-256color"}, u.env...),
		terminal: func(any) bool { return u.terminal },
		width:    func() int { return u.width },
	}
}

// run runs a command and returns its output and exit code.
func (u *person) run(args ...string) (out, err string, code int) {
	u.t.Helper()
	ctx := waittest.Context(u.t)
	var stdout, stderr bytes.Buffer
	code = u.program(&stdout, &stderr).run(ctx, args)
	require.NoError(u.t, ctx.Err(), "%v", args)
	return stdout.String(), stderr.String(), code
}

// ok runs a command that must succeed and returns its standard output.
func (u *person) ok(args ...string) string {
	u.t.Helper()
	out, err, code := u.run(args...)
	require.Equal(u.t, exitOK, code, "%v: %s", args, err)
	return out
}

// newName matches the line about the name of an account that a command has created.
var newName = regexp.MustCompile(`^You are .* To choose a name: .*\n`)

// fails runs a command that must fail with the given code, print nothing to standard
// output, and explain the error in one line. It may also create an account.
func (u *person) fails(code int, why string, args ...string) {
	u.t.Helper()
	out, err, got := u.run(args...)
	assert.Equal(u.t, code, got, "%v", args)
	assert.Empty(u.t, out, "%v", args)
	assert.Contains(u.t, err, why, "%v", args)
	err = newName.ReplaceAllString(err, "")
	wantLines := 1
	if code == exitUsage {
		wantLines = 2 // plus a line that refers to the help
	}
	assert.Equal(u.t, wantLines, strings.Count(err, "\n"), "%q", err)
}

// game returns a game as printed by show.
func (u *person) game(id string) *pb.Game {
	u.t.Helper()
	return lines(u.t, u.ok("show", id, "--json"), func() *pb.Game { return new(pb.Game) })[0]
}

// finished creates a game, makes some moves, resigns, and returns the game's id.
func (u *person) finished(moves int) string {
	u.t.Helper()
	id := strings.TrimSpace(u.ok("new"))
	u.slide(id, moves)
	u.ok("resign", id)
	return id
}

// lines parses lines of JSON into messages.
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

// output is what a command writes.
type output = outputtest.Buffer
