package sshhost

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	gossh "golang.org/x/crypto/ssh"
)

// Ensure that a session receives the type, size and size changes of its client's terminal,
// and only those environment variables that concern language and colors.
func TestSession_Terminal(t *testing.T) {
	t.Parallel()
	h := start(t, func(ctx context.Context, s *Session) int {
		_, _ = fmt.Fprintln(s.Out, s.Terminal, s.Size, s.Env, s.Address, s.Line)
		line := ""
		for !strings.HasSuffix(line, "\r") {
			line += string(<-s.Keys)
		}
		_, _ = fmt.Fprintln(s.Out, line)
		for ctx.Err() == nil {
			select {
			case size := <-s.Resized: // earlier sizes may be skipped
				if size.Width != 100 {
					_, _ = fmt.Fprintln(s.Out, size)
					return 3
				}
			case <-ctx.Done():
			}
		}
		return 3
	})
	c := h.dial()
	s, err := c.NewSession()
	require.NoError(t, err)
	for name, allowed := range map[string]bool{
		"LANG": true, "LC_ALL": true, "COLORTERM": true, "NO_COLOR": true,
		"PATH": false, "LD_PRELOAD": false, "GRIDSTAND_SERVER": false, "TERM": false, "LANG\x00": false,
	} {
		assert.Equal(t, allowed, s.Setenv(name, "x") == nil, "%q", name)
	}
	assert.Error(t, s.Setenv("LANG", strings.Repeat("x", maxVariable+1)))
	for range maxVariables {
		err = s.Setenv("LC_TIME", "x")
	}
	require.Error(t, err, "the end is missing")
	p := &pane{Session: s}
	p.in, err = s.StdinPipe()
	require.NoError(t, err)
	p.out, err = s.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, s.RequestPty("vt220", 20, 60, nil))
	require.Error(t, s.RequestPty("xterm", 20, 60, nil), "a second terminal")
	require.NoError(t, s.Start("watch @ada lovelace"))

	require.NoError(t, s.WindowChange(30, 100))
	require.NoError(t, s.WindowChange(40_000_000, 80_000_000))
	_, err = p.in.Write([]byte("q\r"))
	require.NoError(t, err)
	out, code := p.rest(t)
	assert.Equal(t, 3, code)
	lines := strings.Split(out, "\r\n")
	assert.True(t, strings.HasPrefix(lines[0], "true {60 20} [") && strings.HasSuffix(lines[0], "TERM=vt220] 192.0.2.1 watch @ada lovelace"), "%s", lines[0])
	assert.NotContains(t, lines[0], "PATH")
	assert.Equal(t, "q\r", lines[1]+"\r")
	assert.Equal(t, fmt.Sprint(Size{Width: maxColumns, Height: maxRows}), lines[2])
}

// Ensure that all other features of SSH are refused: there is no shell, and no access to
// the host's network.
func TestSession_Refused(t *testing.T) {
	t.Parallel()
	h := start(t, whoAmI)
	c := h.dial()
	_, err := c.Dial("tcp", "127.0.0.1:22")
	require.ErrorContains(t, err, "only games are served here: no forwarding")
	_, err = c.Listen("tcp", "127.0.0.1:0")
	require.ErrorContains(t, err, "denied")
	_, _, err = c.OpenChannel("x11", nil)
	require.Error(t, err)
	ok, _, err := c.SendRequest("streamlocal-forward@openssh.com", true, gossh.Marshal(struct{ Path string }{"/tmp/x"}))
	require.NoError(t, err)
	assert.False(t, ok)

	s, err := c.NewSession()
	require.NoError(t, err)
	require.Error(t, s.RequestSubsystem("sftp"))
	for _, request := range []string{"auth-agent-req@openssh.com", "x11-req", "window-change", "break", "unknown"} {
		ok, err := s.SendRequest(request, true, []byte("\xff\xff\xff\xff"))
		require.NoError(t, err)
		assert.False(t, ok, request)
	}
	// Malformed terminal requests: most contain a length that exceeds the payload.
	for _, payload := range []string{"", "\xff\xff\xff\xff", "\xff\xff\xff\xfc\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", "\x00\x00\x00\x02\x1b["} {
		ok, err := s.SendRequest("pty-req", true, []byte(payload))
		require.NoError(t, err)
		assert.False(t, ok)
	}
	require.Error(t, s.RequestPty("xterm\x1b[2J", 20, 60, nil))
	out, err := s.Output("help")
	require.NoError(t, err)
	assert.Equal(t, "guest", string(out), "the session should still work")
	assert.Equal(t, "guest", output(t, c, "help"), "the host should still work")
}

// Ensure that a panic ends only its own session.
func TestSession_Panic(t *testing.T) {
	t.Parallel()
	h := start(t, func(ctx context.Context, s *Session) int {
		if s.Line == "race" {
			panic("broken")
		}
		return until(ctx, s)
	})
	c := h.dial()
	other := open(t, c, "watch")
	_, code := open(t, c, "race").rest(t)
	assert.Equal(t, exitFailed, code)
	h.stop()
	out, _ := other.rest(t)
	assert.Equal(t, errStopping.Error()+".\r\n", out)
}

// Ensure that stopping the host ends the sessions with a message, and closes connections
// that clients keep open.
func TestServe_Stop(t *testing.T) {
	t.Parallel()
	h := start(t, until, func(c *Config) { c.StopTimeout = 1 })
	one, two := open(t, h.dial(), ""), open(t, h.dial(), "race")
	silent := h.connect(address) // a connection whose client does not log in
	defer silent.Close()
	h.stop()
	for _, p := range []*pane{one, two} {
		_ = p.Wait()
	}
	_, err := h.listener.Dial()
	require.Error(t, err)
}
