package cli

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/sshhost"
	processtest "github.com/gridstand/gridstand/internal/testkit/process"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	sshtest "github.com/gridstand/gridstand/internal/testkit/ssh"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/internal/usage"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// sshHost is an SSH host that runs in the test process.
type sshHost struct {
	t       *testing.T
	address string
	log     *output
	stop    func() // waits until the host has stopped
}

// port returns the number of the host's port.
func (h *sshHost) port() string { return h.address[strings.LastIndexByte(h.address, ':')+1:] }

// startSSH starts an SSH host for a server.
func startSSH(t *testing.T, server string, args ...string) *sshHost {
	t.Helper()
	h := &sshHost{t: t, log: &output{}}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	args = append([]string{"ssh-host", "--listen", "127.0.0.1:0", "--host-key", filepath.Join(t.TempDir(), "key")}, args...)
	host := newUser(t, server, "host")
	host.env = []string{"GOGC=off"} // or else the host collects garbage often, in the whole test process
	program := host.program(h.log, h.log)
	go func() {
		ended <- program.run(ctx, args)
		close(ended)
	}()
	h.stop = func() {
		cancel()
		// A second call receives zero, which is the same as exitOK.
		assert.Equal(t, exitOK, waittest.Receive(t, "the host to stop", ended), h.log)
	}
	t.Cleanup(h.stop)
	h.serves()
	return h
}

// serves waits until the host serves, and notes its address.
func (h *sshHost) serves() {
	h.t.Helper()
	serving := regexp.MustCompile(`msg=serving address=(\S+)`)
	waittest.Until(h.t, "the host serves", func() bool { return serving.MatchString(h.log.String()) })
	h.address = serving.FindStringSubmatch(h.log.String())[1]
}

// session returns a new session of a client with the given key, or of a guest if it is nil.
func (h *sshHost) session(key ssh.Signer) *ssh.Session {
	h.t.Helper()
	s, err := h.connect(key).NewSession()
	require.NoError(h.t, err)
	return s
}

// connect returns a new connection of a client with the given key, or of a guest if it is nil.
func (h *sshHost) connect(key ssh.Signer) *ssh.Client {
	h.t.Helper()
	method := ssh.KeyboardInteractive(func(string, string, []string, []bool) ([]string, error) { return nil, nil })
	if key != nil {
		method = ssh.PublicKeys(key)
	}
	c, err := ssh.Dial("tcp", h.address, &ssh.ClientConfig{
		User: "ada", Auth: []ssh.AuthMethod{method}, HostKeyCallback: ssh.InsecureIgnoreHostKey(),
	})
	require.NoError(h.t, err)
	h.t.Cleanup(func() { _ = c.Close() })
	return c
}

// run runs a command without a terminal.
func (h *sshHost) run(key ssh.Signer, command string) (out string, code int) {
	h.t.Helper()
	text, err := h.session(key).CombinedOutput(command)
	return string(text), h.exit(err)
}

// exit returns the exit code of a session that ended with the given error.
func (h *sshHost) exit(err error) int {
	h.t.Helper()
	if exit, ok := errors.AsType[*ssh.ExitError](err); ok {
		return exit.ExitStatus()
	}
	require.NoError(h.t, err)
	return exitOK
}

// terminal runs a command on a terminal and waits until it shows each of the given texts. Between
// them, it presses Enter, and at the end Ctrl+C. It returns the exit code.
func (h *sshHost) terminal(key ssh.Signer, command string, texts ...string) int {
	h.t.Helper()
	s := h.session(key)
	in, err := s.StdinPipe()
	require.NoError(h.t, err)
	var shown output
	s.Stdout, s.Stderr = &shown, &shown
	require.NoError(h.t, s.RequestPty("xterm-256color", 24, 80, nil))
	require.NoError(h.t, s.Start(command))
	for i, text := range texts {
		waittest.Until(h.t, command+" shows "+text, func() bool { return strings.Contains(ansi.Strip(shown.String()), text) })
		press := "\r"
		if i == len(texts)-1 {
			press = "\x03"
		}
		_, _ = io.WriteString(in, press) // the session may have ended
	}
	return h.exit(s.Wait())
}

