// Package sitetest_test tests the page's JavaScript with Node. It checks the rules against
// the test vectors in docs/verify.md, and the verifier and the wording against the Go
// programs.
package sitetest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	"github.com/gridstand/gridstand/internal/testkit/process"
	"github.com/gridstand/gridstand/internal/testkit/testmain"
	"github.com/gridstand/gridstand/internal/testkit/transcript"
	"github.com/gridstand/gridstand/internal/verify"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func TestMain(m *testing.M) { testmain.Run(m) }

const site = "../site"

// TestSite_NoMarkupFromText checks that players' names and other strings are never
// interpreted as HTML or code.
func TestSite_NoMarkupFromText(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(site, "*.js"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.NotRegexp(t, `innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|setHTML`, string(b), file)
	}
}

// node runs a script with Node and returns the script's output.
func node(t *testing.T, args ...string) (string, error) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node: on Debian, apt install nodejs")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%v: %w\n%s", args, err, stderr.String())
	}
	return string(out), err
}

// TestModules_long runs the tests that are written in JavaScript.
func TestModules_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	files, err := filepath.Glob("*.test.mjs")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	out, err := node(t, append([]string{"--test", "--test-reporter=tap"}, files...)...)
	require.NoError(t, err, out)
	t.Log(regexp.MustCompile(`(?m)^# (pass|fail|skipped) .*|.* ms$`).FindAllString(out, -1))
}

// verdict is the result of the page's verifier for a transcript.
type verdict struct {
	OK      bool
	Version int32
	Problem string
	Unknown bool
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

// judged is an item in judge.mjs's input: a transcript, along with changes to single
// events.
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

// judge verifies transcripts with the page's verifier: each transcript first as it is, and
// then with each of its changes.
func judge(t *testing.T, transcripts ...judged) []verdict {
	t.Helper()
	return run[verdict](t, "judge.mjs", transcripts)
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

// programs returns the Go verifier's result for a transcript.
func programs(events []*pb.Event) (verify.Report, error) {
	return verify.Transcript(func(yield func(*pb.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	})
}

// life returns the transcript of a random game with at least fewest and at most most
// events.
func life(t *testing.T, variant string, random *rand.Rand, fewest, most int) []*pb.Event {
	t.Helper()
	for {
		if events := transcript.Life(t, variant, random); len(events) >= fewest && len(events) <= most {
			return events
		}
	}
}

// TestVerifier_Games_long checks that the page accepts valid games, which together contain
// every kind of event.
func TestVerifier_Games_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	var games [][]*pb.Event
	var encoded []judged
	for _, v := range variants.All() {
		for n := range uint64(5) {
			events := transcript.Life(t, v.ID, rand.New(rand.NewPCG(n, 15)))
			// The server omits default values, but other programs may write them.
			for _, options := range []protojson.MarshalOptions{{}, {EmitUnpopulated: true}} {
				games, encoded = append(games, events), append(encoded, judged{Events: encode(t, options, events...)})
			}
		}
	}
	actions := (&pb.Event{}).ProtoReflect().Descriptor().Oneofs().ByName("action")
	var happened []string
	for _, events := range games {
		for _, e := range events {
			happened = append(happened, string(e.ProtoReflect().WhichOneof(actions).Name()))
		}
	}
	for i := range actions.Fields().Len() {
		assert.Contains(t, happened, string(actions.Fields().Get(i).Name()), "no game has such an event")
	}
	said := judge(t, encoded...)
	require.Len(t, said, len(games))
	for i, events := range games {
		report, err := programs(events)
		require.NoError(t, err)
		require.Truef(t, said[i].OK, "%s, version %d: %s", report.Variant, said[i].Version, said[i].Problem)
		assert.Equal(t, report.Versions, said[i].Checks.Versions)
		assert.Equal(t, report.Moves, said[i].Checks.Moves)
		assert.Equal(t, report.Spawned, said[i].Checks.Tiles)
		assert.Equal(t, events[len(events)-1].GetSeed(), said[i].Checks.Seed)
	}
}

// TestVerifier_Altered alters each field of each event in turn, and checks that the page
// and the Go verifier agree on every altered transcript.
func TestVerifier_Altered(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, variant := range []string{"classic", "twos", "tribolo"} {
		t.Run(variant, func(t *testing.T) {
			t.Parallel()
			testAltered(t, life(t, variant, rand.New(rand.NewPCG(1, 16)), 10, 20))
		})
	}
}

// TestVerifier_Altered_long is like TestVerifier_Altered but uses longer games.
func TestVerifier_Altered_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	games := uint64(3)
	if process.Race { // The Go verifier would take minutes for all three games.
		games = 1
	}
	for _, variant := range []string{"classic", "twos", "restless", "tribolo"} {
		for n := range games {
			t.Run(fmt.Sprint(variant, " ", n), func(t *testing.T) {
				t.Parallel()
				testAltered(t, life(t, variant, rand.New(rand.NewPCG(n, 17)), 20, 60))
			})
		}
	}
}

func testAltered(t *testing.T, events []*pb.Event) {
	t.Helper()
	var changed []change
	var paths []string
	var holds []bool
	for i, e := range events {
		for n := range transcript.Leaves(e) {
			copied := proto.CloneOf(e)
			leaf := transcript.Leaves(copied)[n]
			leaf.Alter()
			paths = append(paths, fmt.Sprintf("version %d: %s", i+1, leaf.Path))
			changed = append(changed, change{At: i, Event: encode(t, protojson.MarshalOptions{}, copied)[0]})
			_, err := programs(slices.Replace(slices.Clone(events), i, i+1, copied))
			holds = append(holds, err == nil)
		}
	}
	said := judge(t, judged{Events: encode(t, protojson.MarshalOptions{}, events...), Changed: changed})
	require.Len(t, said, 1+len(changed))
	require.True(t, said[0].OK, said[0].Problem)
	wrong := 0
	for i, v := range said[1:] {
		assert.Equalf(t, holds[i], v.OK, "%s: %s", paths[i], v.Problem)
		if !v.OK {
			wrong++
			assert.NotEmpty(t, v.Problem, paths[i])
		}
	}
	t.Logf("%d events, %d changes, %d of them wrong", len(events), len(changed), wrong)
}

// TestVerifier_Reordered_long checks transcripts in which events are missing, repeated or
// swapped.
func TestVerifier_Reordered_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	for _, variant := range []string{"classic", "tribolo"} {
		var names []string
		var unknown []bool
		var encoded []judged
		for name, events := range transcript.Reordered(life(t, variant, rand.New(rand.NewPCG(1, 17)), 10, 100)) {
			_, err := programs(events)
			require.Error(t, err, name)
			names, unknown = append(names, name), append(unknown, errors.Is(err, verify.ErrLive))
			encoded = append(encoded, judged{Events: encode(t, protojson.MarshalOptions{}, events...)})
		}
		for i, said := range judge(t, encoded...) {
			assert.False(t, said.OK, names[i])
			assert.Equal(t, unknown[i], said.Unknown, "%s: %s", names[i], said.Problem)
		}
	}
}
