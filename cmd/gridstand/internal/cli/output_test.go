package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

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

// Ensure that a game in progress without a recent event is called idle.
func TestStage(t *testing.T) {
	t.Parallel()
	now := time.Now()
	p := &program{clock: func() time.Time { return now }}
	for want, g := range map[string]*pb.Game{
		"live":       {Status: pb.GameStatus_GAME_STATUS_ACTIVE, UpdateTime: timestamppb.New(now.Add(-29 * time.Second))},
		"exhibition": {Status: pb.GameStatus_GAME_STATUS_ACTIVE, UpdateTime: timestamppb.New(now), Exhibition: true},
		"idle":       {Status: pb.GameStatus_GAME_STATUS_ACTIVE, UpdateTime: timestamppb.New(now.Add(-31 * time.Second))},
		"waiting":    {Status: pb.GameStatus_GAME_STATUS_WAITING, UpdateTime: timestamppb.New(now.Add(-time.Hour))},
		"finished":   {Status: pb.GameStatus_GAME_STATUS_FINISHED, UpdateTime: timestamppb.New(now.Add(-time.Hour))},
	} {
		assert.Equal(t, want, p.stage(g))
	}
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
	for _, args := range [][]string{{"verify", "-"}, {"login", "--token"}} {
		ctx, interrupt := context.WithCancel(t.Context())
		interrupt()
		var stderr bytes.Buffer
		p := &program{in: in, out: io.Discard, err: &stderr, store: client.NewStore(""), terminal: func(any) bool { return false }}
		assert.Equal(t, exitInterrupted, p.run(ctx, args), "%v", args)
		assert.Empty(t, stderr.String(), "%v", args)
	}
}

// Ensure that a table shows enough of each id to distinguish it, and no control
// characters.
func TestTable_IDs(t *testing.T) {
	t.Parallel()
	const a, b, c = "abcdefgh234567abcdefgh2345", "abcdefgh2x4567abcdefgh2345", "zbcdefgh234567abcdefgh2345"
	for _, test := range []struct{ ids, want []string }{
		{[]string{a, c}, []string{"abcdef", "zbcdef"}},
		{[]string{a, a, c}, []string{"abcdef", "abcdef", "zbcdef"}},
		{[]string{a, b, c}, []string{"abcdefgh23", "abcdefgh2x", "zbcdefgh23"}},
		{[]string{"", "abc", "\x1b[2Jabcdefgh"}, []string{"", "abc", "[2Jabc"}},
		{[]string{a + "a", a + "b"}, []string{a, a}},
	} {
		var rows [][]string
		for _, id := range test.ids {
			rows = append(rows, []string{id, "x"})
		}
		text := table([]column{{title: "GAME", id: true}, {title: "X"}}, rows, 0, false)
		var got []string
		for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n")[1:] {
			got = append(got, strings.TrimSpace(strings.TrimSuffix(line, "x")))
		}
		assert.Equal(t, test.want, got)
	}
}
