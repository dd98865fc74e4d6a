package challenges_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	"github.com/gridstand/gridstand/internal/verify"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// method describes a method of the contract.
type method struct {
	name    string // /service/method
	answer  protoreflect.MessageType
	streams bool
}

// methods returns all methods of the contract, keyed by the name of the request message.
func methods() map[protoreflect.FullName]method {
	all := map[protoreflect.FullName]method{}
	protoregistry.GlobalFiles.RangeFilesByPackage("gridstand.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				m := service.Methods().Get(j)
				answer, err := protoregistry.GlobalTypes.FindMessageByName(m.Output().FullName())
				if err != nil {
					panic(err) // impossible: the generated code registers all messages
				}
				all[m.Input().FullName()] = method{fmt.Sprintf("/%s/%s", service.FullName(), m.Name()), answer, m.IsStreamingServer()}
			}
		}
		return true
	})
	return all
}

// cell is a recorded response. Once the seed is known, the test searches it for the seed and
// boards.
type cell struct {
	name   string
	answer []byte
	want   want
	before bool // the race is not open yet, so the first board is also hidden
	// tomorrow reports whether the call names tomorrow's daily game and that game is not open yet.
	tomorrow bool
}

// Ensure that each call of the contract, each stream and each page shows a player's attempt and the
// seed only to readers who may see them, and only when they may; and that nothing else that the
// server sends or logs contains the boards or the seed.
func TestFairness_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	eachKind(t, func(t *testing.T, kind pb.ChallengeKind) { newWorld(t, kind, 1).checkAll(func() {}) })
}

// TestFairness_Restarts_long is like TestFairness_long but uses two servers in turn, which restart after
// each stage.
func TestFairness_Restarts_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	eachKind(t, func(t *testing.T, kind pb.ChallengeKind) {
		w := newWorld(t, kind, 2)
		w.checkAll(w.restart)
	})
}

func eachKind(t *testing.T, test func(t *testing.T, kind pb.ChallengeKind)) {
	t.Helper()
	for _, kind := range []pb.ChallengeKind{daily, race, link, rematch} {
		t.Run(strings.ToLower(strings.TrimPrefix(kind.String(), "CHALLENGE_KIND_")), func(t *testing.T) {
			t.Parallel()
			test(t, kind)
		})
	}
}

// checkAll makes every request at each stage, and calls the function then after each stage.
func (w *world) checkAll(then func()) {
	all := paths()
	for s := w.begins(); s < stages; s++ {
		w.enter(s)
		for _, r := range w.readers {
			for _, p := range all {
				w.call(p, s, r)
			}
			if !r.overSSH() {
				w.get(s, r)
			}
		}
		w.verify(s)
		w.admin(s)
		w.operate(s)
		w.logged[s] = w.log.String()
		then()
	}
	w.checkCells()
	w.checkTapes()
	w.t.Logf("%d cells", len(w.cells))
}

// checkHidden checks that the games of a hidden player appear only in that player's own list.
func (w *world) checkHidden() {
	_, _, err := w.operator.Hide(w.t.Context(), w.owner.player.ID)
	require.NoError(w.t, err)
	for _, r := range w.readers[:6] {
		public, err := w.byGRPC(r, w.methods["gridstand.v1.ListGamesRequest"], &pb.ListGamesRequest{})
		require.NoError(w.t, err)
		assert.Empty(w.t, find(public, ofBoards(w.foreign...)), r.role)
		own, err := w.byGRPC(r, w.methods["gridstand.v1.ListGamesRequest"], &pb.ListGamesRequest{PlayerId: w.owner.player.ID})
		require.NoError(w.t, err)
		assert.NotEmpty(w.t, find(own, ofBoards(w.foreign...)), r.role)
	}
	_, _, err = w.operator.Unhide(w.t.Context(), w.owner.player.ID)
	require.NoError(w.t, err)
}

