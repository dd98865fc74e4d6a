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
	eachKind(t, func(t *testing.T, kind pb.ChallengeKind) { newEnv(t, kind, 1).checkAll(func() {}) })
}

// TestFairness_Restarts_long is like TestFairness_long but uses two servers in turn, which restart after
// each stage.
func TestFairness_Restarts_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	eachKind(t, func(t *testing.T, kind pb.ChallengeKind) {
		env := newEnv(t, kind, 2)
		env.checkAll(env.restart)
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
func (env *env) checkAll(then func()) {
	all := paths()
	for s := env.begins(); s < stages; s++ {
		env.enter(s)
		for _, r := range env.readers {
			for _, p := range all {
				env.call(p, s, r)
			}
			if !r.overSSH() {
				env.get(s, r)
			}
		}
		env.verify(s)
		env.admin(s)
		env.operate(s)
		env.logged[s] = env.log.String()
		then()
	}
	env.checkCells()
	env.checkTapes()
	env.t.Logf("%d cells", len(env.cells))
}

// checkHidden checks that the games of a hidden player appear only in that player's own list.
func (env *env) checkHidden() {
	_, _, err := env.operator.Hide(env.t.Context(), env.owner.player.ID)
	require.NoError(env.t, err)
	for _, r := range env.readers[:6] {
		public, err := env.byGRPC(r, env.methods["gridstand.v1.ListGamesRequest"], &pb.ListGamesRequest{})
		require.NoError(env.t, err)
		assert.Empty(env.t, find(public, ofBoards(env.foreign...)), r.role)
		own, err := env.byGRPC(r, env.methods["gridstand.v1.ListGamesRequest"], &pb.ListGamesRequest{PlayerId: env.owner.player.ID})
		require.NoError(env.t, err)
		assert.NotEmpty(env.t, find(own, ofBoards(env.foreign...)), r.role)
	}
	_, _, err = env.operator.Unhide(env.t.Context(), env.owner.player.ID)
	require.NoError(env.t, err)
}

// verify verifies the owner's attempt once it is over, as a reader without an account would.
func (env *env) verify(s stage) {
	if s < over || s == over && env.attempt(s, env.anyone).reason != "" {
		return
	}
	reader, err := client.Dial(client.Config{Target: env.servers[0].Addr().String()})
	require.NoError(env.t, err)
	defer func() { assert.NoError(env.t, reader.Close()) }()
	report, err := verify.Game(env.t.Context(), reader, env.owner.game.GetId())
	if s == expired {
		got, _ := reason(err)
		assert.Equal(env.t, pb.ReasonGameNotFound, got)
		return
	}
	if !env.public(s) {
		var open *verify.OpenError
		require.ErrorAs(env.t, err, &open)
		assert.Equal(env.t, env.challenge.GetCloseTime().AsTime(), open.Until)
		return
	}
	require.NoError(env.t, err)
	require.NotNil(env.t, report.Challenge)
	assert.Equal(env.t, env.kind == rematch, report.Challenge.Unproved)
	assert.Positive(env.t, report.Challenge.Rank)
	assert.Equal(env.t, env.owner.game.GetPosition().GetScores(), report.Scores)
}

// call makes a call over gRPC. Unless an SSH host makes the reader's calls, it also opens a stream
// over each browser protocol, and makes any other call over Connect with JSON.
func (env *env) call(p path, s stage, r *reader) {
	request := p.request(env, s, r)
	if request == nil {
		return
	}
	m := env.methods[request.ProtoReflect().Descriptor().FullName()]
	env.asked[m.name] = true
	rule := p.want(env, s, r)
	if gone := env.gone(request); s == expired && gone != "" {
		rule = refused(gone)
	}
	if p.account && r.player == nil {
		rule = refused(pb.ReasonBadToken)
	}
	doors := map[string]func() ([]byte, error){"gRPC": func() ([]byte, error) { return env.byGRPC(r, m, request) }}
	if !m.streams && !r.overSSH() {
		doors["JSON"] = func() ([]byte, error) { return env.byJSON(r, m, request) }
	}
	if m.streams {
		for protocol, conn := range r.browsers {
			doors[protocol] = func() ([]byte, error) { return env.through(r, conn, m, request) }
		}
	}
	for door, ask := range doors {
		env.check(fmt.Sprintf("%s by %s for %s, %v", p.name, door, r.role, s), s, rule, ask)
		env.cells[len(env.cells)-1].tomorrow = s < closed && env.namesTomorrow(request)
	}
}

// lateness is the maximum total time that the test waits for late lists and standings.
const lateness = 5 * time.Minute

// check makes a request and checks the response. If the required data may appear late, or the store
// is slow to answer, it repeats the request.
func (env *env) check(name string, s stage, rule want, ask func() ([]byte, error)) {
	env.t.Helper()
	var answer []byte
	var err error
	for began := time.Now(); ; {
		answer, err = ask()
		late := status.Code(err) == codes.Unavailable || rule.reason == "" && (err != nil || rule.board == yes && find(answer, ofBoards(env.foreign...)) == "")
		if !late || env.late > lateness {
			break
		}
		<-time.After(5 * time.Millisecond)
		env.late += time.Since(began)
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
	assert.Equal(env.t, rule.reason, got, "%s: %v", name, err)
	if rule.metadata != nil {
		assert.Equal(env.t, rule.metadata, metadata, name)
	}
	env.cells = append(env.cells, cell{name: name, answer: answer, want: rule, before: s < running})
}

// checkCells searches all recorded responses for the seed and the boards.
func (env *env) checkCells() {
	seed, foreign := ofSeed(env.seed), ofBoards(env.foreign...)
	first := append(ofBoards(env.first), foreign...)
	for _, c := range env.cells {
		boards := foreign
		if c.before {
			boards = first
		}
		check := func(what string, rule presence, canaries []canary) {
			switch form := find(c.answer, canaries); rule {
			case no:
				assert.Empty(env.t, form, "%s shows the %s", c.name, what)
			case yes:
				assert.NotEmpty(env.t, form, "%s does not show the %s", c.name, what)
			case either:
			}
		}
		check("board", c.want.board, boards)
		check("seed", c.want.seed, seed)
		check("seed of tomorrow's game", no, env.tomorrowSeed)
		if c.tomorrow {
			check("first board of tomorrow's game", no, env.tomorrowFirst)
		}
	}
	for name, m := range env.methods {
		_, skipped := unrelated[strings.TrimSuffix(string(name.Name()), "Request")]
		assert.NotEqual(env.t, skipped, env.asked[m.name], "%s needs a row or a reason for its omission", m.name)
	}
}
