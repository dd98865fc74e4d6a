package rpc

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/store"
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
