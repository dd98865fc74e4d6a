package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that JSON for a terminal keeps its meaning but contains only printable
// characters.
func TestHarmless(t *testing.T) {
	t.Parallel()
	const text = "a\x1b[2J\r\n\u007f\u0085\u00a0\u200b\u202e\u2028\ufeff\U000e0001\U0001f600 é 漢 \"\\"
	line, err := json.Marshal(map[string]string{text: text})
	require.NoError(t, err)
	escaped := harmless(line)
	for _, r := range string(escaped) {
		require.True(t, unicode.IsPrint(r), "%q", escaped)
	}
	assert.Contains(t, string(escaped), "\U0001f600 é 漢")
	var back map[string]string
	require.NoError(t, json.Unmarshal(escaped, &back))
	assert.Equal(t, map[string]string{text: text}, back)
}

// fullDisk is a writer that always fails.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// Ensure that a program whose output cannot be written fails, also if it prints help.
func TestProgram_FullDisk(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"help"}, {"help", "play"}, {"play", "--help"}, {"--version"}, {"version"}, {"completion", "bash"}} {
		var stderr bytes.Buffer
		p := &program{out: fullDisk{}, err: &stderr, terminal: func(any) bool { return false }}
		assert.Equal(t, exitFailed, p.run(t.Context(), args), "%v", args)
		assert.Contains(t, stderr.String(), "no space left on device", "%v", args)
	}
}

// Ensure that a program that waits for its input can be interrupted.
func TestProgram_InterruptedInput(t *testing.T) {
	t.Parallel()
	in, silent := io.Pipe()
	defer silent.Close()
	for _, args := range [][]string{{"verify", "-"}, {"account", "import"}} {
		ctx, interrupt := context.WithCancel(t.Context())
		interrupt()
		var stderr bytes.Buffer
		p := &program{in: in, out: io.Discard, err: &stderr, store: client.NewStore(""), terminal: func(any) bool { return false }}
		assert.Equal(t, exitInterrupted, p.run(ctx, args), "%v", args)
		assert.Empty(t, stderr.String(), "%v", args)
	}
}

// Ensure that a terminal with another encoding than UTF-8 gets only ASCII, and a file only with --plain.
func TestASCII(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env             string
		terminal, plain bool
		want            string
	}{
		{"", true, false, "16×11 ⬛🟦"},
		{"LC_ALL=C", true, false, "16x11 [][]"},
		{"LC_ALL=C", false, false, "16×11 ⬛🟦"},
		{"LANG=de_DE.UTF-8", true, false, "16×11 ⬛🟦"},
		{"LC_CTYPE=de_DE.utf8", true, false, "16×11 ⬛🟦"},
		{"LANG=de_DE", true, false, "16x11 [][]"},
		{"LANG=C.UTF-8", false, true, "16x11 [][]"},
	} {
		p := &program{env: []string{c.env}, terminal: func(any) bool { return c.terminal }}
		p.flags.plain = c.plain
		assert.Equal(t, c.want, p.text("%s", "16×11 ⬛🟦"), c)
	}
}

// Ensure that a table tells a live attempt at a challenge and a private game from other games of the variant.
func TestProgram_Stage(t *testing.T) {
	t.Parallel()
	p := &program{clock: func() time.Time { return time.Unix(0, 0) }} // the time of the games' last moves
	live, finished := pb.GameStatus_GAME_STATUS_ACTIVE, pb.GameStatus_GAME_STATUS_FINISHED
	assert.Equal(t, "live", p.stage(&pb.Game{Status: live}))
	assert.Equal(t, "attempt", p.stage(&pb.Game{Status: live, ChallengeId: evilID}))
	resigned := &pb.Result{Reason: pb.Result_REASON_RESIGNED}
	assert.Equal(t, "resigned", p.stage(&pb.Game{Status: finished, ChallengeId: evilID, Result: resigned}))
	assert.Equal(t, "private, live", p.stage(&pb.Game{Status: live, Private: true}))
	assert.Equal(t, "?", p.stage(&pb.Game{Status: 99}), "of a newer server")
}