// verify verifies the owner's attempt once it is over, as a reader without an account would.
func (w *world) verify(s stage) {
	if s < over || s == over && w.attempt(s, w.anyone).reason != "" {
		return
	}
	reader, err := client.Dial(client.Config{Target: w.servers[0].Addr().String()})
	require.NoError(w.t, err)
	defer func() { assert.NoError(w.t, reader.Close()) }()
	report, err := verify.Game(w.t.Context(), reader, w.owner.game.GetId())
	if s == expired {
		got, _ := reason(err)
		assert.Equal(w.t, pb.ReasonGameNotFound, got)
		return
	}
	if !w.public(s) {
		var open *verify.OpenError
		require.ErrorAs(w.t, err, &open)
		assert.Equal(w.t, w.challenge.GetCloseTime().AsTime(), open.Until)
		return
	}
	require.NoError(w.t, err)
	require.NotNil(w.t, report.Challenge)
	assert.Equal(w.t, w.kind == rematch, report.Challenge.Unproved)
	assert.Positive(w.t, report.Challenge.Rank)
	assert.Equal(w.t, w.owner.game.GetPosition().GetScores(), report.Scores)
}

// call makes a call over gRPC. Unless an SSH host makes the reader's calls, it also opens a stream
// over each browser protocol, and makes any other call over Connect with JSON.
func (w *world) call(p path, s stage, r *reader) {
	request := p.request(w, s, r)
	if request == nil {
		return
	}
	m := w.methods[request.ProtoReflect().Descriptor().FullName()]
	w.asked[m.name] = true
	rule := p.want(w, s, r)
	if gone := w.gone(request); s == expired && gone != "" {
		rule = refused(gone)
	}
	if p.account && r.player == nil {
		rule = refused(pb.ReasonBadToken)
	}
	doors := map[string]func() ([]byte, error){"gRPC": func() ([]byte, error) { return w.byGRPC(r, m, request) }}
	if !m.streams && !r.overSSH() {
		doors["JSON"] = func() ([]byte, error) { return w.byJSON(r, m, request) }
	}
	if m.streams {
		for protocol, conn := range r.browsers {
			doors[protocol] = func() ([]byte, error) { return w.through(r, conn, m, request) }
		}
	}
	for door, ask := range doors {
		w.check(fmt.Sprintf("%s by %s for %s, %v", p.name, door, r.role, s), s, rule, ask)
		w.cells[len(w.cells)-1].tomorrow = s < closed && w.namesTomorrow(request)
	}
}

// lateness is the maximum total time that the test waits for late lists and standings.
const lateness = 5 * time.Minute

// check makes a request and checks the response. If the required data may appear late, or the store
// is slow to answer, it repeats the request.
func (w *world) check(name string, s stage, rule want, ask func() ([]byte, error)) {
	w.t.Helper()
	var answer []byte
	var err error
	for began := time.Now(); ; {
		answer, err = ask()
		late := status.Code(err) == codes.Unavailable || rule.reason == "" && (err != nil || rule.board == yes && find(answer, ofBoards(w.foreign...)) == "")
		if !late || w.late > lateness {
			break
		}
		<-time.After(5 * time.Millisecond)
		w.late += time.Since(began)
		began = time.Now()
	}
	got, metadata := "", map[string]string(nil)
	if err != nil {
		got, metadata = reason(err)
		if status.Code(err) == codes.InvalidArgument {
			got = invalidArgument
		}
		answer = append(answer, encode(status.Convert(err).Proto())...)
	}
	assert.Equal(w.t, rule.reason, got, "%s: %v", name, err)
	if rule.metadata != nil {
		assert.Equal(w.t, rule.metadata, metadata, name)
	}
	w.cells = append(w.cells, cell{name: name, answer: answer, want: rule, before: s < running})
}

// checkCells searches all recorded responses for the seed and the boards.
func (w *world) checkCells() {
	seed, foreign := ofSeed(w.seed), ofBoards(w.foreign...)
	first := append(ofBoards(w.first), foreign...)
	for _, c := range w.cells {
		boards := foreign
		if c.before {
			boards = first
		}
		check := func(what string, rule presence, canaries []canary) {
			switch form := find(c.answer, canaries); rule {
			case no:
				assert.Empty(w.t, form, "%s shows the %s", c.name, what)
			case yes:
				assert.NotEmpty(w.t, form, "%s does not show the %s", c.name, what)
			case either:
			}
		}
		check("board", c.want.board, boards)
		check("seed", c.want.seed, seed)
		check("seed of tomorrow's game", no, w.tomorrowSeed)
		if c.tomorrow {
			check("first board of tomorrow's game", no, w.tomorrowFirst)
		}
	}
	for name, m := range w.methods {
		_, skipped := unrelated[strings.TrimSuffix(string(name.Name()), "Request")]
		assert.NotEqual(w.t, skipped, w.asked[m.name], "%s needs a row or a reason for its omission", m.name)
	}
}
