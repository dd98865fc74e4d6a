package contract

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	"github.com/gridstand/gridstand/internal/testkit/process"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	"github.com/gridstand/gridstand/internal/testkit/transcript"
	"github.com/gridstand/gridstand/internal/verify"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
)

// pythonFolder contains the programs in Python.
var pythonFolder = filepath.Join("..", "..", "examples", "python")

// python runs these programs.
type python struct{ interpreter, generated string }

// findPython finds a Python interpreter that has the required packages and generates the
// contract's code for it. If there is no such interpreter, the test is skipped.
func findPython(t *testing.T) python {
	t.Helper()
	if testing.Short() {
		t.Skip("takes seconds")
	}
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

func lines(t *testing.T, events []*pb.Event) []byte {
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

// Ensure that the programs are as short as their README says.
func TestPython_Short(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(pythonFolder, "*.py"))
	require.NoError(t, err)
	require.Contains(t, files, filepath.Join(pythonFolder, "bot.py"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.LessOrEqual(t, bytes.Count(text, []byte("\n")), 120, file)
	}
}

// TestPython_Usage ensures that the verifier prints its usage if it is given no file.
func TestPython_Usage(t *testing.T) {
	t.Parallel()
	_, err := findPython(t).run(t, "verify.py")
	assert.ErrorContains(t, err, "python3 verify.py FILE...")
}

// TestPython_Malformed ensures that the verifier calls files invalid that are not complete
// transcripts, and continues with the next file.
func TestPython_Malformed(t *testing.T) {
	t.Parallel()
	p := findPython(t)
	events := transcript.Life(t, "classic", rand.New(rand.NewPCG(1, 3)))
	sealed := proto.CloneOf(events[len(events)-1])
	sealed.Seed = nil
	folder := t.TempDir()
	args := []string{"verify.py"}
	for i, text := range [][]byte{
		nil, []byte("{"), []byte("\xff\n"), []byte(`{"event": {"version": "one"}}`),
		lines(t, append(slices.Clone(events[:len(events)-1]), sealed)), lines(t, events),
	} {
		args = append(args, filepath.Join(folder, fmt.Sprint(i)))
		require.NoError(t, os.WriteFile(args[i+1], text, 0o600))
	}
	out, err := p.run(t, args...)
	require.Error(t, err)
	said := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, said, 6)
	for i := range 5 {
		assert.Regexp(t, `: invalid: `, said[i])
	}
	assert.Contains(t, said[4], "the seed is not revealed")
	assert.Regexp(t, `: valid, `, said[5])
}

// TestPython_PlayAndVerify lets the bot play on a server and recomputes its games with both
// verifiers.
func TestPython_PlayAndVerify(t *testing.T) {
	t.Parallel()
	p := findPython(t)
	config := servertest.Config(t)
	config.BotPace = 0
	server, _ := servertest.Start(t, config)
	for name, tc := range map[string]struct {
		flags        []string
		undone, over bool
	}{
		"classic":  {flags: []string{"classic", "--moves=13", "--undo-after=7"}, undone: true},
		"restless": {flags: []string{"restless", "--moves=13"}},
		"3x3":      {flags: []string{"3x3", "--undo-after=3"}, undone: true, over: true},
		"5x5":      {flags: []string{"5x5", "--moves=10", "--undo-after=3"}, undone: true},
		"6x6":      {flags: []string{"6x6", "--moves=10", "--undo-after=3"}, undone: true},
		"twos":     {flags: []string{"twos", "--moves=10", "--undo-after=3"}, undone: true},
		"vt100":    {flags: []string{"vt100", "--moves=10", "--undo-after=3"}, undone: true},
		"tribolo":  {flags: []string{"tribolo", "--undo-after=2"}, undone: true, over: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := p.run(t, append([]string{"bot.py", server.Addr().String(), "--name=bot-" + name}, tc.flags...)...)
			require.NoError(t, err)
			events := parse(t, out)
			undone := slices.ContainsFunc(events, func(e *pb.Event) bool { return e.GetUndone() != nil })
			assert.Equal(t, tc.undone, undone)
			reason := pb.Result_REASON_RESIGNED
			if tc.over {
				reason = pb.Result_REASON_NO_MOVES
			}
			assert.Equal(t, reason, events[len(events)-1].GetResult().GetReason())

			_, err = verify.Transcript(verify.ReadJSON(strings.NewReader(out)))
			require.NoError(t, err)
			assert.Regexp(t, `^valid, \d+ versions`, p.judge(t, [][]*pb.Event{events})[0])
		})
	}
}

