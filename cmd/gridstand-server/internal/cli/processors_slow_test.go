//go:build slow && linux

package cli

import (
	"io"
	"net/http"
	"os/exec"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Ensure that a server on a machine with one processor can serve calls while its file is synced,
// and that the operator can choose otherwise.
func TestProcess_OneProcessor(t *testing.T) {
	if _, err := exec.LookPath("taskset"); err != nil {
		t.Skip("needs taskset")
	}
	for _, tt := range []struct {
		name, setting, store, want string
	}{
		{"a file", "", "sqlite:", "2"},
		{"a file, GOMAXPROCS is set", "1", "sqlite:", "1"},
		{"memory", "", "memory", "1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("GOMAXPROCS", tt.setting)
			p := startWith(t, []string{"taskset", "-c", oneProcessor(t)},
				"--store", tt.store, "--data", t.TempDir(), "--metrics", "127.0.0.1:0")
			p.waitFor(t, servingMetrics)
			response, err := http.Get("http://" + servingMetrics.FindStringSubmatch(p.output())[1] + "/metrics")
			require.NoError(t, err)
			defer response.Body.Close()
			metrics, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			assert.Regexp(t, `(?m)^go_sched_gomaxprocs_threads `+tt.want+`$`, string(metrics))
		})
	}
}

// oneProcessor returns the number of a processor that this process may use.
func oneProcessor(t *testing.T) string {
	t.Helper()
	var allowed unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &allowed))
	for i := range len(allowed) * 64 {
		if allowed.IsSet(i) {
			return strconv.Itoa(i)
		}
	}
	require.Fail(t, "no processor is allowed")
	return ""
}
