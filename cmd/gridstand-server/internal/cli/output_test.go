package cli

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	"github.com/gridstand/gridstand/server"
)

// fullDisk is a writer that always fails.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// Ensure that an interrupted command says so.
func TestRun_Interrupted(t *testing.T) {
	t.Parallel()
	store := server.File(filepath.Join(t.TempDir(), "games.db"))
	c := servertest.Config(t)
	c.Store = store
	_, stop := servertest.Start(t, c)
	stop()
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	for _, args := range [][]string{{"rebuild"}, {"quarantine", "--before", "now"}, {"hide", "ada"}, {"backup", filepath.Join(t.TempDir(), "copy.db")}} {
		var stdout, stderr bytes.Buffer
		assert.Equal(t, exitInterrupted, run(ctx, append(args, "--store", store), &stdout, &stderr), "%v", args)
		assert.Contains(t, stderr.String(), "gridstand-server: interrupted\n", "%v", args)
	}
}

// Ensure that a program whose output cannot be written fails, also if it prints help.
func TestRun_FullDisk(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"help"}, {"help", "backup"}, {"backup", "--help"}, {"--version"}, {"version"}, {"completion", "bash"}} {
		var stderr bytes.Buffer
		assert.Equal(t, exitFailed, run(t.Context(), args, fullDisk{}, &stderr), "%v", args)
		assert.Contains(t, stderr.String(), "no space left on device", "%v", args)
	}
}