// TestPython_BotWaits ensures that the bot waits a second or longer before it repeats a call that was
// refused because of a limit, also if the error has no details, and less after other errors.
func TestPython_BotWaits(t *testing.T) {
	t.Parallel()
	p := findPython(t)
	out, err := p.run(t, "-c", `
import bot, grpc
class Refused(grpc.RpcError):
    def __init__(self, code): self.code = lambda: code
def call(request, **options): raise Refused(request)
for code in bot.PASSING:
    waits = []
    bot.time.sleep = waits.append
    try: bot.patiently(call, code)
    except Refused: print(code.name, *("%.1f" % wait for wait in waits))
`)
	require.NoError(t, err)
	assert.Equal(t, "UNAVAILABLE 0.1 0.2 0.4 0.8 1.6 3.2 6.4\nRESOURCE_EXHAUSTED 1.1 1.2 1.4 1.8 2.6 4.2 7.4\n", out)
}

// TestPython_ServerRestarts_long ensures that the bot continues its game after the server was down.
func TestPython_ServerRestarts_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	p := findPython(t)
	config := servertest.Config(t)
	config.Store = "sqlite:" + filepath.Join(t.TempDir(), "store.db")
	config.Listen = process.FreeAddress(t)
	slow := config
	slow.Limits.MovesPerSecond = 1 // so that the game does not end before the server stops
	server, stop := servertest.Start(t, slow)
	output := make(chan string)
	go func() {
		defer close(output)
		out, err := p.run(t, "bot.py", config.Listen, "6x6", "--moves=500")
		assert.NoError(t, err)
		output <- out
	}()
	games := pb.NewGameServiceClient(servertest.Dial(t, server.Addr()))
	require.Eventually(t, func() bool {
		listed, err := games.ListGames(t.Context(), &pb.ListGamesRequest{})
		return err == nil && len(listed.GetGames()) > 0 && listed.GetGames()[0].GetVersion() > 1
	}, patience, 10*time.Millisecond)
	stop()
	// Refuse the bot a few times, so that its library waits for seconds before it tries again.
	refused, err := net.Listen("tcp", config.Listen)
	require.NoError(t, err)
	for range 3 {
		conn, err := refused.Accept()
		require.NoError(t, err)
		require.NoError(t, conn.Close())
	}
	require.NoError(t, refused.Close())
	servertest.Start(t, config)
	out, ended := <-output
	require.True(t, ended)
	events := parse(t, out)
	assert.NotNil(t, events[len(events)-1].GetResult())
	assert.Regexp(t, `^valid`, p.judge(t, [][]*pb.Event{events})[0])
}

// TestVerifiers_Agree ensures that both verifiers accept many random games, which together contain
// every kind of event.
func TestVerifiers_Agree(t *testing.T) {
	t.Parallel()
	p := findPython(t)
	var transcripts [][]*pb.Event
	var kinds []string
	for _, v := range variants.All() {
		for n := range 4 {
			events := transcript.Life(t, v.ID, rand.New(rand.NewPCG(uint64(n), uint64(len(transcripts)))))
			_, err := verify.Transcript(verify.ReadJSON(bytes.NewReader(lines(t, events))))
			require.NoErrorf(t, err, "%s, game %d", v.ID, n)
			transcripts = append(transcripts, events)
			for _, e := range events {
				kinds = append(kinds, string(e.ProtoReflect().WhichOneof(action).Name()))
			}
		}
	}
	for i, said := range p.judge(t, transcripts) {
		assert.Regexpf(t, `^valid`, said, "game %d of %s:\n%s", i, transcripts[i][0].GetCreated().GetVariant(),
			lines(t, transcripts[i]))
	}
	for i := range action.Fields().Len() {
		assert.Contains(t, kinds, string(action.Fields().Get(i).Name()), "no game has such an event")
	}
}

