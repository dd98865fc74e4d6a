// Package python_test plays and verifies games with the programs in this folder.
package python_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
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
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	"github.com/gridstand/gridstand/internal/testkit/testmain"
	"github.com/gridstand/gridstand/internal/verify"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
)

func TestMain(m *testing.M) { testmain.Run(m) }

// python runs programs of this folder.
type python struct{ interpreter, generated string }

// setUp finds an interpreter that has what the programs need, and generates the
// contract's code for it. Without one the test is skipped.
func setUp(t *testing.T) python {
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

// run returns what a program prints, and fails with what it says on standard
// error.
func (p python) run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.interpreter, args...)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+p.generated, "PYTHONDONTWRITEBYTECODE=1")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%v: %w\n%s", args[0], err, stderr.String())
	}
	return string(out), err
}

// judge has transcripts verified, and returns what is said of each.
func (p python) judge(t *testing.T, transcripts [][]*pb.Event) []string {
	t.Helper()
	args := []string{"verify.py"}
	folder := t.TempDir()
	for i, events := range transcripts {
		args = append(args, filepath.Join(folder, fmt.Sprintf("%05d.jsonl", i)))
		require.NoError(t, os.WriteFile(args[i+1], lines(t, events), 0o600))
	}
	out, _ := p.run(t, args...) // It fails if one of them does not hold.
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

// TestPrograms_Short holds what the README of this folder says.
func TestPrograms_Short(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.py")
	require.NoError(t, err)
	require.Contains(t, files, "bot.py")
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.LessOrEqual(t, bytes.Count(text, []byte("\n")), 120, file)
	}
}

// TestPrograms_PlayAndVerify lets the bot play on a server, and both verifiers recompute
// its games.
func TestPrograms_PlayAndVerify(t *testing.T) {
	t.Parallel()
	p := setUp(t)
	config := servertest.Config(t)
	config.BotPace = 0
	server, _ := servertest.Start(t, config)
	for name, tc := range map[string]struct {
		flags        []string
		undone, over bool
	}{
		"classic":  {flags: []string{"classic", "--moves=30", "--undo-after=7"}, undone: true},
		"restless": {flags: []string{"restless", "--moves=20"}},
		"3x3":      {flags: []string{"3x3", "--undo-after=3"}, undone: true, over: true},
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
			assert.Regexp(t, `^holds, \d+ versions`, p.judge(t, [][]*pb.Event{events})[0])
		})
	}
}

// TestVerifiers_Agree makes many games in which everything happens that may.
func TestVerifiers_Agree(t *testing.T) {
	t.Parallel()
	p := setUp(t)
	var transcripts [][]*pb.Event
	var kinds []string
	for _, v := range variants.All() {
		for n := range 4 {
			events := life(t, v.ID, rand.New(rand.NewPCG(uint64(n), uint64(len(transcripts)))))
			_, err := verify.Transcript(verify.ReadJSON(bytes.NewReader(lines(t, events))))
			require.NoErrorf(t, err, "%s, game %d", v.ID, n)
			transcripts = append(transcripts, events)
			for _, e := range events {
				kinds = append(kinds, string(e.ProtoReflect().WhichOneof(action).Name()))
			}
		}
	}
	for i, said := range p.judge(t, transcripts) {
		assert.Regexpf(t, `^holds`, said, "game %d of %s:\n%s", i, transcripts[i][0].GetCreated().GetVariant(),
			lines(t, transcripts[i]))
	}
	for i := range action.Fields().Len() {
		assert.Contains(t, kinds, string(action.Fields().Get(i).Name()), "the games have no such event")
	}
}

var action = (&pb.Event{}).ProtoReflect().Descriptor().Oneofs().ByName("action")

