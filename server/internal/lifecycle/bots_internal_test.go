package lifecycle

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/bot"
	"github.com/gridstand/gridstand/game/variants"
)

// faulty is a bot with a fault.
type faulty struct{}

func (faulty) Name() string { return "faulty" }

func (faulty) Choose(_ context.Context, p game.Position) (game.Move, error) {
	return p.LegalMoves()[1000], nil
}

// Ensure that a bot that panics returns an error that names it.
func TestBots_Fault(t *testing.T) {
	t.Parallel()
	b := newBots(0, slog.New(slog.DiscardHandler), nil, nil)
	v, ok := variants.Current("classic")
	require.True(t, ok)
	_, err := b.choose(t.Context(), faulty{}, v.Rules.Start(game.NewSeed().Draws(1)))
	assert.ErrorContains(t, err, "faulty")
}

// Ensure that one bot serves all games of a variant, and one that only a newer
// server knows is an error.
func TestBots_Bot(t *testing.T) {
	t.Parallel()
	b := newBots(0, slog.New(slog.DiscardHandler), nil, nil)
	for _, v := range variants.All() {
		for _, name := range v.Bots {
			first, err := b.bot(v, name)
			require.NoError(t, err)
			assert.Equal(t, name, first.Name())
			again, err := b.bot(v, name)
			require.NoError(t, err)
			assert.Same(t, first, again)
		}
		_, err := b.bot(v, "oracle")
		assert.ErrorIs(t, err, bot.ErrUnknown)
	}
}
