//go:build slow

package contract

import (
	"bytes"
	"context"
	"fmt"
	"maps"
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

	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/internal/testkit/transcript"
	"github.com/gridstand/gridstand/internal/verify"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// pythonFolder contains the programs in Python.
var pythonFolder = filepath.Join("..", "..", "examples", "python")

// python runs these programs.
type python struct{ interpreter, generated string }

// findPython finds a Python interpreter that has the required packages and generates the
// contract's code for it. If there is no such interpreter, the test is skipped.
func findPython(t *testing.T) python {
	t.Helper()
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		path, err := exec.LookPath(name)
		if err != nil || exec.Command(path, "-c", "import google.protobuf, grpc").Run() != nil {
			continue
		}
		p := python{interpreter: path, generated: t.TempDir()}
		cmd := exec.Command("./generate.sh", p.generated)
		cmd.Dir = pythonFolder
		cmd.Env = append(os.Environ(), "PYTHON="+path)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("cannot generate Python from the contract: %v\n%s", err, out)
		}
		return p
	}
	t.Skip("no python3 with grpcio and protobuf: on Debian, apt install " +
		"python3-grpcio python3-protobuf protobuf-compiler-grpc libprotobuf-dev")
	return python{}
}

// run returns the output of a program. The error includes its standard error.
func (p python) run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.interpreter, args...)
	cmd.Dir = pythonFolder
	cmd.Env = append(os.Environ(), "PYTHONPATH="+p.generated, "PYTHONDONTWRITEBYTECODE=1")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%v: %w\n%s", args[0], err, stderr.String())
	}
	return string(out), err
}

// judge runs verify.py on transcripts and returns the verdict for each.
func (p python) judge(t *testing.T, transcripts [][]*pb.Event) []string {
	t.Helper()
	args := []string{"verify.py"}
	folder := t.TempDir()
	for i, events := range transcripts {
		args = append(args, filepath.Join(folder, fmt.Sprintf("%05d.jsonl", i)))
		require.NoError(t, os.WriteFile(args[i+1], lines(t, events), 0o600))
	}
	out, _ := p.run(t, args...) // verify.py exits with an error if a transcript is invalid.
	said := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, said, len(transcripts), out)
	for i := range said {
		name, rest, _ := strings.Cut(said[i], ": ")
		require.Equal(t, args[i+1], name)
		said[i] = rest
	}
	return said
}

func lines(t testing.TB, events []*pb.Event) []byte {
	t.Helper()
	var b []byte
	for _, e := range events {
		var err error
		b, err = protojson.MarshalOptions{}.MarshalAppend(b, &pb.WatchResponse{Update: &pb.WatchResponse_Event{Event: e}})
		require.NoError(t, err)
		b = append(b, '\n')
	}
	return b
}

func parse(t *testing.T, text string) []*pb.Event {
	t.Helper()
	var events []*pb.Event
	for e, err := range verify.ReadJSON(strings.NewReader(text)) {
		require.NoError(t, err)
		events = append(events, e)
	}
	return events
}

// TestPython lets the bot in Python play two games, one with undos, and lets the verifiers in Go and
// in Python judge these games, recorded games of each variant, and games whose events were reordered or
// altered. They must agree.
func TestPython(t *testing.T) {
	t.Parallel()
	p := findPython(t)
	s := start(t, server.Memory, func(c *server.Config) { c.BotPace = 0 })
	var good [][]*pb.Event
	for _, args := range [][]string{{"3x3", "--undo-after=3"}, {"tribolo", "--undo-after=2"}} {
		out, err := p.run(t, append([]string{"bot.py", s.addr.String(), "--name=bot-" + args[0]}, args...)...)
		require.NoError(t, err)
		events := parse(t, out)
		assert.True(t, slices.ContainsFunc(events, func(e *pb.Event) bool { return e.GetUndone() != nil }))
		assert.Equal(t, pb.Result_REASON_NO_MOVES, events[len(events)-1].GetResult().GetReason())
		good = append(good, events)
	}
	for n, v := range variants.All() {
		events, _ := transcript.Life(t, v.ID, rand.New(rand.NewPCG(uint64(n), 1)))
		good = append(good, events)
	}
	var events []*pb.Event
	for n := uint64(0); len(events) == 0 || len(events) > 60 || events[0].GetCreated().GetSeats()[0].GetPlayer() == nil; n++ {
		events, _ = transcript.Life(t, "classic", rand.New(rand.NewPCG(n, 1)))
	}
	bad := slices.Collect(maps.Values(transcript.Reordered(events)))
	for n := range events {
		altered := slices.Clone(events)
		altered[n] = proto.CloneOf(events[n])
		altered[n].GetPosition().GetTwenty48().Tiles[n%16]++
		bad = append(bad, altered)
	}
	for i, said := range p.judge(t, append(good, bad...)) {
		if i < len(good) {
			_, err := verify.Transcript(verify.ReadJSON(bytes.NewReader(lines(t, good[i]))))
			require.NoError(t, err)
			assert.Regexp(t, `^valid`, said, "game %d", i)
			continue
		}
		i -= len(good)
		_, err := verify.Transcript(verify.ReadJSON(bytes.NewReader(lines(t, bad[i]))))
		assert.Error(t, err, "altered game %d", i)
		assert.Regexp(t, `^invalid: `, said, "altered game %d", i)
	}
}
