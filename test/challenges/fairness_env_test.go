package challenges_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gridstand/gridstand/internal/id"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	"github.com/gridstand/gridstand/internal/testkit/process"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

const (
	daily   = pb.ChallengeKind_CHALLENGE_KIND_DAILY
	race    = pb.ChallengeKind_CHALLENGE_KIND_RACE
	link    = pb.ChallengeKind_CHALLENGE_KIND_LINK
	rematch = pb.ChallengeKind_CHALLENGE_KIND_REMATCH
)

// stage is the progress of a challenge.
type stage int

const (
	waiting   stage = iota // a race before its start
	countdown              // a race that has been started
	running                // the challenge is open and the owner plays
	over                   // the challenge is open and the owner's attempt is over; in a race, all attempts are over
	closed
	expired // the challenge and its attempts have been removed
	stages
)

func (s stage) String() string {
	return []string{"waiting", "countdown", "running", "over", "closed", "expired"}[s]
}

// stillClock is a store's clock that stands still until a test moves it forward.
type stillClock struct {
	at    atomic.Int64
	redis *miniredis.Miniredis // if not nil, its clock is moved too
}

func newStillClock() *stillClock {
	c := &stillClock{}
	c.at.Store(time.Now().UTC().Truncate(24 * time.Hour).Add(36 * time.Hour).UnixNano()) // noon
	return c
}

func (c *stillClock) now() time.Time { return time.Unix(0, c.at.Load()) }

func (c *stillClock) forward(d time.Duration) {
	c.at.Add(int64(d))
	if c.redis != nil {
		c.redis.SetTime(c.now())
		c.redis.FastForward(d)
	}
}

// env is a server with a challenge, an attempt by its owner, and readers who try to see the
// attempt.
type env struct {
	t        *testing.T
	kind     pb.ChallengeKind
	stage    atomic.Int32
	clock    *stillClock
	config   server.Config
	servers  []*server.Server // assigned to readers in turn
	stop     []func()
	made     int            // number of readers
	kept     sync.WaitGroup // streams that readers keep open
	operator *server.Operator
	log      *servertest.Log
	logged   [stages]string // the log as of the end of each stage
	anyone   *reader

	owner     *reader
	readers   []*reader
	challenge *pb.Challenge
	// first is the board of all attempts at version 1. foreign lists boards that only the owner's
	// attempt had.
	first   []int32
	foreign [][]int32
	seed    []byte // set once the challenge is closed
	// tomorrow is the next day's daily game, or nil if the kind is not daily. It opens when the
	// challenge closes. tomorrowSeed and tomorrowFirst are the encodings of its seed and of the first
	// board of its attempts. They are set after the closed stage.
	tomorrow                    *pb.Challenge
	tomorrowSeed, tomorrowFirst []canary
	moved                       *pb.MoveRequest
	cells                       []cell
	late                        time.Duration // total time spent waiting for late responses
	methods                     map[protoreflect.FullName]method
	asked                       map[string]bool // keyed by method name
}

func (env *env) at() stage { return stage(env.stage.Load()) }

// newEnv starts one server, or several that share a miniredis, and creates a challenge and
// its readers.
func newEnv(t *testing.T, kind pb.ChallengeKind, servers int) *env {
	t.Helper()
	env := &env{t: t, kind: kind, clock: newStillClock(), log: &servertest.Log{}, methods: methods(), asked: map[string]bool{}}
	env.config = servertest.Config(t).Unlimited()
	env.config.StoreNow, env.config.Logger = env.clock.now, env.log.Logger()
	env.config.Metrics, env.config.Pprof = "127.0.0.1:0", true
	env.config.Store = server.File(filepath.Join(t.TempDir(), "games.db"))
	if servers > 1 {
		env.clock.redis = redistest.StartMiniredis(t)
		env.clock.redis.SetTime(env.clock.now())
		env.config.Store = "redis://" + env.clock.redis.Addr()
	}
	env.servers, env.stop = make([]*server.Server, servers), make([]func(), servers)
	for i := range servers {
		c := env.config
		c.Listen = process.FreeAddress(t)
		env.servers[i], env.stop[i] = servertest.Start(t, c)
	}
	operator, err := server.Operate(t.Context(), env.config)
	require.NoError(t, err)
	t.Cleanup(operator.Close)
	env.operator = operator
	credential, err := operator.CreateCredential(t.Context(), "host")
	require.NoError(t, err)

	env.anyone = env.reader("anonymous", nil)
	env.owner = env.account("owner", false)
	other, playing, finished, hidden := env.account("other", false), env.account("playing", false), env.account("finished", true), env.account("hidden", true)
	_, _, err = operator.Hide(t.Context(), hidden.player.ID)
	require.NoError(t, err)
	env.readers = []*reader{env.owner, other, playing, finished, hidden, env.anyone}
	env.create()
	if kind != race {
		env.stage.Store(int32(running))
	}
	for _, r := range []*reader{env.owner, playing, finished, hidden} {
		env.join(r)
	}
	if kind == race {
		env.join(env.account("idle", false)) // whose attempt keeps the race open
	}
	for _, r := range []*reader{env.owner, other, finished} {
		env.readers = append(env.readers, env.bySSH(r, credential))
	}
	return env
}

