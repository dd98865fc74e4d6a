package bot

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/variants"
)

// small holds options that leave every bot little work.
var small = Options{Depth: 1, Rollouts: 2}

// TestBots_Play plays the opening moves of a game twice with each bot of each variant. The
// random sources are seeded equally, so both games must be equal.
func TestBots_Play(t *testing.T) {
	t.Parallel()
	for _, v := range variants.All() {
		require.Len(t, makers[v.Kind], len(v.Bots))
		for _, name := range v.Bots {
			t.Run(v.ID+"/"+name, func(t *testing.T) {
				t.Parallel()
				var games [2][]game.Move
				for i := range games {
					b := seeded(t, name, v, small)
					assert.Equal(t, name, b.Name())
					p := v.Rules.Start(seed(1).Draws(1))
					for version := int32(2); p.Turn() != game.NoSeat && version < 60; version++ {
						m, err := b.Choose(t.Context(), p)
						require.NoError(t, err)
						require.Contains(t, p.LegalMoves(), m)
						games[i] = append(games[i], m)
						p, _, err = v.Rules.Move(p, p.Turn(), m, seed(1).Draws(version))
						require.NoError(t, err)
					}
				}
				assert.Equal(t, games[0], games[1])
			})
		}
	}
}

// Ensure that an unknown bot, a game that has ended, another variant's position and a canceled context
// are refused.
func TestBots_Refuse(t *testing.T) {
	t.Parallel()
	v := variant(t, "classic")
	_, err := New("nobody", v, Options{})
	require.ErrorIs(t, err, ErrUnknown)
	stuck := board48(t, v, 0, 2, 4, 2, 4, 4, 2, 4, 2, 2, 4, 2, 4, 4, 2, 4, 2)
	other := variant(t, "3x3").Rules.Start(seed(1).Draws(1))
	for _, name := range v.Bots {
		b := seeded(t, name, v, small)
		_, err := b.Choose(t.Context(), stuck)
		require.ErrorIs(t, err, ErrNoMove, name)
		if name != "random" {
			_, err = b.Choose(t.Context(), other)
			require.Error(t, err, name)
		}
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = b.Choose(canceled, v.Rules.Start(seed(1).Draws(1)))
		require.ErrorIs(t, err, context.Canceled, name)
	}
}

// searching returns the names of the bots of v that search, as opposed to those that choose
// immediately.
func searching(v game.Variant) []string {
	return slices.DeleteFunc(slices.Clone(v.Bots), func(name string) bool {
		return !slices.Contains([]string{"montecarlo", "expectimax", "minimax"}, name)
	})
}

// TestBots_WorkBounded checks that searching bots stay within their work limit on boards from
// all stages of a game.
func TestBots_WorkBounded(t *testing.T) {
	t.Parallel()
	for _, v := range variants.All() {
		for _, name := range searching(v) {
			t.Run(v.ID+"/"+name, func(t *testing.T) {
				t.Parallel()
				const work = 500
				b := seeded(t, name, v, Options{Work: work})
				for _, p := range positions(t, v, 20) {
					m, did, err := b.decide(t.Context(), p)
					require.NoError(t, err)
					require.Contains(t, p.LegalMoves(), m)
					require.LessOrEqual(t, did, int64(work*11/10))
				}
			})
		}
	}
}

// Ensure that a search that is cut short gives the best move so far, and one that is canceled gives none.
func TestBots_Ends(t *testing.T) {
	t.Parallel()
	for _, v := range variants.All() {
		for _, name := range searching(v) {
			p := v.Rules.Start(seed(1).Draws(1))
			choose := func(ctx context.Context, limit time.Duration) (game.Move, error) {
				endless := Options{Depth: maxDepth, Rollouts: 1 << 40, Time: limit}
				return seeded(t, name, v, endless).Choose(ctx, p)
			}
			soon, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
			defer cancel()
			passed, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
			defer cancel()
			for _, end := range []struct {
				ctx   context.Context
				limit time.Duration
			}{{soon, 0}, {passed, 0}, {t.Context(), time.Millisecond}} {
				m, err := choose(end.ctx, end.limit)
				require.NoError(t, err, "%s %s", v.ID, name)
				require.Contains(t, p.LegalMoves(), m)
			}
			canceled, cancel := context.WithCancel(t.Context())
			defer time.AfterFunc(2*time.Millisecond, cancel).Stop()
			_, err := choose(canceled, 0)
			require.ErrorIs(t, err, context.Canceled, "%s %s", v.ID, name)
		}
	}
}

func TestBots_ConcurrentUse(t *testing.T) {
	t.Parallel()
	v := variant(t, "classic")
	ps := positions48(t, v, 20)
	for _, name := range v.Bots {
		b := seeded(t, name, v, small)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for _, p := range ps {
					m, err := b.Choose(t.Context(), p)
					assert.NoError(t, err)
					assert.True(t, p.Legal().Has(m.Direction))
				}
			})
		}
		wg.Wait()
	}
}