// TestVerifiers_Attempt ensures that both verifiers accept attempts that end at the deadline of
// their challenge, those of bots included. Only the one in Go checks that an attempt has no undo.
func TestVerifiers_Attempt(t *testing.T) {
	t.Parallel()
	p := findPython(t)
	ended := func(seat replay.Seat) []*pb.Event {
		seed, err := game.SeedFromBytes(make([]byte, game.SeedSize))
		require.NoError(t, err)
		at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
		e, err := replay.Start("gamegamegamegamegamegamega", replay.Entry{Seat: game.NoSeat, Action: replay.Created{
			Variant: "classic", Revision: 1, Commitment: seed.Commitment(), Seats: []replay.Seat{seat},
			Attempt: replay.Attempt{ChallengeID: "daydaydaydaydaydaydaydayda", Kind: replay.Race},
		}}, seed, at)
		require.NoError(t, err)
		events := []*pb.Event{translate.Event(e)}
		moved := replay.Moved{Move: e.State.LegalMoves()[0], ByBot: seat.Bot != ""}
		for _, action := range []replay.Action{moved, replay.TimedOut{}} {
			e, err = e.State.Apply(replay.Entry{Action: action}, at)
			require.NoError(t, err)
			e.State = e.State.Reveal(seed)
			events = append(events, translate.Event(e))
		}
		return events
	}
	var undone []*pb.Event
	for n := uint64(0); !slices.ContainsFunc(undone, func(e *pb.Event) bool { return e.GetUndone() != nil }); n++ {
		undone = transcript.Life(t, "classic", rand.New(rand.NewPCG(n, 2)))
	}
	undone[0].GetCreated().ChallengeId = "daydaydaydaydaydaydaydayda"
	transcripts := [][]*pb.Event{
		ended(replay.Seat{Player: replay.Player{ID: "adaadaadaadaadaadaadaadaad", Name: "ada"}}),
		ended(replay.Seat{Bot: "greedy"}),
	}
	for i, said := range p.judge(t, transcripts) {
		_, err := verify.Transcript(verify.ReadJSON(bytes.NewReader(lines(t, transcripts[i]))))
		assert.Regexp(t, `^valid`, said)
		require.NoError(t, err)
	}
	_, err := verify.Transcript(verify.ReadJSON(bytes.NewReader(lines(t, undone))))
	require.Error(t, err)
}

// TestVerifiers_Seat ensures that neither verifier accepts a move of a seat whose turn it is not. Only
// the one in Go checks the seats of other events.
func TestVerifiers_Seat(t *testing.T) {
	t.Parallel()
	p := findPython(t)
	var events []*pb.Event
	undone := -1
	for n := uint64(0); undone < 0; n++ {
		events = transcript.Life(t, "classic", rand.New(rand.NewPCG(n, 2)))
		undone = slices.IndexFunc(events, func(e *pb.Event) bool { return e.GetUndone() != nil })
	}
	moved := slices.IndexFunc(events, func(e *pb.Event) bool { return e.GetMoved() != nil })
	var a alterations
	for _, change := range []struct {
		event int
		seats []*int32
	}{
		{0, []*int32{proto.Int32(0)}},
		{moved, []*int32{nil, proto.Int32(-1), proto.Int32(1)}},
		{undone, []*int32{nil, proto.Int32(-1), proto.Int32(1)}},
		{len(events) - 1, []*int32{nil, proto.Int32(-1), proto.Int32(1)}},
	} {
		for _, seat := range change.seats {
			copied := proto.CloneOf(events[change.event])
			copied.Seat = seat
			what := fmt.Sprintf("version %d, seat %v", change.event+1, seat)
			altered := slices.Replace(slices.Clone(events), change.event, change.event+1, copied)
			if change.event == moved {
				a.add(what, altered)
				continue
			}
			_, err := verify.Transcript(verify.ReadJSON(bytes.NewReader(lines(t, altered))))
			assert.Error(t, err, what)
		}
	}
	a.check(t, p)
}

var action = (&pb.Event{}).ProtoReflect().Descriptor().Oneofs().ByName("action")

// asTold lists the fields that verify.py takes as given. It checks seat in moves only.
var asTold = []string{
	"time", "ranked", "created.private", "created.turn_limit", "created.seats",
	"joined", "resigned", "abandoned", "timed_out", "clock_extended",
	"moved.by_bot", "moved.gained", "moved.spawned", "moved.taken",
	"position.turn", "position.turn_deadline",
	"position.twenty48.rows", "position.twenty48.columns", "position.twenty48.legal_moves", "position.twenty48.goal_reached",
	"position.tribolo.rows", "position.tribolo.columns", "position.tribolo.legal_moves",
	"result.reason", "result.winners", "result.scores",
}

