//go:build slow

package sitetest_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/internal/testkit/testmain"
	"github.com/gridstand/gridstand/internal/testkit/transcript"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/internal/verify"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func TestMain(m *testing.M) { testmain.Run(m) }

// node runs a script with Node and returns the script's output.
func node(t *testing.T, args ...string) (string, error) {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node: on Debian, apt install nodejs")
	}
	cmd := exec.CommandContext(waittest.Context(t), path, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%v: %w\n%s", args, err, stderr.String())
	}
	return string(out), err
}

// verdict is the result of the page's verifier for a transcript.
type verdict struct {
	OK      bool
	Version int32
	Problem string
	Checks  struct {
		Versions, Moves, Tiles int
		Seed                   []byte
	}
}

// change replaces one event of a transcript.
type change struct {
	At    int             `json:"at"`
	Event json.RawMessage `json:"event"`
}

// judged is an item in the input of judge.mjs, which verifies a transcript with the page's verifier: first as
// it is, and then with each of its changes to single events.
type judged struct {
	Events  []json.RawMessage `json:"events"`
	Changed []change          `json:"changed"`
}

// run runs a script and returns the lines of JSON that the script prints. It passes the
// script a file that contains input as JSON.
func run[T any](t *testing.T, script string, input any) []T {
	t.Helper()
	file := filepath.Join(t.TempDir(), "input.json")
	b, err := json.Marshal(input)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, b, 0o600))
	out, err := node(t, script, file)
	require.NoError(t, err)
	var said []T
	for lines := bufio.NewScanner(strings.NewReader(out)); lines.Scan(); {
		var v T
		require.NoError(t, json.Unmarshal(lines.Bytes(), &v), lines.Text())
		said = append(said, v)
	}
	return said
}

func encode(t *testing.T, options protojson.MarshalOptions, events ...*pb.Event) []json.RawMessage {
	t.Helper()
	encoded := make([]json.RawMessage, len(events))
	for i, e := range events {
		b, err := options.Marshal(e)
		require.NoError(t, err)
		encoded[i] = b
	}
	return encoded
}

// TestVerifier_Altered alters each field of each event in turn, and checks that the page and the Go
// verifier agree on every altered transcript, and that the page refuses transcripts in which events are
// missing, repeated or swapped.
func TestVerifier_Altered(t *testing.T) {
	t.Parallel()
	var inputs []judged
	var paths []string
	var holds []bool
	for _, variant := range []string{"classic", "tribolo"} {
		random := rand.New(rand.NewPCG(1, 16))
		events, _ := transcript.Life(t, variant, random)
		for len(events) < 10 || len(events) > 14 {
			events, _ = transcript.Life(t, variant, random)
		}
		input := judged{Events: encode(t, protojson.MarshalOptions{}, events...)}
		paths, holds = append(paths, variant), append(holds, true)
		for i, e := range events {
			for n := range transcript.Leaves(e) {
				copied := proto.CloneOf(e)
				leaf := transcript.Leaves(copied)[n]
				leaf.Alter()
				paths = append(paths, fmt.Sprintf("%s, version %d: %s", variant, i+1, leaf.Path))
				input.Changed = append(input.Changed, change{At: i, Event: encode(t, protojson.MarshalOptions{}, copied)[0]})
				_, err := verify.Transcript(transcript.All(slices.Replace(slices.Clone(events), i, i+1, copied)))
				holds = append(holds, err == nil)
			}
		}
		inputs = append(inputs, input)
		for name, reordered := range transcript.Reordered(events) {
			inputs = append(inputs, judged{Events: encode(t, protojson.MarshalOptions{}, reordered...)})
			paths, holds = append(paths, variant+", "+name), append(holds, false)
		}
	}
	said := run[verdict](t, "judge.mjs", inputs)
	require.Len(t, said, len(holds))
	for i, v := range said {
		assert.Equalf(t, holds[i], v.OK, "%s: %s", paths[i], v.Problem)
		assert.Equal(t, v.OK, v.Problem == "", paths[i])
	}
}
