package rpc

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// Ensure that lists hide an attempt from other players once its challenge has expired,
// because the challenge may have been private.
func TestListsAttempt_Expired(t *testing.T) {
	t.Parallel()
	const ann, bob = "ann", "bob"
	lists := func(kind replay.ChallengeKind, l store.List, by string) bool {
		state := &replay.State{Attempt: replay.Attempt{ChallengeID: "c", Kind: kind}, Seats: []replay.Seat{{Player: replay.Player{ID: ann}}}}
		return listsAttempt(l, state, nil, time.Time{}, by)
	}
	for _, kind := range []replay.ChallengeKind{replay.Daily, replay.Race, replay.Link, replay.Rematch} {
		assert.Equal(t, kind != replay.Race, lists(kind, store.List{PlayerID: ann}, ann), kind)
		for _, by := range []string{"", bob} {
			assert.False(t, lists(kind, store.List{PlayerID: ann}, by), kind)
			assert.False(t, lists(kind, store.List{}, by), kind)
		}
		assert.False(t, lists(kind, store.List{}, ann), kind)
	}
}

// Ensure that an attempt does not begin if its challenge closes after the server has read it.
func TestBeginAttempt_Closed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, kept *store.Store) {
		now, err := kept.Time(t.Context())
		require.NoError(t, err)
		log := gamelog.New(kept.Games)
		s := New(Config{Hub: match.NewHub(match.Config{Log: log, Jobs: noJobs{}})})
		c := &challenge.Challenge{
			ID: raceID(0), Kind: replay.Link, Variant: "classic", Revision: 1, Seed: game.NewSeed(), OpenTime: now.Add(-time.Hour), CloseTime: now,
		}
		e := challenge.Entrant{Player: replay.Player{ID: raceID(1)}, GameID: raceID(2)}
		_, err = s.beginAttempt(t.Context(), c, e)
		require.ErrorIs(t, err, challenge.ErrClosed)
		head, err := log.Head(t.Context(), e.GameID)
		require.NoError(t, err)
		assert.Nil(t, head.State)
	})
}