// create creates the challenge.
func (env *env) create() {
	challenges := pb.NewChallengeServiceClient(env.owner.conn)
	if env.kind == daily {
		found, err := challenges.GetChallenge(env.t.Context(), &pb.GetChallengeRequest{Daily: &pb.DailyRequest{}})
		require.NoError(env.t, err)
		env.challenge, env.tomorrow = found.GetChallenge(), found.GetNext()
		require.NotNil(env.t, env.tomorrow)
		return
	}
	request := &pb.CreateChallengeRequest{Kind: env.kind, Variant: "classic"}
	switch env.kind {
	case race:
		request.Limit = durationpb.New(10 * time.Second)
	case rematch:
		g := env.owner.player.Create(env.t, &pb.CreateGameRequest{Variant: "classic"})
		env.owner.player.Resign(env.t, g)
		request.Variant, request.GameId = "", g.GetId()
	}
	created, err := challenges.CreateChallenge(env.owner.player.Ctx, request)
	require.NoError(env.t, err)
	env.challenge = created.GetChallenge()
}

// join starts a reader's attempt.
func (env *env) join(r *reader) {
	if env.kind != race {
		r.game = r.player.Create(env.t, &pb.CreateGameRequest{ChallengeId: env.challenge.GetId()})
		return
	}
	_, err := pb.NewChallengeServiceClient(r.conn).JoinChallenge(r.player.Ctx, &pb.JoinChallengeRequest{ChallengeId: env.challenge.GetId()})
	require.NoError(env.t, err)
	// Ids of attempts are not secret.
	r.game = &pb.Game{Id: id.Derive([]byte("attempt"), []byte(env.challenge.GetId()), []byte(r.player.ID))}
}

// restart replaces all servers with new ones at the same addresses. Everything that was only in
// memory is lost.
func (env *env) restart() {
	for i, s := range env.servers {
		c := env.config
		c.Listen = s.Addr().String()
		env.stop[i]()
		env.servers[i], env.stop[i] = servertest.Start(env.t, c)
	}
	for _, r := range env.readers {
		r.web.CloseIdleConnections()
	}
}

// enter moves the challenge to the next stage.
func (env *env) enter(s stage) {
	if s == expired {
		env.expire()
	}
	env.stage.Store(int32(s))
	switch s {
	case countdown:
		started, err := pb.NewChallengeServiceClient(env.owner.conn).StartChallenge(env.owner.player.Ctx, &pb.StartChallengeRequest{ChallengeId: env.challenge.GetId()})
		require.NoError(env.t, err)
		env.challenge = started.GetChallenge()
	case running:
		env.run()
	case over:
		env.keepStreams()
		env.play(3)
		env.resign(env.owner)
		if env.kind == race {
			env.resign(env.readers[2]) // a reader who is still playing
		}
	case closed:
		env.close()
	}
}

// run opens the challenge and makes the moves of all attempts.
func (env *env) run() {
	if env.kind == race {
		env.clock.forward(env.challenge.GetOpenTime().AsTime().Sub(env.clock.now()))
	}
	seen := map[string]bool{} // boards of other attempts
	for i, r := range env.readers {
		if r.game == nil || r.overSSH() {
			continue
		}
		got, err := r.player.Games.GetGame(r.player.Ctx, &pb.GetGameRequest{GameId: r.game.GetId()})
		require.NoError(env.t, err)
		r.game = got.GetGame()
		env.first = slices.Clone(tiles(r.game))
		if i == 0 {
			env.moved = playertest.Slide(r.game)
			env.play(12)
		}
		for range 12 {
			if i == 0 {
				break
			}
			move := playertest.Slide(r.game) // different from the owner's move
			move.Move = &pb.MoveRequest_Direction{Direction: slices.Max(r.game.GetPosition().GetTwenty48().GetLegalMoves())}
			moved, err := r.player.Games.Move(r.player.Ctx, move)
			require.NoError(env.t, err)
			playertest.Apply(r.game, moved.GetEvent())
			seen[fmt.Sprint(tiles(r.game))] = true
		}
		if r.finishes {
			env.resign(r)
		}
	}
	env.foreign = slices.DeleteFunc(env.foreign, func(b []int32) bool { return seen[fmt.Sprint(b)] })
	last := env.foreign[len(env.foreign)-1]
	require.Equal(env.t, tiles(env.owner.game), last, "another attempt has the owner's board")
	for _, r := range env.readers { // a reader over SSH shares the game of the reader with the same account
		for _, own := range env.readers[:5] {
			if r.player != nil && own.player.ID == r.player.ID {
				r.game = own.game
			}
		}
	}
}