// hostedServer starts a server that trusts an SSH host on this machine. It returns the server's
// address and the file with the host's credential.
func hostedServer(t *testing.T) (address, credential string) {
	t.Helper()
	config := servertest.Config(t)
	config.Store = server.File(filepath.Join(t.TempDir(), "games.db"))
	config.Proxies, config.BotPace, config.PublicURL = "127.0.0.1", 0, "https://play.example"
	s, _ := servertest.Start(t, config)
	operator, err := server.Operate(t.Context(), config, false)
	require.NoError(t, err)
	defer operator.Close()
	made, err := operator.Credentials.Create(t.Context(), "host")
	require.NoError(t, err)
	credential = filepath.Join(t.TempDir(), "credential")
	require.NoError(t, os.WriteFile(credential, []byte(made+"\n"), 0o600))
	return s.Addr().String(), credential
}

// Ensure that a host keeps nothing of a session that has run a command.
func TestSSHHost_Released(t *testing.T) {
	t.Parallel()
	session := func() weak.Pointer[sshhost.Session] {
		p := &program{over: &remote{session: &sshhost.Session{}}}
		_ = p.sshRoot()
		return weak.Make(p.over.session)
	}()
	waittest.Until(t, "the session is released", func() bool {
		runtime.GC()
		return session.Value() == nil
	})
}

// Ensure that a client without a terminal receives text, and is told what needs a terminal, and that one with a
// terminal sees screens.
func TestSSHHost_NoTerminal(t *testing.T) {
	t.Parallel()
	server := someServer(t)
	id := newUser(t, server, "ada").finished(1)
	h := startSSH(t, server, "--address", "play.example")
	c := h.connect(nil)
	run := func(line string, terminals ...string) (out, errs string, code int) {
		s, err := c.NewSession()
		require.NoError(t, err)
		for _, terminal := range terminals {
			require.NoError(t, s.RequestPty(terminal, 20, 60, nil))
		}
		var stdout, stderr strings.Builder
		s.Stdout, s.Stderr = &stdout, &stderr
		code = h.exit(s.Run(line))
		return stdout.String(), stderr.String(), code
	}
	for line, want := range map[string]string{
		"": "-t,\nthey print text.", "help": "  watch ", "games --status finished": id[:8], "top  5x5 ": "",
		"variants": "tribolo ", "race --help": "ssh -t play.example race [variant] [flags]",
	} {
		out, _, code := run(line)
		assert.Equal(t, exitOK, code, line)
		assert.Contains(t, out, want, line)
	}
	out, errs, code := run("watch " + id)
	assert.Equal(t, exitOK, code)
	assert.Contains(t, out, "Game over: resigned")
	assert.Equal(t, "On a terminal, this is a screen: ssh -t play.example watch "+id+"\n", errs)
	_, errs, _ = run("watch --plain " + id)
	assert.Contains(t, errs, "On a terminal, this is a screen: ")
	_, errs, _ = run("watch --json " + id)
	assert.Empty(t, errs, "on a terminal, this is text, too")
	out, _, code = run("play", "dumb")
	assert.Equal(t, exitFailed, code)
	const needed = "play needs a terminal that can move its cursor: ssh -t play.example play"
	assert.Contains(t, out, needed+"\r\n")
	_, errs, code = run("play tribolo --seats me,open,greedy")
	assert.Equal(t, exitFailed, code)
	assert.Equal(t, needed+" tribolo --seats me,open,greedy\n", errs)
	for command, want := range map[string]string{
		"daily": "No attempt that counts", "top 6x6": "no scores on this board yet",
		"games --status waiting": "There are no such games. Start one: ssh -t play.example play\n",
	} {
		out, code := h.run(nil, command)
		assert.Contains(t, out, want, command)
		assert.Zero(t, code, command)
	}
	for command, want := range map[string]string{"": "Live games", "watch": "No live games", "watch " + id: "move 1,"} {
		assert.Equal(t, exitInterrupted, h.terminal(nil, command, want), command)
	}
	const unprintable = "the command is too long or contains characters that are not allowed"
	for line, want := range map[string]string{
		"/bin/sh":                          `unknown command "/bin/sh"`,
		"help; sh":                         `unknown command "help; sh"`,
		"--plain __complete games":         `unknown command "__complete"`,
		"verify -":                         `unknown command "verify -"`,
		"standings daily":                  "standings is now: ssh -t play.example top LINK",
		"top a b":                          "top: too many arguments; usage: top [variant|daily|yesterday]",
		"games --server 127.0.0.1:1":       "unknown flag: --server",
		"top \x1b[2J":                      unprintable,
		"help " + strings.Repeat(" ", 999): unprintable,
	} {
		out, errs, code := run(line)
		assert.Equal(t, exitUsage, code, line)
		assert.Empty(t, out)
		assert.Equal(t, want+"\nTry: ssh -t play.example help\n", errs)
	}
}

