package cli

import (
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/internal/testkit/process"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// sitting is a command running on a simulated terminal.
type sitting struct {
	t        *testing.T
	keyboard io.Writer
	out, err output
	code     chan int
}

// sit starts a command on a simulated terminal.
func (u *person) sit(args ...string) *sitting {
	u.t.Helper()
	keys, keyboard := io.Pipe()
	u.t.Cleanup(func() { keyboard.Close() })
	on := *u
	on.in, on.terminal, on.width = keys, true, 80
	s := &sitting{t: u.t, keyboard: keyboard, code: make(chan int, 1)}
	ctx := waittest.Context(u.t)
	args = append([]string{}, args...) // With nil, the command would read the flags of go test.
	go func() { s.code <- on.program(&s.out, &s.err).run(ctx, args) }()
	return s
}

// sees waits until the text is on the screen.
func (s *sitting) sees(text string) {
	s.t.Helper()
	waittest.Until(s.t, "it shows "+text, func() bool { return strings.Contains(ansi.Strip(s.out.String()), text) })
}

// said returns what the command has written to standard error, as one line.
func (s *sitting) said() string { return strings.Join(strings.Fields(s.err.String()), " ") }

func (s *sitting) types(keys string) {
	s.t.Helper()
	_, err := io.WriteString(s.keyboard, keys)
	require.NoError(s.t, err)
}

func (s *sitting) ends(code int) {
	s.t.Helper()
	require.Equal(s.t, code, waittest.Receive(s.t, "the command to end", s.code), s.err.String())
}

// Ensure that play --local starts a server that other programs can use, reports at the end where its
// games are stored, and finds them again.
func TestPlayLocal(t *testing.T) {
	t.Parallel()
	address := process.FreeAddress(t)
	ada, bob := newUser(t, address, "ada"), newUser(t, address, "bob")
	table := ada.sit("play", "--local", "--server", address)
	table.sees("thers on this machine watch at")
	table.sees("http://" + address + "/g/")
	page, _ := servertest.Get(t, "http://"+address+"/", "Host", "rebound.example")
	assert.Equal(t, http.StatusMisdirectedRequest, page.StatusCode, "a web page must not read the player's games")
	tv := bob.sit("watch", "http://"+address+"/")
	tv.sees("SCORE")
	second := bob.sit("play", "--share", "--server", address, "3x3")
	second.sees("thers on this machine watch at")
	second.types("q")
	second.ends(exitOK)
	assert.Contains(t, second.err.String(), "A server is already running at "+address+"; you are playing on that server.")
	assert.Regexp(t, `Resume it with gridstand play [a-z2-7]{8} --server `+address, second.out.String())

	elsewhere := *ada
	elsewhere.terminal = true
	elsewhere.fails(exitFailed, "To play on a server that is running: gridstand play --server <its address>",
		"play", "--share", "--server", process.FreeAddress(t))
	elsewhere.state = "/dev/null"
	elsewhere.fails(exitFailed, "cannot start a server: opening /dev/null/local.db", "play", "--local", "--server", process.FreeAddress(t))
	elsewhere.state = ""
	elsewhere.fails(exitUsage, "--local needs HOME", "play", "--local", "--server", process.FreeAddress(t))
	table.types("q")
	table.ends(exitOK)
	resume := regexp.MustCompile(
		`(?s)classic by guest-[a-z2-7]{6}: .*Resume it with gridstand play ([a-z2-7]{8}) --server ` + address + ` --local`)
	ids := resume.FindStringSubmatch(ansi.Strip(table.out.String()))
	require.Len(t, ids, 2, table.out.String())
	assert.Contains(t, table.said(), "Its games are stored in "+ada.state)
	tv.sees("◌")
	tv.types("\x03")
	tv.ends(exitInterrupted)

	// The next one has the account and the open game.
	again := ada.sit("play", "--local", "--server", address)
	again.sees("/g/" + ids[1])
	again.types("q")
	again.ends(exitOK)
	assert.NotContains(t, again.said(), "no longer knows")
}

// Ensure that other machines can connect if the user allows it, and that the user is told
// how.
func TestPlayLocal_Share(t *testing.T) {
	t.Parallel()
	ada := newUser(t, "", "ada")
	_, port, err := net.SplitHostPort(process.FreeAddress(t))
	require.NoError(t, err)
	others := net.JoinHostPort(ownHost(), port)
	s := ada.sit("play", "--share", "--server", "localhost:"+port, "tribolo", "--seats", "me,open,greedy")
	s.sees("Others join, also")
	assert.Contains(t, s.said(), "Connections are not encrypted")
	s.sees("! Warning: everyone who can reach")
	s.types("x") // Any key removes the warning from the screen.
	assert.Contains(t, s.said(), "Others watch at http://"+others+"/ or with gridstand watch --server "+others+", and play with gridstand play --server "+others+".")
	s.types("y")
	s.sees("http://" + others + "/g/")
	assert.NotContains(t, s.out.String(), "Others play at", "they would begin another game")
	assert.NotContains(t, s.out.String(), "Others watch at", "it would cover the board, and the panel says how to join")
	page, _ := servertest.Get(t, "http://"+others+"/")
	assert.Equal(t, http.StatusOK, page.StatusCode)
	guest := newUser(t, others, "bob")
	assert.Contains(t, guest.ok("games", "--status", "waiting"), "tribolo")
	ada.server = "localhost:" + port
	assert.Contains(t, ada.ok("challenge"), "http://"+others+"/c/", "links of other commands on this machine work elsewhere")
	friend := guest.sit("play")
	friend.sees("Others watch at")
	friend.types("x") // Any key removes the warning about the connection.
	s.types("q")
	s.sees("also for 1 other.")
	s.types("n\x03") // ctrl-c asks, too
	s.types("y")
	s.ends(exitOK)
	friend.sees("The server does not answer. It may have ended; q leaves.")
	friend.types("q")
	friend.ends(exitOK)
}

// Ensure that --share finds an address without a route to the Internet.
func TestShare_NoRoute(t *testing.T) {
	t.Parallel()
	var addresses []net.Addr
	for _, text := range []string{"127.0.0.1/8", "::1/128", "fe80::1/64", "192.168.7.9/24", "10.0.0.1/8"} {
		ip, network, err := net.ParseCIDR(text)
		require.NoError(t, err)
		addresses = append(addresses, &net.IPNet{IP: ip, Mask: network.Mask})
	}
	assert.Equal(t, "192.168.7.9", addressOf(addresses))
	assert.Equal(t, "localhost", addressOf(addresses[:3]))
}

// Ensure that play --local refuses options that contradict each other, and does not mistake another
// program on the port for a server.
func TestPlayLocal_Wrong(t *testing.T) {
	t.Parallel()
	l := process.Listen(t)
	server := &http.Server{ReadHeaderTimeout: limit}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	u := newUser(t, l.Addr().String(), "ada")
	u.terminal = true
	u.fails(exitUsage, "omit --tls and --ca", "play", "--local", "--tls")
	u.fails(exitFailed, "play --local --server localhost:2049", "play", "--local", "--server", u.server)
	calls := 0
	assert.False(t, findLocal(t.Context(), hostileServer(t, func(string) (proto.Message, error) {
		calls++
		return nil, grpcstatus.Error(codes.Unavailable, "not yet")
	})))
	assert.Equal(t, 1, calls, "retries would delay each start")
	u.fails(exitUsage, "--local starts one server", "play", "--local", "--server", "one,two")
	u.fails(exitUsage, "add --share to let others connect", "play", "--local", "--server", strings.Replace(process.FreeAddress(t), "127.0.0.1", "0.0.0.0", 1))
}

// Ensure that a player can resume a game.
func TestPlayAgain(t *testing.T) {
	t.Parallel()
	server := someServer(t)
	ada := newUser(t, server, "ada")
	id := strings.TrimSpace(ada.ok("new", "5x5"))
	latest := strings.TrimSpace(ada.ok("new", "3x3"))
	ada.ok("join", "daily") // An attempt is continued with the command of its challenge.
	resumed := func(args ...string) string {
		s := ada.sit(args...)
		s.sees("MOVES")
		s.types("q")
		s.ends(exitOK)
		return regexp.MustCompile(`Resume it with gridstand play ([a-z2-7]{8})`).FindStringSubmatch(s.out.String())[1]
	}
	assert.Equal(t, id[:8], resumed("play", id[:10]))
	assert.Equal(t, id[:8], resumed("play", "5x5"))
	assert.Equal(t, latest[:8], resumed("play"))
	for _, args := range [][]string{{"play", "classic"}, {"play", "5x5", "--private"}} {
		created := resumed(args...)
		assert.NotContains(t, id+latest, created)
		ada.ok("resign", created)
	}
	waiting := strings.TrimSpace(ada.ok("new", "tribolo", "--seats", "me,open,greedy"))
	table := ada.sit("play", "tribolo")
	table.sees("gridstand join")
	table.types("q")
	table.ends(exitOK)
	assert.Contains(t, table.out.String(), "gridstand play "+waiting[:8])

	bob := newUser(t, server, "bob")
	s := bob.sit("play", id)
	s.ends(exitFailed)
	assert.Contains(t, s.err.String(), "gridstand watch "+id)
	bob.fails(exitFailed, "the seat is taken. Watch the game: gridstand watch "+id, "join", id)
	s = bob.sit("join", id)
	s.ends(exitFailed)
	assert.Contains(t, s.err.String(), "gridstand watch "+id)

	ada.ok("resign", id)
	ada.terminal = true
	ada.fails(exitFailed, "over", "play", id)
	ada.fails(exitMissing, `there is no variant "2048"; the usual 2048 is the variant classic. Nor is it a game`,
		"play", "2048")
	ada.fails(exitUsage, "--private", "play", id, "--private")
	ada.fails(exitMissing, "", "play", strings.Repeat("a", 26))
}

// Ensure that a table fits the terminal.
func TestTable(t *testing.T) {
	t.Parallel()
	p := &program{terminal: func(any) bool { return true }, width: func() int { return 0 }}
	columns := []string{"PLAYER", "SCORE>", "NOTE"}
	rows := [][]string{{"ada", "1,234,567", "a note"}, {"somebody with a name", "8", ""}}
	assert.Equal(t, ""+
		"PLAYER                    SCORE  NOTE\n"+
		"ada                   1,234,567  a note\n"+
		"somebody with a name          8\n", p.table(columns, rows))
	p.width = func() int { return 36 }
	assert.Contains(t, p.table(columns, rows), "ada                   1,234,567  a …\n")
}