// life is a game to its end, drawn at random.
func life(t *testing.T, variant string, random *rand.Rand) []*pb.Event {
	t.Helper()
	v, ok := variants.Current(variant)
	require.True(t, ok)
	ada, bob := replay.Player{ID: "adaadaadaadaadaadaadaadaad", Name: "ada"}, replay.Player{ID: "bobbobbobbobbobbobbobbobbo", Name: "bob"}
	seats := make([]replay.Seat, v.Seats)
	for i := range seats {
		seats[i] = []replay.Seat{{Player: ada}, {Player: ada}, {Player: bob}, {Bot: "greedy"}, {}}[random.IntN(5)]
	}
	raw := make([]byte, game.SeedSize)
	for i := range raw {
		raw[i] = byte(random.Uint32())
	}
	seed, err := game.SeedFromBytes(raw)
	require.NoError(t, err)
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	e, err := replay.Start("gamegamegamegamegamegamega", replay.Entry{Seat: game.NoSeat, Action: replay.Created{
		Variant: v.ID, Revision: v.Revision, Commitment: seed.Commitment(), Seats: seats,
		TurnLimit: time.Duration(random.IntN(2)) * time.Minute,
	}}, seed, at)
	require.NoError(t, err)
	states, events := []*replay.State{e.State}, []*pb.Event{translate.Event(e)}
	for steps := 0; e.State.Status != replay.Finished; steps++ {
		at = at.Add(time.Duration(random.IntN(20)) * time.Second)
		s := e.State
		entry := replay.Entry{Seat: s.Turn()}
		switch n := random.IntN(40); {
		case n == 0 && steps > 20, steps > 300:
			entry.Seat, entry.Action = random.IntN(v.Seats), replay.Resigned{}
			if s.Status == replay.Waiting {
				entry.Seat, entry.Action = game.NoSeat, replay.Abandoned{}
			}
		case n < 4:
			entry.Seat, entry.Action = random.IntN(v.Seats), replay.Joined{Player: []replay.Player{ada, bob}[n%2]}
		case n == 4 && !s.Deadline().IsZero():
			entry.Action = replay.ClockExtended{By: time.Second}
		case n == 5 && !s.Deadline().IsZero():
			entry.Action = replay.TimedOut{StandIn: map[bool]string{false: "greedy"}[s.LastHuman(entry.Seat)]}
			if s.LastHuman(entry.Seat) && steps < 50 {
				continue
			}
			at = s.Deadline()
		case n < 8:
			past := states[random.IntN(len(states))]
			if n == 6 && s.UndoTo() > 0 {
				past = states[s.UndoTo()-1]
			}
			next, err := s.Undo(replay.Entry{Seat: random.IntN(v.Seats), Action: replay.Undone{To: past.Version}}, past, at)
			if err == nil {
				e = next
				states, events = append(states, e.State), append(events, translate.Event(e))
			}
			continue
		default:
			legal := s.LegalMoves()
			if len(legal) == 0 {
				continue
			}
			entry.Action = replay.Moved{Move: legal[random.IntN(len(legal))], ByBot: !s.Seats[entry.Seat].Held()}
		}
		if next, err := s.Apply(entry, at); err == nil {
			e = next
			states, events = append(states, e.State), append(events, translate.Event(e))
		}
	}
	return events
}

// asTold are the fields that verify.py does not check.
var asTold = []string{
	"time", "ranked", "created.private", "created.turn_limit", "created.seats.player", "created.seats.bot",
	"created.seats.stand_in", "moved.by_bot", "position.turn_deadline",
}

