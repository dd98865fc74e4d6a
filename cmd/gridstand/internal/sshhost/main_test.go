package sshhost

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	gossh "golang.org/x/crypto/ssh"
	"google.golang.org/grpc/test/bufconn"

	"github.com/gridstand/gridstand/internal/testkit/testmain"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

func TestMain(m *testing.M) { testmain.Run(m) }

const limit = waittest.Patience

// testHost is a host with a test's own Serve function. Its connections are pipes in memory, also for
// tests in a synctest bubble.
type testHost struct {
	t        *testing.T
	listener *pipeListener
	key      gossh.Signer
	metrics  *Metrics
	stop     func() // waits until the host has stopped
}

// serve is the type of a test's Serve function.
type serve func(ctx context.Context, s *Session) int

// start starts a host whose configuration the test can change.
func start(t *testing.T, serve serve, change ...func(*Config)) *testHost {
	t.Helper()
	listener := &pipeListener{bufconn.Listen(1 << 14), make(chan net.Addr)}
	key, err := HostKey(filepath.Join(t.TempDir(), "key"))
	require.NoError(t, err)
	config := Config{
		HostKey: key, Serve: serve, Metrics: NewMetrics(), Limits: DefaultLimits(), StopTimeout: limit,
		Logger: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, c := range change {
		c(&config)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- Serve(ctx, listener, config)
		close(done)
	}()
	h := &testHost{t: t, listener: listener, key: key, metrics: config.Metrics}
	h.stop = func() {
		cancel()
		assert.NoError(t, waittest.Receive(t, "the host to stop", done))
	}
	t.Cleanup(h.stop)
	return h
}

// guest returns an authentication method for a client without a key.
func guest() gossh.AuthMethod {
	return gossh.KeyboardInteractive(func(string, string, []string, []bool) ([]string, error) { return nil, nil })
}

// address is the address of most clients.
const address = "192.0.2.1"

// tryDial connects from an address.
func (h *testHost) tryDial(from string, config gossh.ClientConfig) (*gossh.Client, error) {
	h.t.Helper()
	config.User, config.HostKeyCallback = "ada", gossh.FixedHostKey(h.key.PublicKey())
	c, channels, requests, err := gossh.NewClientConn(h.connect(from), "", &config)
	if err != nil {
		return nil, err
	}
	client := gossh.NewClient(c, channels, requests)
	h.t.Cleanup(func() { _ = client.Close() })
	return client, nil
}

// dialFrom connects from an address with the given authentication methods, or as a guest. The test fails if
// it cannot.
func (h *testHost) dialFrom(from string, methods ...gossh.AuthMethod) *gossh.Client {
	h.t.Helper()
	if methods == nil {
		methods = []gossh.AuthMethod{guest()}
	}
	c, err := h.tryDial(from, gossh.ClientConfig{Auth: methods})
	require.NoError(h.t, err)
	return c
}

func (h *testHost) dial(methods ...gossh.AuthMethod) *gossh.Client {
	return h.dialFrom(address, methods...)
}

// output runs a command without a terminal and returns its output.
func output(t *testing.T, c *gossh.Client, command string) string {
	t.Helper()
	s, err := c.NewSession()
	require.NoError(t, err)
	out, err := s.Output(command)
	require.NoError(t, err)
	return string(out)
}

// pane is a session with a terminal.
type pane struct {
	*gossh.Session
	in  io.Writer
	out io.Reader
}

// open opens a terminal of 60 × 20 cells and runs a command in it.
func open(t *testing.T, c *gossh.Client, command string) *pane {
	t.Helper()
	s, err := c.NewSession()
	require.NoError(t, err)
	p := &pane{Session: s}
	var errIn, errOut error
	p.in, errIn = s.StdinPipe()
	p.out, errOut = s.StdoutPipe()
	err = s.RequestPty("xterm-256color", 20, 60, gossh.TerminalModes{gossh.ECHO: 0})
	require.NoError(t, errors.Join(errIn, errOut, err, s.Start(command)))
	return p
}

// rest reads until the session ends, and returns the output and the exit code.
func (p *pane) rest(t *testing.T) (string, int) {
	t.Helper()
	out, err := io.ReadAll(p.out)
	require.NoError(t, err)
	err = p.Wait()
	var exit *gossh.ExitError
	if assert.ErrorAs(t, err, &exit) {
		return string(out), exit.ExitStatus()
	}
	return string(out), 0
}

// until is a serve function that waits for the session to end.
func until(ctx context.Context, _ *Session) int {
	<-ctx.Done()
	return exitFailed
}
