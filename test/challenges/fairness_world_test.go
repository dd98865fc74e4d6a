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

// world is a server with a challenge, an attempt by its owner, and readers who try to see the
// attempt.
type world struct {
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

func (w *world) at() stage { return stage(w.stage.Load()) }

// newWorld starts one server, or several that share a miniredis, and creates a challenge and
// its readers.
func newWorld(t *testing.T, kind pb.ChallengeKind, servers int) *world {
	t.Helper()
	w := &world{t: t, kind: kind, clock: newStillClock(), log: &servertest.Log{}, methods: methods(), asked: map[string]bool{}}
	w.config = servertest.Config(t).Unlimited()
	w.config.StoreNow, w.config.Logger = w.clock.now, w.log.Logger()
	w.config.Metrics, w.config.Pprof = "127.0.0.1:0", true
	w.config.Store = server.File(filepath.Join(t.TempDir(), "games.db"))
	if servers > 1 {
		w.clock.redis = redistest.StartMiniredis(t)
		w.clock.redis.SetTime(w.clock.now())
		w.config.Store = "redis://" + w.clock.redis.Addr()
	}
	w.servers, w.stop = make([]*server.Server, servers), make([]func(), servers)
	for i := range servers {
		c := w.config
		c.Listen = process.FreeAddress(t)
		w.servers[i], w.stop[i] = servertest.Start(t, c)
	}
	operator, err := server.Operate(t.Context(), w.config)
	require.NoError(t, err)
	t.Cleanup(operator.Close)
	w.operator = operator
	credential, err := operator.CreateCredential(t.Context(), "host")
	require.NoError(t, err)

	w.anyone = w.reader("anonymous", nil)
	w.owner = w.account("owner", false)
	other, playing, finished, hidden := w.account("other", false), w.account("playing", false), w.account("finished", true), w.account("hidden", true)
	_, _, err = operator.Hide(t.Context(), hidden.player.ID)
	require.NoError(t, err)
	w.readers = []*reader{w.owner, other, playing, finished, hidden, w.anyone}
	w.create()
	if kind != race {
		w.stage.Store(int32(running))
	}
	for _, r := range []*reader{w.owner, playing, finished, hidden} {
		w.join(r)
	}
	if kind == race {
		w.join(w.account("idle", false)) // whose attempt keeps the race open
	}
	for _, r := range []*reader{w.owner, other, finished} {
		w.readers = append(w.readers, w.bySSH(r, credential))
	}
	return w
}

// create creates the challenge.
func (w *world) create() {
	challenges := pb.NewChallengeServiceClient(w.owner.conn)
	if w.kind == daily {
		found, err := challenges.GetChallenge(w.t.Context(), &pb.GetChallengeRequest{Daily: &pb.DailyRequest{}})
		require.NoError(w.t, err)
		w.challenge, w.tomorrow = found.GetChallenge(), found.GetNext()
		require.NotNil(w.t, w.tomorrow)
		return
	}
	request := &pb.CreateChallengeRequest{Kind: w.kind, Variant: "classic"}
	switch w.kind {
	case race:
		request.Limit = durationpb.New(10 * time.Second)
	case rematch:
		g := w.owner.player.Create(w.t, &pb.CreateGameRequest{Variant: "classic"})
		w.owner.player.Resign(w.t, g)
		request.Variant, request.GameId = "", g.GetId()
	}
	created, err := challenges.CreateChallenge(w.owner.player.Ctx, request)
	require.NoError(w.t, err)
	w.challenge = created.GetChallenge()
}

// join starts a reader's attempt.
func (w *world) join(r *reader) {
	if w.kind != race {
		r.game = r.player.Create(w.t, &pb.CreateGameRequest{ChallengeId: w.challenge.GetId()})
		return
	}
	_, err := pb.NewChallengeServiceClient(r.conn).JoinChallenge(r.player.Ctx, &pb.JoinChallengeRequest{ChallengeId: w.challenge.GetId()})
	require.NoError(w.t, err)
	// Ids of attempts are not secret.
	r.game = &pb.Game{Id: id.Derive([]byte("attempt"), []byte(w.challenge.GetId()), []byte(r.player.ID))}
}

// restart replaces all servers with new ones at the same addresses. Everything that was only in
// memory is lost.
func (w *world) restart() {
	for i, s := range w.servers {
		c := w.config
		c.Listen = s.Addr().String()
		w.stop[i]()
		w.servers[i], w.stop[i] = servertest.Start(w.t, c)
	}
	for _, r := range w.readers {
		r.web.CloseIdleConnections()
	}
}

// enter moves the challenge to the next stage.
func (w *world) enter(s stage) {
	if s == expired {
		w.expire()
	}
	w.stage.Store(int32(s))
	switch s {
	case countdown:
		started, err := pb.NewChallengeServiceClient(w.owner.conn).StartChallenge(w.owner.player.Ctx, &pb.StartChallengeRequest{ChallengeId: w.challenge.GetId()})
		require.NoError(w.t, err)
		w.challenge = started.GetChallenge()
	case running:
		w.run()
	case over:
		w.keepStreams()
		w.play(3)
		w.resign(w.owner)
		if w.kind == race {
			w.resign(w.readers[2]) // a reader who is still playing
		}
	case closed:
		w.close()
	}
}

// run opens the challenge and makes the moves of all attempts.
func (w *world) run() {
	if w.kind == race {
		w.clock.forward(w.challenge.GetOpenTime().AsTime().Sub(w.clock.now()))
	}
	seen := map[string]bool{} // boards of other attempts
	for i, r := range w.readers {
		if r.game == nil || r.overSSH() {
			continue
		}
		got, err := r.player.Games.GetGame(r.player.Ctx, &pb.GetGameRequest{GameId: r.game.GetId()})
		require.NoError(w.t, err)
		r.game = got.GetGame()
		w.first = slices.Clone(tiles(r.game))
		if i == 0 {
			w.moved = playertest.Slide(r.game)
			w.play(12)
		}
		for range 12 {
			if i == 0 {
				break
			}
			move := playertest.Slide(r.game) // different from the owner's move
			move.Move = &pb.MoveRequest_Direction{Direction: slices.Max(r.game.GetPosition().GetTwenty48().GetLegalMoves())}
			moved, err := r.player.Games.Move(r.player.Ctx, move)
			require.NoError(w.t, err)
			playertest.Apply(r.game, moved.GetEvent())
			seen[fmt.Sprint(tiles(r.game))] = true
		}
		if r.finishes {
			w.resign(r)
		}
	}
	w.foreign = slices.DeleteFunc(w.foreign, func(b []int32) bool { return seen[fmt.Sprint(b)] })
	last := w.foreign[len(w.foreign)-1]
	require.Equal(w.t, tiles(w.owner.game), last, "another attempt has the owner's board")
	for _, r := range w.readers { // a reader over SSH shares the game of the reader with the same account
		for _, own := range w.readers[:5] {
			if r.player != nil && own.player.ID == r.player.ID {
				r.game = own.game
			}
		}
	}
}

// play makes moves for the owner and records the last two boards, to search for them later.
func (w *world) play(moves int) {
	for left := moves; left > 0; left-- {
		w.owner.player.Move(w.t, w.owner.game)
		if left <= 2 {
			w.foreign = append(w.foreign, slices.Clone(tiles(w.owner.game)))
		}
	}
}

func tiles(g *pb.Game) []int32 { return g.GetPosition().GetTwenty48().GetTiles() }

func (w *world) resign(r *reader) { r.player.Resign(w.t, r.game) }

// expire waits for all streams to end and moves the clock until the challenge, its attempts and the
// challenges that readers created have been removed.
func (w *world) expire() {
	w.clock.forward(2 * time.Minute) // The standings become final a minute after the close.
	w.kept.Wait()
	w.checkHidden()
	if w.tomorrow != nil {
		w.playTomorrow()
	}
	w.clock.forward(w.config.KeepFinished + 10*24*time.Hour) // Challenges by link are open for seven days.
}

// playTomorrow begins an attempt at tomorrow's daily game and moves the clock to its close, to learn
// its first board and its seed. No reader receives them.
func (w *world) playTomorrow() {
	conn := servertest.Dial(w.t, w.servers[0].Addr())
	player := playertest.New(w.t.Context(), w.t, conn, "Ms-tomorrow")
	w.tomorrowFirst = ofBoards(tiles(player.Create(w.t, &pb.CreateGameRequest{ChallengeId: w.tomorrow.GetId()})))
	w.clock.forward(w.tomorrow.GetCloseTime().AsTime().Sub(w.clock.now()))
	got, err := pb.NewChallengeServiceClient(conn).GetChallenge(w.t.Context(), &pb.GetChallengeRequest{
		Daily: &pb.DailyRequest{Variant: w.tomorrow.GetVariant(), Date: w.tomorrow.GetDate()},
	})
	require.NoError(w.t, err)
	require.Equal(w.t, w.tomorrow.GetId(), got.GetChallenge().GetId())
	require.NotEmpty(w.t, got.GetChallenge().GetSeed())
	w.tomorrowSeed = ofSeed(got.GetChallenge().GetSeed())
}

// close moves the clock to the close and waits for all attempts to end. In a race, it moves the
// clock in steps that are too short to count as an outage, and makes a move after each.
func (w *world) close() {
	if w.kind == race {
		pulse := w.owner.player.Create(w.t, &pb.CreateGameRequest{Variant: "6x6"})
		for range 5 {
			w.clock.forward(2500 * time.Millisecond)
			w.owner.player.Move(w.t, pulse)
		}
	} else {
		w.clock.forward(w.challenge.GetCloseTime().AsTime().Sub(w.clock.now()))
	}
	for _, r := range w.readers {
		if r.game == nil || r.game.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED {
			continue
		}
		updates, err := r.player.Games.Watch(r.player.Ctx, &pb.WatchRequest{GameId: r.game.GetId()})
		require.NoError(w.t, err)
		for err == nil {
			var update *pb.WatchResponse
			if update, err = updates.Recv(); update.GetEvent() != nil {
				playertest.Apply(r.game, update.GetEvent())
			}
		}
	}
	challenges := pb.NewChallengeServiceClient(w.anyone.conn)
	require.Eventually(w.t, func() bool { // a race's seed stays hidden while an outage might still postpone the close
		got, err := challenges.GetChallenge(w.t.Context(), &pb.GetChallengeRequest{ChallengeId: w.challenge.GetId()})
		if status.Code(err) == codes.Unavailable { // The disk is slow.
			return false
		}
		require.NoError(w.t, err)
		w.challenge, w.seed = got.GetChallenge(), got.GetChallenge().GetSeed()
		return len(w.seed) > 0
	}, 5*time.Minute, 10*time.Millisecond)
}