// TestVerifiers_AlteredGame alters transcripts in every field, and expects both
// verifiers to catch it.
func TestVerifiers_AlteredGame(t *testing.T) {
	t.Parallel()
	p := setUp(t)
	var what []string
	var altered [][]*pb.Event
	for _, variant := range []string{"classic", "tribolo"} {
		var events []*pb.Event
		for n := uint64(0); len(events) == 0 || len(events) > 60 || events[0].GetCreated().GetSeats()[0].GetPlayer() == nil; n++ {
			events = life(t, variant, rand.New(rand.NewPCG(n, 1)))
		}
		for name, change := range orders(events) {
			what, altered = append(what, variant+": "+name), append(altered, change)
		}
		for _, i := range []int{0, 1, len(events) / 2, len(events) - 1} {
			count := len(leaves(proto.CloneOf(events[i]).ProtoReflect(), ""))
			for n := range count {
				copied := proto.CloneOf(events[i])
				leaf := leaves(copied.ProtoReflect(), "")[n]
				leaf.alter()
				path := fmt.Sprintf("%s, version %d: %s", variant, i+1, leaf.path)
				if !slices.ContainsFunc(asTold, func(told string) bool { return strings.HasPrefix(leaf.path+".", told+".") }) {
					what, altered = append(what, path), append(altered, slices.Replace(slices.Clone(events), i, i+1, copied))
				}
			}
		}
	}
	require.Greater(t, len(altered), 100)
	for i, said := range p.judge(t, altered) {
		assert.Regexp(t, `^does not hold: `, said, what[i])
		_, err := verify.Transcript(verify.ReadJSON(bytes.NewReader(lines(t, altered[i]))))
		assert.Error(t, err, what[i])
	}
}

// orders are transcripts whose events are not all there, or not in their order.
func orders(events []*pb.Event) map[string][]*pb.Event {
	half := len(events) / 2
	swapped := slices.Clone(events)
	swapped[half], swapped[half+1] = swapped[half+1], swapped[half]
	renumbered := proto.CloneOf(events[half])
	renumbered.Version++
	repeated := slices.Insert(slices.Clone(events), half+1, renumbered)
	for i := half + 2; i < len(repeated); i++ {
		repeated[i] = proto.CloneOf(repeated[i])
		repeated[i].Version++
	}
	return map[string][]*pb.Event{
		"no beginning": events[1:], "no end": events[:len(events)-1], "swapped": swapped, "repeated": repeated,
		"one left out": slices.Delete(slices.Clone(events), half, half+1),
		"one twice":    slices.Insert(slices.Clone(events), half, events[half]),
	}
}

// leaf is a place in a message that can be altered.
type leaf struct {
	path  string
	alter func()
}

// leaves are the places in a message: of a list its length, its first entry and,
// where it tells, its order.
func leaves(m protoreflect.Message, path string) []leaf {
	var all []leaf
	m.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		name := strings.TrimPrefix(path+"."+string(field.Name()), ".")
		switch {
		case field.IsList():
			list := v.List()
			if list.Len() == 0 {
				break
			}
			all = append(all, leaf{name, func() { list.Truncate(list.Len() - 1) }})
			if field.Message() != nil {
				all = append(all, leaves(list.Get(0).Message(), name)...)
				break
			}
			first, last := list.Get(0), list.Get(list.Len()-1)
			all = append(all, leaf{name, func() { list.Set(0, other(field, first)) }})
			if !first.Equal(last) && field.Name() != "legal_moves" && field.Name() != "winners" {
				all = append(all, leaf{name, func() { list.Set(0, last); list.Set(list.Len()-1, first) }})
			}
		case field.Message() != nil:
			all = append(all, leaves(v.Message(), name)...)
			all = append(all, leaf{name, func() { m.Clear(field) }})
		default:
			all = append(all, leaf{name, func() { m.Set(field, other(field, v)) }})
		}
		return true
	})
	return all
}

// other is a value that is not v.
func other(field protoreflect.FieldDescriptor, v protoreflect.Value) protoreflect.Value {
	switch field.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(!v.Bool())
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(v.Enum()%4 + 1)
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(v.String() + "x")
	case protoreflect.BytesKind:
		b := bytes.Clone(v.Bytes())
		b[0] ^= 1
		return protoreflect.ValueOfBytes(b)
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(v.Int() + 1)
	default:
		return protoreflect.ValueOfInt32(int32(v.Int()) + 1)
	}
}
