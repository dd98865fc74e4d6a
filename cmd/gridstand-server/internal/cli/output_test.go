package cli

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
)

// fullDisk is a writer that always fails.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// Ensure that a program whose output cannot be written fails, also if it prints help.
func TestRun_FullDisk(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"help"}, {"help", "backup"}, {"backup", "--help"}, {"--version"}, {"version"}, {"completion", "bash"}} {
		var stderr bytes.Buffer
		assert.Equal(t, exitFailed, run(t.Context(), args, fullDisk{}, &stderr), "%v", args)
		assert.Contains(t, stderr.String(), "no space left on device", "%v", args)
	}
}
