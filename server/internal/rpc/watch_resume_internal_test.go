package rpc

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/limits"
)

// sentStream is a stream that counts the messages that are sent on it. Each takes a while.
type sentStream struct {
	bareStream

	ctx   context.Context
	delay time.Duration
	sent  int
}

func (s *sentStream) Context() context.Context { return s.ctx }

func (s *sentStream) SendMsg(m any) error {
	m.(*encoded).data.Free()
	time.Sleep(s.delay) //nolint:forbidigo // The bubble's clock is fake.
	s.sent++
	return nil
}

// oneGame stores a single game.
type oneGame struct {
	store.Games

	log []store.Record
}

func (g *oneGame) Append(_ context.Context, _ string, e store.Entry) (store.Appended, error) {
	at := time.UnixMilli(int64(len(g.log))).UTC()
	g.log = append(g.log, store.Record{ID: e.Next, Time: at, Raw: e.Raw, Seed: e.Seed})
	return store.Appended{Time: at}, nil
}

func (g *oneGame) Tail(context.Context, string) (store.Tail, error) {
	last := g.log[len(g.log)-1].ID
	return store.Tail{Length: int64(len(g.log)), Last: last, Head: last}, nil
}

func (g *oneGame) Entries(_ context.Context, _ string, from int32, n int) ([]store.Record, error) {
	rest := g.log[from-1:]
	return rest[:min(n, len(rest))], nil
}

// noFeed is a feed without events.
type noFeed struct{ store.Feed }

func (noFeed) Follow(string, store.Listener) {}

func (noFeed) Leave(string) {}

// undoneFarBack creates a game in which an undo goes back to the first move after the given number
// of moves. More moves follow; every second one is an undo of the one before, so that the game does not
// end. undoneFarBack returns the game's id and last version.
func undoneFarBack(t *testing.T, log *gamelog.Log, moves, more int) (gameID string, version int32) {
	t.Helper()
	gameID = id.New()
	variant, ok := variants.Current("6x6")
	require.True(t, ok)
	player := replay.Player{ID: id.New(), Name: "ada"}
	seed, err := game.SeedFromBytes(bytes.Repeat([]byte{1}, game.SeedSize)) // a game of more than 300 moves
	require.NoError(t, err)
	draft, err := gamelog.NewGame(gameID, replay.Created{
		Variant: variant.ID, Revision: variant.Revision, Creator: player, Seats: []replay.Seat{{Player: player}},
		Commitment: seed.Commitment(),
	}, seed)
	require.NoError(t, err)
	var states []*replay.State
	past := func(version int32) (*replay.State, error) { return states[version-1], nil }
	for n := range moves + 2 + more {
		appended, err := log.Append(t.Context(), draft)
		require.NoError(t, err)
		state := appended.Event.State
		states = append(states, state)
		entry := replay.Entry{Action: replay.Moved{Move: state.LegalMoves()[0]}}
		if n == moves {
			entry.Action = replay.Undone{To: 2}
		} else if n > moves && (n-moves)%2 == 0 {
			entry.Action = replay.Undone{To: state.Version - 1}
		}
		draft, err = appended.Tip.Draft(entry, time.Time{}, past)
		require.NoError(t, err)
	}
	return gameID, states[len(states)-1].Version
}

// Ensure that each stream that resumes before an undo far back counts as reads of the whole game,
// although its history is in memory.
func TestView_ReplayFarBackCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const perSecond, burst = 10, 100
		log := gamelog.New(&oneGame{})
		gameID, version := undoneFarBack(t, log, 300, 0)
		s := New(Config{
			Hub:    match.NewHub(match.Config{Log: log, Feed: noFeed{}, Stall: time.Minute}),
			Limits: limits.Limits{ReadsPerAddressPerSecond: perSecond},
		})
		m, err := s.Hub.Acquire(t.Context(), gameID)
		require.NoError(t, err)
		defer m.Release()
		resume := func(address string) error {
			stream := &sentStream{ctx: t.Context()}
			v := &View{service: s, stream: stream, match: m, address: address, version: version - 2, queue: newSendQueue(match.Prepared)}
			m.Watch(t.Context(), &v.watcher, match.Uncounted, nil)
			defer v.watcher.Close()
			err := v.replay()
			if err == nil {
				assert.Equal(t, 2, stream.sent)
			}
			return err
		}
		resumed := 0
		for err = resume("192.0.2.1"); err == nil; err = resume("192.0.2.1") {
			resumed++
		}
		assert.Equal(t, "reads_per_address_per_second", refusedBy(err))
		assert.Positive(t, resumed)
		assert.LessOrEqual(t, resumed, burst/s.replayCost(int(version)))
		require.NoError(t, resume("192.0.2.2"))
		time.Sleep(time.Second) //nolint:forbidigo // The bubble's clock is fake.
		require.NoError(t, resume("192.0.2.1"))
	})
}

// Ensure that a slow stream of a game with an undo far back ends only if it keeps others from reading
// such games.
func TestView_SlowReplayFarBack(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		more, limit int
		ends        bool
	}{
		"long":      {more: shortReplay, limit: 4, ends: true},
		"short":     {more: 300, limit: 4},
		"unlimited": {more: shortReplay},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				log := gamelog.New(&oneGame{})
				gameID, version := undoneFarBack(t, log, 300, tt.more)
				s := New(Config{
					Hub:    match.NewHub(match.Config{Log: log, Feed: noFeed{}, Stall: time.Minute}),
					Limits: limits.Limits{ReplaysAtOnce: tt.limit},
				})
				m, err := s.Hub.Acquire(t.Context(), gameID)
				require.NoError(t, err)
				defer m.Release()
				stream := &sentStream{ctx: t.Context(), delay: time.Second}
				v := &View{service: s, stream: stream, match: m, address: "192.0.2.1", queue: newSendQueue(match.Prepared)}
				m.Watch(t.Context(), &v.watcher, match.Uncounted, nil)
				defer v.watcher.Close()
				err = v.replay()
				if tt.ends {
					assert.Equal(t, "replays_at_once", refusedBy(err))
					assert.Less(t, stream.sent, int(version))
				} else {
					require.NoError(t, err)
					assert.EqualValues(t, version, stream.sent)
				}
			})
		})
	}
}