// Ensure that an SSH key is an account, on every host of the server.
func TestSSHHost_Key(t *testing.T) {
	t.Parallel()
	address, credential := hostedServer(t)
	h, key, other := startSSH(t, address, "--credential-file", credential), sshtest.Key(t), sshtest.Key(t)
	assert.Contains(t, h.log.String(), "can_play=true")
	assert.NotRegexp(t, "level=(WARN|ERROR)", h.log.String())
	h.terminal(key, "play", "MOVES")
	games := func() []*pb.Game {
		return lines(t, newUser(t, address, "bob").ok("games", "--json"), func() *pb.Game { return new(pb.Game) })
	}
	g := games()[0]
	assert.Regexp(t, "^guest-[a-z2-7]{6}$", g.GetSeats()[0].GetPlayer().GetName())
	h.terminal(key, "race --now", "Others see your race")
	h.terminal(key, "race 3x3 --limit 5", "--limit must be a duration such as 30s, 5m or 2h")
	h.terminal(key, "race 3x3 --limit 5s", "--limit must be 10 to 3600 whole seconds for a race")
	out, code := h.run(sshtest.Key(t), "challenge 3x3") // whose account this creates
	assert.Regexp(t, `(?m)^https://play\.example/c/[a-z2-7]{26}$`, out)
	assert.Equal(t, exitOK, code)
	again := startSSH(t, address, "--credential-file", credential)
	again.terminal(key, "play", "MOVES")
	assert.Len(t, games(), 1, "the game goes on")
	again.terminal(other, "play "+g.GetId(), "that is not your game")
}

