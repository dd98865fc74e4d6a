//go:build slow

package contract

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/limits"
)

// typescriptFolder contains the bot in TypeScript.
var typescriptFolder = filepath.Join("..", "..", "examples", "typescript")

// runner is the npm package that runs TypeScript, with its pinned version.
const runner = "tsx@4.23.15"

// runTypeScript runs the bot and returns its output. If the runner cannot be installed, the test is
// skipped.
func runTypeScript(t *testing.T, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("npx"); err != nil {
		t.Skip("npx is not installed; it comes with Node.js")
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tsx := []string{"--yes", "--prefer-offline", runner}
	if out, err := exec.CommandContext(ctx, "npx", append(tsx, "--version")...).CombinedOutput(); err != nil {
		t.Skipf("npx cannot install %s: %v\n%s", runner, err, out)
	}
	cmd := exec.CommandContext(ctx, "npx", append(append(tsx, "bot.ts"), args...)...)
	cmd.Dir = typescriptFolder
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s", stderr.String())
	return string(out)
}

// Ensure that the bot plays a game to its end even if the server sometimes refuses a call,
// and that it prints the address of the game's page.
func TestTypeScript(t *testing.T) {
	t.Parallel()
	c := servertest.Config(t)
	c.Limits[limits.MovesPerSecond] = 30
	server, _ := servertest.Start(t, c)
	out := runTypeScript(t, "http://"+server.Addr().String(), "3x3")
	said := regexp.MustCompile(`^watch it: http://[^/]+/g/([a-z2-7]{26})\n(\d+) points after (\d+) moves\n$`).FindStringSubmatch(out)
	require.NotNil(t, said, "%s", out)
	conn := servertest.Dial(t, server.Addr())
	got, err := pb.NewGameServiceClient(conn).GetGame(t.Context(), &pb.GetGameRequest{GameId: said[1]})
	require.NoError(t, err)
	assert.Equal(t, pb.Result_REASON_NO_MOVES, got.GetGame().GetResult().GetReason())
	assert.True(t, got.GetGame().GetSeats()[0].GetPlayer().GetBot())
}
