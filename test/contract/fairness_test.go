package contract

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// fairMoment is a moment in the life of a challenge.
type fairMoment int

const (
	fairWaiting   fairMoment = iota // a race before its start
	fairCountdown                   // a race that has been started
	fairOpen                        // the challenge is open and the owner of the attempt plays
	fairOver                        // the challenge is open and the owner's attempt is over
	fairClosed
)

func (m fairMoment) String() string {
	return []string{"waiting", "countdown", "open", "over", "closed"}[m]
}

// fairRole is the role of a caller who tries to see the owner's attempt.
type fairRole string

const (
	fairNobody   fairRole = "nobody"   // a caller without a token
	fairStranger fairRole = "stranger" // a player without an attempt, who may still begin one
	fairCreator  fairRole = "creator"  // of a link or rematch, without an attempt; of a race, with an attempt that stays open
	fairPlaying  fairRole = "playing"  // an entrant whose attempt stays open until the challenge closes
	fairFinished fairRole = "finished" // an entrant whose attempt is over soon after it begins
	fairOwner    fairRole = "owner"
)

// fairCase is a kind of challenge, a moment and a caller.
type fairCase struct {
	kind pb.ChallengeKind
	when fairMoment
	who  fairRole
}

// attempt is the contract's rule for reading the owner's attempt. It returns the reason of the
// error, or "" if the caller may see the attempt.
func (c fairCase) attempt() string {
	knows := c.who == fairOwner || c.who == fairFinished
	switch {
	case c.kind == race && c.when < fairOpen:
		return pb.ReasonChallengeNotOpen
	case (c.kind == daily || c.kind == link) && c.when < fairClosed && !knows:
		return pb.ReasonChallengeOpen
	}
	return ""
}

// listed is the rule for lists of games, either of the owner's games or of all: it reports whether
// the list shows the owner's attempt.
func (c fairCase) listed(ofOwner bool) bool {
	switch {
	case c.attempt() != "":
		return false
	case c.kind == race, c.kind == rematch:
		return true
	}
	return ofOwner && (c.who == fairOwner || c.when == fairClosed)
}

// first reports whether the caller may know the first board, which all attempts have.
func (c fairCase) first() bool {
	switch c.kind {
	case race:
		return c.when >= fairOpen
	case rematch:
		return true
	}
	return c.begins() || c.when == fairClosed
}

// seed reports whether the seed is public.
func (c fairCase) seed() bool {
	return c.kind == rematch || c.when == fairClosed
}

// begins reports whether the caller has an attempt while the challenge is open.
func (c fairCase) begins() bool {
	return c.who == fairOwner || c.who == fairPlaying || c.who == fairFinished || c.who == fairCreator && c.kind == race
}

// fairCaller makes calls in a role.
type fairCaller struct {
	player
	role fairRole
	game *pb.Game // the caller's attempt, if any
}

// fairSeen is a response. It is searched when the secrets are known.
type fairSeen struct {
	what string
	fairCase
	// board reports whether the response may show the boards of the owner's attempt.
	board bool
	data  []byte
}

// fairness is a challenge with an attempt of its owner, and callers who try to see the attempt.
type fairness struct {
	t       *testing.T
	kind    pb.ChallengeKind
	when    fairMoment
	s       *testServer
	clock   *servertest.Clock
	log     servertest.Log
	callers []*fairCaller
	owner   *fairCaller
	// challenge is the challenge. tomorrow is the next daily game, or nil if the kind is not daily.
	challenge, tomorrow *pb.Challenge
	// moves are the first moves of the owner.
	moves []pb.Direction
	// first is the first board of all attempts. boards lists later boards of the owner's attempt,
	// which other attempts do not have before the challenge closes.
	first              []int32
	boards             [][]int32
	seed, tomorrowSeed []byte
	seen               []fairSeen
	// asked has the names of the methods that were called, and the paths, each with whether the server
	// ever answered.
	asked map[string]bool
}

// Ensure that each call, each stream and each page shows a player's attempt and the seed only to
// callers who may see them, and only when they may, and that the log never shows them.
func TestFairness(t *testing.T) {
	t.Parallel()
	for _, kind := range []pb.ChallengeKind{daily, race, link, rematch} {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			clock := servertest.ClockAt(12) // so that the day does not end too early
			clock.Stop()
			f := &fairness{t: t, kind: kind, clock: clock, asked: map[string]bool{}}
			f.s = start(t, server.Memory, func(c *server.Config) {
				*c = c.Unlimited()
				c.StoreNow, c.Logger = clock.Now, f.log.Logger()
			})
			f.run()
		})
	}
}

// run makes every call and reads every page at each moment.
func (f *fairness) run() {
	f.create()
	if f.kind != race {
		f.when = fairOpen
	}
	for ; f.when <= fairClosed; f.when++ {
		f.enter()
		for _, by := range f.callers {
			for _, way := range fairWays() {
				f.call(way, by)
			}
			f.read(by)
		}
	}
	f.when = fairClosed
	f.search()
}