// Ensure that a client gets a link that opens its account elsewhere, lists and ends what the link
// opened, and changes its name, but reaches no command that needs a token.
func TestSSHHost_Account(t *testing.T) {
	t.Parallel()
	address, credential := hostedServer(t)
	h, key := startSSH(t, address, "--credential-file", credential), sshtest.Key(t)
	for command, want := range map[string]string{"link": "your first game creates it", "account": "your first game creates it"} {
		out, code := h.run(key, command)
		assert.Contains(t, out, want)
		assert.Equal(t, exitMissing, code)
		out, _ = h.run(nil, command)
		assert.Contains(t, out, "To play, create an SSH key")
	}
	h.terminal(key, "play", "MOVES")
	out, code := h.run(key, "account rename ada --json")
	assert.Regexp(t, `^\{"id":"[a-z2-7]{26}","name":"ada",`, out)
	require.Zero(t, code, out)
	out, _ = h.run(key, "account rename --help")
	assert.NotContains(t, out, "asks", "it cannot ask")
	ok := func(command string) string {
		t.Helper()
		out, code := h.run(key, command)
		require.Zero(t, code, out)
		return out
	}
	c := servertest.Client(t, client.Config{Target: address})
	link := regexp.MustCompile(`^https://play\.example/link#([a-z2-7]{26})\n$`).FindStringSubmatch(ok("link"))
	require.Len(t, link, 2)
	opened, err := c.Players.OpenSession(t.Context(), &pb.OpenSessionRequest{Code: link[1], Comment: "Firefox"})
	require.NoError(t, err)
	assert.Equal(t, "ada", opened.GetPlayer().GetName())
	assert.Contains(t, ok("variants tribolo"), "Play it: ssh -t <this host> play tribolo\n")
	shown := ok("account") // Notes go to another stream, so they may come before or after the rest.
	assert.Contains(t, shown, "ada\n")
	listed := regexp.MustCompile(`(?m)^([a-z2-7]{26})  (?:just now|\d+ (?:s|min) ago) +Firefox$`).FindStringSubmatch(shown)
	require.Len(t, listed, 2, shown)
	assert.Equal(t, "ended "+listed[1]+"\n", ok("account end "+listed[1]))
	assert.NotContains(t, ok("account"), "SESSION")
	out, code = h.run(nil, "account @Ada")
	assert.Regexp(t, `^ada\n\nclassic \w{8}\n`, out)
	assert.Zero(t, code)
	for command, want := range map[string]string{
		"account @a b c d e f g h i": "there is no player \"a b c d e f g h i\"",
		"account @a b --json":        "there is no player \"a b\"",
		"account rename Eve":         "the name was changed recently", "account end abcdef": "your account has no session with this id",
		"account token": `unknown command "token"`, "account keys add": `unknown command "keys"`,
		"account rotate": `unknown command "rotate"`, "account rename": "rename needs a name",
	} {
		out, code := h.run(key, command)
		assert.Contains(t, out, want)
		assert.NotZero(t, code, command)
	}
}

// Ensure that a host tells its operator on startup whether people can play, and what to do if they
// cannot, without showing the credential.
func TestSSHHost_Start(t *testing.T) {
	t.Parallel()
	address, credential := hostedServer(t)
	wrong := filepath.Join(t.TempDir(), "credential")
	require.NoError(t, os.WriteFile(wrong, []byte("gridstand_ssh_aaaaaaaaaaaaaaaaaaaaaaaaaa\n"), 0o600))
	const refused = `level=ERROR msg="the server refuses the service credential; players can only watch" id=ssh-credential-refused ` +
		`remedy="[^"]*gridstand-server ssh-credential create`
	const missing = `level=WARN .* id=ssh-credential-missing remedy=".*gridstand-server ssh-credential create.*--credential-file`
	const away = `level=WARN .* id=ssh-server-away error=.*refused.* remedy="check that the server is running`
	const exposed = "level=WARN .* id=ssh-clear-text"
	for name, c := range map[string]struct {
		server, want string
		args         []string
	}{
		"a refused credential":               {address, refused, []string{"--credential-file", wrong}},
		"no credential":                      {address, missing, nil},
		"no server":                          {"127.0.0.1:1", away, nil},
		"a credential and no server":         {"127.0.0.1:1", away, []string{"--credential-file", credential}},
		"TLS to a server without it":         {address, `id=ssh-server-away error="tls: first record.* remedy=".*--tls`, []string{"--tls"}},
		"a credential that is sent in clear": {"gridstand.invalid", exposed, []string{"--credential-file", credential}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := startSSH(t, c.server, c.args...)
			assert.Regexp(t, c.want, h.log.String())
			assert.Contains(t, h.log.String(), "can_play=false")
			assert.Equal(t, c.want == exposed, strings.Contains(h.log.String(), "ssh-clear-text"))
			if c.want == refused {
				out, _ := h.run(sshtest.Key(t), "variants")
				assert.Contains(t, out, "tribolo", "people can still watch")
				assert.Len(t, regexp.MustCompile(refused).FindAllString(h.log.String(), -1), 2, "with the first session")
			}
			assert.NotContains(t, h.log.String(), "aaaaaaaa", "the credential is secret")
		})
	}
}