// play makes moves for the owner and records the last two boards, to search for them later.
func (env *env) play(moves int) {
	for left := moves; left > 0; left-- {
		env.owner.player.Move(env.t, env.owner.game)
		if left <= 2 {
			env.foreign = append(env.foreign, slices.Clone(tiles(env.owner.game)))
		}
	}
}

func tiles(g *pb.Game) []int32 { return g.GetPosition().GetTwenty48().GetTiles() }

func (env *env) resign(r *reader) { r.player.Resign(env.t, r.game) }

// expire waits for all streams to end and moves the clock until the challenge, its attempts and the
// challenges that readers created have been removed.
func (env *env) expire() {
	env.clock.forward(2 * time.Minute) // The standings become final a minute after the close.
	env.kept.Wait()
	env.checkHidden()
	if env.tomorrow != nil {
		env.playTomorrow()
	}
	env.clock.forward(env.config.KeepFinished + 10*24*time.Hour) // Challenges by link are open for seven days.
}

// playTomorrow begins an attempt at tomorrow's daily game and moves the clock to its close, to learn
// its first board and its seed. No reader receives them.
func (env *env) playTomorrow() {
	conn := servertest.Dial(env.t, env.servers[0].Addr())
	player := playertest.New(env.t.Context(), env.t, conn, "Ms-tomorrow")
	env.tomorrowFirst = ofBoards(tiles(player.Create(env.t, &pb.CreateGameRequest{ChallengeId: env.tomorrow.GetId()})))
	env.clock.forward(env.tomorrow.GetCloseTime().AsTime().Sub(env.clock.now()))
	got, err := pb.NewChallengeServiceClient(conn).GetChallenge(env.t.Context(), &pb.GetChallengeRequest{
		Daily: &pb.DailyRequest{Variant: env.tomorrow.GetVariant(), Date: env.tomorrow.GetDate()},
	})
	require.NoError(env.t, err)
	require.Equal(env.t, env.tomorrow.GetId(), got.GetChallenge().GetId())
	require.NotEmpty(env.t, got.GetChallenge().GetSeed())
	env.tomorrowSeed = ofSeed(got.GetChallenge().GetSeed())
}

// close moves the clock to the close and waits for all attempts to end. In a race, it moves the
// clock in steps that are too short to count as an outage, and makes a move after each.
func (env *env) close() {
	if env.kind == race {
		pulse := env.owner.player.Create(env.t, &pb.CreateGameRequest{Variant: "6x6"})
		for range 5 {
			env.clock.forward(2500 * time.Millisecond)
			env.owner.player.Move(env.t, pulse)
		}
	} else {
		env.clock.forward(env.challenge.GetCloseTime().AsTime().Sub(env.clock.now()))
	}
	for _, r := range env.readers {
		if r.game == nil || r.game.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED {
			continue
		}
		updates, err := r.player.Games.Watch(r.player.Ctx, &pb.WatchRequest{GameId: r.game.GetId()})
		require.NoError(env.t, err)
		for err == nil {
			var update *pb.WatchResponse
			if update, err = updates.Recv(); update.GetEvent() != nil {
				playertest.Apply(r.game, update.GetEvent())
			}
		}
	}
	challenges := pb.NewChallengeServiceClient(env.anyone.conn)
	require.Eventually(env.t, func() bool { // a race's seed stays hidden while an outage might still postpone the close
		got, err := challenges.GetChallenge(env.t.Context(), &pb.GetChallengeRequest{ChallengeId: env.challenge.GetId()})
		if status.Code(err) == codes.Unavailable { // The disk is slow.
			return false
		}
		require.NoError(env.t, err)
		env.challenge, env.seed = got.GetChallenge(), got.GetChallenge().GetSeed()
		if len(env.seed) == 0 { // If the machine stalled, an outage was recorded and postpones the close.
			env.clock.forward(100 * time.Millisecond)
		}
		return len(env.seed) > 0
	}, 5*time.Minute, 10*time.Millisecond)
}
