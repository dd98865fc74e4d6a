package cli

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	outputtest "github.com/gridstand/gridstand/internal/testkit/output"
	processtest "github.com/gridstand/gridstand/internal/testkit/process"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	"github.com/gridstand/gridstand/internal/testkit/testmain"
	tlstest "github.com/gridstand/gridstand/internal/testkit/tls"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// asServer is an environment variable that makes the test binary run the program.
const asServer = "TEST_AS_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		os.Exit(Main())
	}
	for _, variable := range os.Environ() { // settings of a server on the developer's machine
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "GRIDSTAND_") {
			if err := os.Unsetenv(name); err != nil {
				panic(err)
			}
		}
	}
	debug.SetGCPercent(400) // Collecting garbage would take a third of the processor time.
	testmain.Run(m, redistest.StillDialing)
}

// call runs the program and returns its exit code and output.
func call(t *testing.T, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(waittest.Context(t), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestHealthcheck(t *testing.T) {
	t.Parallel()
	plain, _ := servertest.Start(t, servertest.Config(t))
	c := servertest.Config(t)
	c.TLSCert, c.TLSKey = tlstest.NewAuthority(t).Issue(t)
	encrypted, _ := servertest.Start(t, c)
	zoned := servertest.Config(t)
	var err error
	zoned.Listener, err = net.Listen("tcp", "[::1%lo]:0") // needs IPv6 and an interface lo
	zone := plain.Addr().String()
	if err == nil {
		inZone, _ := servertest.Start(t, zoned)
		zone = strings.Replace(inZone.Addr().String(), "::1]", "::1%lo]", 1)
	}

	for _, tt := range []struct {
		name string
		args []string
		want string // empty if the check succeeds
	}{
		{"with a zone", []string{zone}, ""},
		{"plain", []string{plain.Addr().String()}, ""},
		{"with TLS", []string{"--tls", encrypted.Addr().String()}, ""},
		{"with the server's settings", []string{"--tls-cert", c.TLSCert, "--listen", encrypted.Addr().String()}, ""},
		{"plain to TLS", []string{encrypted.Addr().String()}, "check the address and --tls"},
		{"TLS to plain", []string{"--tls", plain.Addr().String()}, "does not look like a TLS handshake; check the address and --tls"},
	} {
		t.Log(tt.name)
		code, stdout, stderr := call(t, append([]string{"healthcheck", "--timeout", "5m"}, tt.args...)...)
		assert.Empty(t, stdout)
		if tt.want == "" {
			assert.Zero(t, code, stderr)
			continue
		}
		assert.Equal(t, 1, code)
		assert.Contains(t, stderr, tt.want)
		assert.NotContains(t, stderr, "desc =")
	}
}

// process is an instance of the program that runs outside the test process.
type process struct {
	*processtest.Process
	cmd  *exec.Cmd
	addr *net.TCPAddr
	log  outputtest.Buffer
}

var serving = regexp.MustCompile(`msg=serving address=(\S+)`)

// launch starts the program.
func launch(t *testing.T, args ...string) *process {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("signals are not available")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	p := &process{cmd: exec.Command(self, append([]string{"--listen", "127.0.0.1:0"}, args...)...)}
	p.cmd.Env = append(os.Environ(), asServer+"=1")
	p.cmd.Stderr = &p.log
	p.Process = processtest.Start(t, p.cmd)
	t.Cleanup(p.Kill)
	return p
}

// startProcess starts the program and waits until it is serving.
func startProcess(t *testing.T, args ...string) *process {
	t.Helper()
	p := launch(t, args...)
	p.waitFor(t, serving)
	var err error
	p.addr, err = net.ResolveTCPAddr("tcp", serving.FindStringSubmatch(p.output())[1])
	require.NoError(t, err)
	return p
}

func (p *process) output() string { return p.log.String() }

func (p *process) waitFor(t *testing.T, line *regexp.Regexp) {
	t.Helper()
	waittest.Until(t, "the log has "+line.String(), func() bool { return line.MatchString(p.output()) })
}

// end waits for the process to exit and returns its exit code.
func (p *process) end(t *testing.T) int {
	t.Helper()
	waittest.Receive(t, "the end of the process", p.Exited())
	return p.cmd.ProcessState.ExitCode()
}

func TestProcess_Signal(t *testing.T) {
	t.Parallel()
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			p := startProcess(t, "--store", "memory", "--listen", ":0")
			assert.Contains(t, p.output(), fmt.Sprintf(" page=http://localhost:%d/ ", p.addr.Port))
			assert.Contains(t, p.output(), "games are kept in memory and are lost when the server ends")
			require.NoError(t, p.cmd.Process.Signal(signal))
			assert.Equal(t, 0, p.end(t))
			assert.Contains(t, p.output(), "msg=stopped")
		})
	}
}