// Ensure that a host serves its metrics on an address of their own.
func TestSSHHost_Metrics(t *testing.T) {
	t.Parallel()
	server, _ := serverAtNoon(t)
	h := startSSH(t, server, "--metrics", "127.0.0.1:0", "--max-sessions", "1")
	page := "http://" + regexp.MustCompile(`msg="serving metrics" address=(\S+)`).FindStringSubmatch(h.log.String())[1] + "/metrics"
	c := h.connect(nil)
	_, err := c.NewSession()
	require.NoError(t, err)
	_, err = c.NewSession()
	require.ErrorContains(t, err, "limit of sessions")
	_, text := servertest.Get(t, page)
	assert.Contains(t, text, "\ngridstand_ssh_sessions 1\n")
	assert.Contains(t, text, `gridstand_ssh_refusals_total{reason="sessions"} 1`)
	require.NoError(t, c.Close())
	h.stop()
	_, err = http.Get(page) //nolint:bodyclose // there is none
	require.Error(t, err)
}

// Ensure that a host does not start with invalid settings, and that other programs know its variables.
func TestSSHHost_Settings(t *testing.T) {
	t.Parallel()
	u := newUser(t, "127.0.0.1:1", "host")
	file, key := filepath.Join(t.TempDir(), "file"), filepath.Join(t.TempDir(), "key")
	for _, text := range []string{"", "garbage", "gridstand_ssh_a b", "gridstand_ssh_\xff", "gridstand_ada_aaaa"} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		u.fails(exitUsage, "contains no service credential; create one with gridstand-server ssh-credential create", "ssh-host", "--credential-file", file)
	}
	u.fails(exitUsage, "no such file or directory; if there is no credential yet, create one with gridstand-server ssh-credential create", "ssh-host", "--credential-file", key)
	u.fails(exitUsage, "--max-sessions and --max-sessions-per-address must be 1 or more", "ssh-host", "--max-sessions", "0")
	u.fails(exitUsage, "must be 0 or more", "ssh-host", "--idle-timeout", "-1s")
	u.fails(exitFailed, "; --host-key selects another file", "ssh-host", "--host-key", filepath.Join(file, "key"))
	u.fails(exitUsage, "--listen: address 2222: missing port", "ssh-host", "--host-key", key, "--listen", "2222")
	taken := processtest.Listen(t).Addr().String()
	u.fails(exitFailed, "--listen: listen tcp "+taken, "ssh-host", "--host-key", key, "--listen", taken)
	u.fails(exitFailed, "--metrics: listen tcp "+taken, "ssh-host", "--host-key", key, "--listen", "127.0.0.1:0", "--metrics", taken)
	u.env = []string{"GRIDSTAND_SSH_MAX_SESSIONS=many"}
	u.fails(exitUsage, `GRIDSTAND_SSH_MAX_SESSIONS must be a whole number, not "many"`, "ssh-host")
	u.env = []string{"GRIDSTAND_SSH_HOSTKEY=a"}
	u.fails(exitUsage, "GRIDSTAND_SSH_HOSTKEY is unknown; did you mean GRIDSTAND_SSH_HOST_KEY?", "ssh-host")
	u.env, u.state = nil, "" // as without a home directory
	u.fails(exitUsage, "--host-key must name a file; there is a default only if HOME is set", "ssh-host")
	u.program(nil, nil).sshHostCommand().Flags().VisitAll(func(f *pflag.Flag) {
		unknown, err := usage.CheckEnvironment([]string{usage.Variable(f) + "=1"}, pflag.NewFlagSet("server", pflag.ContinueOnError))
		require.NoError(t, err)
		assert.Empty(t, unknown)
	})
}