// create creates the challenge and its callers. The entrants of a race join it.
func (f *fairness) create() {
	f.callers = []*fairCaller{{player: player{ctx: f.s.anyone}, role: fairNobody}}
	for _, role := range []fairRole{fairStranger, fairPlaying, fairFinished, fairOwner} {
		f.callers = append(f.callers, &fairCaller{player: f.s.player(f.t), role: role})
	}
	f.owner = f.callers[4]
	if f.kind == daily {
		found := f.s.today(f.t, f.callers[0].player)
		f.challenge, f.tomorrow = found.GetChallenge(), found.GetNext()
		return
	}
	creator := &fairCaller{player: f.s.player(f.t), role: fairCreator}
	f.callers = append(f.callers, creator)
	request := &pb.CreateChallengeRequest{Kind: f.kind, Variant: "classic"}
	switch f.kind {
	case race:
		request.Limit = durationpb.New(time.Hour)
	case rematch:
		g := f.s.game(f.t, creator.player, "classic")
		f.s.resign(f.t, creator.player, g.GetId())
		request.Variant, request.GameId = "", g.GetId()
	}
	f.challenge = f.s.challenge(f.t, creator.player, request)
	f.seed = f.challenge.GetSeed()
	for _, by := range f.entrants() {
		if f.kind == race {
			joined := f.s.enterRace(f.t, by.player, f.challenge.GetId(), false)
			by.game = &pb.Game{Id: entrantOf(joined, by.player).GetGameId()}
		}
	}
}

// entrants returns the callers who have an attempt while the challenge is open.
func (f *fairness) entrants() []*fairCaller {
	return slices.DeleteFunc(slices.Clone(f.callers), func(by *fairCaller) bool { return !f.of(by).begins() })
}

func (f *fairness) by(role fairRole) *fairCaller {
	return f.callers[slices.IndexFunc(f.callers, func(by *fairCaller) bool { return by.role == role })]
}

// of returns the case of a caller at this moment.
func (f *fairness) of(by *fairCaller) fairCase { return fairCase{f.kind, f.when, by.role} }

// enter moves the challenge to the current moment.
func (f *fairness) enter() {
	f.clock.Pass(time.Millisecond) // so that no attempts end at the same time with equal points
	switch f.when {
	case fairCountdown:
		f.challenge = f.s.startRace(f.t, f.by(fairCreator).player, f.challenge.GetId())
	case fairOpen:
		f.open()
	case fairOver:
		f.finish()
	case fairClosed:
		f.seen = append(f.seen, fairSeen{"the log", fairCase{f.kind, fairOver, fairStranger}, false, []byte(f.log.String())})
		f.close()
	}
}

// open opens the challenge and begins the attempts. The owner makes the first moves.
func (f *fairness) open() {
	if f.kind == race {
		f.clock.PassTo(f.challenge.GetOpenTime().AsTime())
	}
	for _, by := range f.entrants() {
		by.game = f.s.attempt(f.t, by.player, f.challenge.GetId())
	}
	f.first = fairTiles(f.owner.game)
	f.play(12)
	f.s.resign(f.t, f.by(fairFinished).player, f.by(fairFinished).game.GetId())
}

// play makes moves for the owner.
func (f *fairness) play(moves int) {
	for range moves {
		move := playertest.Slide(f.owner.game)
		f.move(f.owner, move.GetDirection())
		f.moves = append(f.moves, move.GetDirection())
		f.boards = append(f.boards, fairTiles(f.owner.game))
	}
}

// move makes a caller's move.
func (f *fairness) move(by *fairCaller, d pb.Direction) {
	moved, err := f.s.Move(by.ctx, slide(by.game.GetId(), by.game.GetVersion(), d))
	require.NoError(f.t, err)
	playertest.Apply(by.game, moved.GetEvent())
}

func fairTiles(g *pb.Game) []int32 {
	return slices.Clone(g.GetPosition().GetTwenty48().GetTiles())
}

// finish ends the owner's attempt, while all callers who may see it watch it.
func (f *fairness) finish() {
	streams := map[*fairCaller]*watcher{}
	for _, by := range f.callers {
		c := f.of(by)
		if c.when = fairOpen; c.attempt() == "" {
			streams[by] = f.s.watch(f.t, by.ctx, &pb.WatchRequest{GameId: f.owner.game.GetId(), EveryEvent: true})
			streams[by].game(f.t)
		}
	}
	f.play(3)
	playertest.Apply(f.owner.game, f.s.resign(f.t, f.owner.player, f.owner.game.GetId()))
	for by, w := range streams {
		var data []byte
		for update := w.next(f.t); update != nil; update = w.next(f.t) {
			data = append(data, fairEncode(update)...)
		}
		f.saw("an open stream", by, true, data)
	}
}