// TestVerifiers_AlteredGame alters every field of a move in a transcript in turn. Both verifiers
// must detect each change.
func TestVerifiers_AlteredGame(t *testing.T) {
	t.Parallel()
	alterGames(t, []string{"classic"}, func(events int) []int { return []int{events / 2} })
}

// TestVerifiers_AlteredGame_long is like TestVerifiers_AlteredGame, but with games of two kinds and
// also with the first two events and the last one.
func TestVerifiers_AlteredGame_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	altered := alterGames(t, []string{"classic", "tribolo"}, func(events int) []int { return []int{0, 1, events / 2, events - 1} })
	assert.Greater(t, altered, 100)
}

// TestVerifiers_AlteredEvent_long alters every field of one event of every kind in turn. Both
// verifiers must detect each change.
func TestVerifiers_AlteredEvent_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	p := findPython(t)
	var a alterations
	for _, variant := range []string{"classic", "tribolo"} {
		seen := map[protoreflect.Name]bool{}
		for n := uint64(0); n < 12; n++ {
			events := transcript.Life(t, variant, rand.New(rand.NewPCG(n, 77)))
			for i, e := range events {
				if kind := e.ProtoReflect().WhichOneof(action).Name(); !seen[kind] {
					seen[kind] = true
					a.alter(events, i)
				}
			}
		}
		for _, kind := range []protoreflect.Name{"joined", "undone", "resigned", "timed_out", "clock_extended"} {
			assert.True(t, seen[kind], "no game of %s has such an event: %s", variant, kind)
		}
	}
	a.check(t, p)
}

// alterGames alters every field of some events of a game of each given variant in turn, and requires
// that both verifiers detect each change. It returns the number of changes.
func alterGames(t *testing.T, ids []string, indices func(events int) []int) int {
	t.Helper()
	p := findPython(t)
	var a alterations
	for _, variant := range ids {
		var events []*pb.Event
		for n := uint64(0); len(events) == 0 || len(events) > 60 || events[0].GetCreated().GetSeats()[0].GetPlayer() == nil; n++ {
			events = transcript.Life(t, variant, rand.New(rand.NewPCG(n, 1)))
		}
		for name, change := range transcript.Reordered(events) {
			a.add(variant+": "+name, change)
		}
		for _, i := range indices(len(events)) {
			a.alter(events, i)
		}
	}
	a.check(t, p)
	return len(a.transcripts)
}

// alterations are altered transcripts with a description of each.
type alterations struct {
	what        []string
	transcripts [][]*pb.Event
}

func (a *alterations) add(what string, transcript []*pb.Event) {
	a.what, a.transcripts = append(a.what, what), append(a.transcripts, transcript)
}

// alter adds transcripts in which one field of an event is altered, one for each field that
// verify.py does not take as given.
func (a *alterations) alter(events []*pb.Event, i int) {
	for n := range len(transcript.Leaves(events[i])) {
		copied := proto.CloneOf(events[i])
		leaf := transcript.Leaves(copied)[n]
		leaf.Alter()
		told := slices.ContainsFunc(asTold, func(told string) bool { return strings.HasPrefix(leaf.Path+".", told+".") })
		if !told && (leaf.Path != "seat" || copied.GetMoved() != nil) {
			what := fmt.Sprintf("%s, version %d: %s", events[0].GetCreated().GetVariant(), i+1, leaf.Path)
			a.add(what, slices.Replace(slices.Clone(events), i, i+1, copied))
		}
	}
}

// check requires that both verifiers refuse every transcript.
func (a *alterations) check(t *testing.T, p python) {
	t.Helper()
	require.NotEmpty(t, a.transcripts)
	for i, said := range p.judge(t, a.transcripts) {
		assert.Regexp(t, `^invalid: `, said, a.what[i])
		_, err := verify.Transcript(verify.ReadJSON(bytes.NewReader(lines(t, a.transcripts[i]))))
		assert.Error(t, err, a.what[i])
	}
}
