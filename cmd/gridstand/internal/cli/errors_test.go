package cli

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/codes"

	"github.com/gridstand/gridstand/client"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// TestWrongUsage exits with 2, and what is not there with 3.
func TestWrongUsage(t *testing.T) {
	t.Parallel()
	u := newUser(t, someServer(t), "ada")
	u.ok("new")
	for _, args := range [][]string{
		{"show", "abc"},
		{"show", "ABC!"},
		{"games", "--nonsense"},
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
	u.fails(exitUsage, `--from must be a whole number, not "x"`, "watch", "--from", "x")
	u.fails(exitUsage, `--turn-limit must be a duration such as 30s, 5m or 2h, not "5"`, "new", "--turn-limit", "5")
	u.fails(exitUsage, `--json must be true or false, not "so"`, "games", "--json=so")
	u.fails(exitUsage, `unknown command "dance"`, "dance")
	u.fails(exitUsage, `unknown command "dance"`, "help", "dance")
	u.fails(exitUsage, `unknown command "fish soup"`, "completion", "fish soup")
	u.fails(exitUsage, "show needs a game", "show")
	u.fails(exitUsage, `show: unexpected argument "b"`, "show", "a", "b")
	u.fails(exitUsage, `games: unexpected argument "extra"`, "games", "extra")
	u.fails(exitUsage, "move needs a direction or x,y", "move", "abcdefgh")
	u.fails(exitUsage, "verify needs a game or -", "verify")
	u.fails(exitUsage, "login needs a name", "login")
	u.fails(exitUsage, "watch: an argument is empty", "watch", "")
	u.fails(exitUsage, "takes no name", "login", "--rotate", "ada")
	u.fails(exitUsage, "use one of them", "login", "--rotate", "--replace")
	u.fails(exitUsage, "at most 4 games", "watch", "a", "b", "c", "d", "e")
	bob := newUser(t, u.server, "bob")
	bob.fails(exitUsage, "name ", "login", "no/name")
	bob.fails(exitUsage, "name ", "new", "--name", "no/name")
	bob.fails(exitUsage, "name must be", "login", "b\xffb")
	u.fails(exitUsage, "turn_limit must be unset or between", "new", "--turn-limit", "-5s")
	u.fails(exitUsage, "turn_limit must be unset or between", "new", "--turn-limit", "169h")
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
		"play.example.org":          "--server or $GRIDSTAND_SERVER sets another",
		"localhost:1,localhost:2":   "sets another",
		"dns:///play.example.org:7": "sets another",
	} {
		p := newUser(t, server, "").program(io.Discard, io.Discard)
		assert.Contains(t, p.explain(&client.Error{Code: codes.Unavailable, Message: "refused"}), todo, server)
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

// TestServerOfAnotherKind says what a server is like that does answer, and which
// flag is wrong or missing.
func TestServerOfAnotherKind(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	c := servertest.Config(t)
	c.TLSCert, c.TLSKey = servertest.Certificate(t)
	server, _ := servertest.Start(t, c)
	encrypted := newUser(t, server.Addr().String(), "ada")
	plain := newUser(t, someServer(t), "ada")

	plain.fails(exitFailed, plain.server+" answers, but without TLS", "games", "--tls")
	plain.fails(exitFailed, "Leave out --tls", "games", "--ca", c.TLSCert)
	encrypted.fails(exitFailed, encrypted.server+" answers, but not as a server without TLS", "games")
	encrypted.fails(exitFailed, "Try --tls, or --ca", "watch")
	encrypted.fails(exitFailed, "its certificate is not trusted", "games", "--tls")
	encrypted.fails(exitFailed, "Use --ca", "top", "--tls")
	encrypted.ok("games", "--ca", c.TLSCert)
}