// close closes the challenge. Until then, another player makes the owner's moves, and gets the
// owner's boards. In a race, all players resign. Any other challenge closes at its time, not earlier,
// and ends the attempt.
func (f *fairness) close() {
	playing := f.by(fairPlaying)
	if f.kind != race {
		f.clock.PassTo(f.challenge.GetCloseTime().AsTime().Add(-time.Millisecond))
	}
	for i, d := range f.moves {
		f.move(playing, d)
		require.Equal(f.t, f.boards[i], fairTiles(playing.game), "equal moves give equal boards")
	}
	got := f.get(f.challenge)
	assert.Equal(f.t, f.kind == rematch, len(got.GetSeed()) > 0, "a seed before the close")
	if f.kind == race {
		for _, role := range []fairRole{fairPlaying, fairCreator} {
			f.s.resign(f.t, f.by(role).player, f.by(role).game.GetId())
		}
	} else {
		f.clock.Pass(time.Millisecond)
		_, err := f.s.Move(playing.ctx, playertest.Slide(playing.game))
		assert.Equal(f.t, pb.ReasonGameOver, refusalOf(f.t, err).info.GetReason(), "a move after the close")
	}
	waittest.Until(f.t, "the seed is public", func() bool {
		if f.seed = f.get(f.challenge).GetSeed(); len(f.seed) == 0 {
			f.clock.Pass(100 * time.Millisecond) // The server checks from time to time whether a race is over.
		}
		return len(f.seed) > 0
	})
	var end *pb.Game
	waittest.Until(f.t, "the attempt has ended", func() bool {
		end = f.s.get(f.t, playing.game.GetId())
		return end.GetResult() != nil
	})
	assert.Equal(f.t, f.kind != race, end.GetResult().GetReason() == pb.Result_REASON_TIMED_OUT)
	assert.Equal(f.t, playing.game.GetPosition().GetScores(), end.GetResult().GetScores(), "the player keeps the points")
}

// get returns the current state of a challenge.
func (f *fairness) get(c *pb.Challenge) *pb.Challenge {
	return f.s.readChallenge(f.t, f.callers[0].player, c.GetId()).GetChallenge()
}

// saw records a response for search. board reports whether it may show the boards of the owner's
// attempt.
func (f *fairness) saw(what string, by *fairCaller, board bool, data []byte) {
	f.seen = append(f.seen, fairSeen{what, f.of(by), board, data})
}

// search searches all responses for secrets, also for the seed of tomorrow's game, once it is public.
func (f *fairness) search() {
	if f.tomorrow != nil {
		f.clock.PassTo(f.tomorrow.GetCloseTime().AsTime())
		f.tomorrowSeed = f.get(f.tomorrow).GetSeed()
		require.NotEmpty(f.t, f.tomorrowSeed)
	}
	boards, first := fairBoards(f.boards[10:]...), fairBoards(f.first)
	seed, tomorrow := fairSeed(f.seed), fairSeed(f.tomorrowSeed)
	for _, s := range f.seen {
		at := fmt.Sprintf("%s for %s, %v", s.what, s.who, s.when)
		if !s.board {
			assert.False(f.t, fairShows(s.data, boards), "a hidden board in %s", at)
		}
		if !s.first() {
			assert.False(f.t, fairShows(s.data, first), "the first board in %s", at)
		}
		if !s.seed() {
			assert.False(f.t, fairShows(s.data, seed), "the seed in %s", at)
		}
		assert.False(f.t, fairShows(s.data, tomorrow), "the seed of tomorrow's game in %s", at)
	}
	assert.NotContains(f.t, f.log.String(), "level=ERROR")
	for _, m := range methods() {
		assert.NotEqual(f.t, fairUnrelated[m.name], f.asked[m.name], "%s needs a row, or else a reason why it has none", m.name)
	}
	for name, answered := range f.asked {
		assert.True(f.t, answered, "%s is always refused as unavailable", name)
	}
}

// fairSeed returns the forms in which a response can contain a seed.
func fairSeed(seed []byte) [][]byte {
	if len(seed) == 0 {
		return nil
	}
	return [][]byte{
		seed, []byte(hex.EncodeToString(seed)), []byte(base64.RawStdEncoding.EncodeToString(seed)),
		[]byte(base64.RawURLEncoding.EncodeToString(seed)),
	}
}

// fairBoards returns the forms in which a response can contain boards.
func fairBoards(boards ...[]int32) (forms [][]byte) {
	for _, tiles := range boards {
		numbers := strings.Trim(fmt.Sprint(tiles), "[]")
		forms = append(forms, fairEncode(&pb.Twenty48Board{Tiles: tiles}), []byte(numbers), []byte(strings.ReplaceAll(numbers, " ", ",")))
	}
	return forms
}

// fairShows reports whether data contains one of the forms. In JSON, there may be spaces between
// numbers.
func fairShows(data []byte, forms [][]byte) bool {
	dense := bytes.ReplaceAll(data, []byte(", "), []byte(","))
	return slices.ContainsFunc(forms, func(form []byte) bool { return bytes.Contains(data, form) || bytes.Contains(dense, form) })
}

func fairEncode(m proto.Message) []byte {
	encoded, err := proto.Marshal(m)
	if err != nil {
		panic(err) // impossible: the message is valid
	}
	return encoded
}
