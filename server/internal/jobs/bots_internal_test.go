package jobs

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/bot"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/internal/id"
	replaytest "github.com/gridstand/gridstand/internal/testkit/replay"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// faulty is a bot that panics.
type faulty struct{}

func (faulty) Name() string { return "faulty" }

func (faulty) Choose(_ context.Context, p game.Position) (game.Move, error) {
	return p.LegalMoves()[1000], nil
}

// beginForBot creates a game in which a bot, minimax, moves first.
func beginForBot(t *testing.T, s *store.Store) (*match.Hub, *match.Match) {
	t.Helper()
	m := newManager(s, s.Queue)
	hub := newHub(m, s, "here")
	ann := replay.Player{ID: id.Derive([]byte("ann")), Name: "Ann"}
	seed := replaytest.Seed(t, 1) // with which the bot in the second seat moves first
	created := replaytest.Created(t, "tribolo", ann, seed)
	created.Seats = []replay.Seat{{Player: ann}, {Bot: "minimax"}, {Bot: "minimax"}}
	served := begin(t, m, hub, id.New(), created, seed)
	require.Equal(t, "minimax", served.State().BotToMove())
	return hub, served
}

// Ensure that a simpler bot moves in place of one that panics, so that a player in a game
// without clocks does not wait forever, and that a game that is put in quarantine is not logged.
func TestBots_Fault(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		faulty []string
		moves  bool
		logged bool
	}{
		{"none", nil, true, false},
		{"the bot", []string{"minimax"}, true, false},
		{"the simpler bot, too", []string{"minimax", "greedy"}, true, false},
		{"all", []string{"minimax", "greedy", "random"}, false, true},
		{"none, but in quarantine", nil, false, false},
	} {
		t.Log(tt.name)
		s := storetest.OnSQLite(t, sqlite.Options{Memory: true})
		var logged bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&logged, nil))
		ctx := t.Context()
		hub, served := beginForBot(t, s)
		state := served.State()
		if !tt.moves && !tt.logged {
			tail, err := s.Games.Tail(ctx, state.ID)
			require.NoError(t, err)
			require.NoError(t, s.Games.Quarantine(ctx, state.ID, tail.Last, time.Hour))
		}
		b := newBots(0, logger)
		b.make = func(name string, v game.Variant, o bot.Options) (bot.Bot, error) {
			if slices.Contains(tt.faulty, name) {
				return faulty{}, nil
			}
			return bot.New(name, v, o)
		}
		stop := b.start(ctx, hub)
		require.True(t, b.schedule(state, 0))
		b.group.Wait()
		stop()

		want := state.Version
		if tt.moves {
			want++
		}
		assert.Equal(t, want, served.State().Version, logged.String())
		assert.Equal(t, len(tt.faulty), strings.Count(logged.String(), "id=bot-panicked"))
		assert.Equal(t, tt.logged, strings.Contains(logged.String(), "id=bot-not-moved"))
	}
}

// Ensure that a bot waits for no longer than its pace if the last event's time is in the future,
// because the store's clock was set back.
func TestBots_ClockSetBack(t *testing.T) {
	t.Parallel()
	s := storetest.OnSQLite(t, sqlite.Options{Memory: true})
	hub, served := beginForBot(t, s)
	state := served.State()
	b := newBots(0, slog.New(slog.DiscardHandler))
	defer b.start(t.Context(), hub)()
	require.True(t, b.schedule(state, -time.Hour))
	waittest.Until(t, "the bot has moved", func() bool { return served.State().Version > state.Version })
}

// Ensure that every variant has the bots that replace faulty ones.
func TestBots_Simpler(t *testing.T) {
	t.Parallel()
	for _, v := range variants.All() {
		assert.Subset(t, v.Bots, simplerBots, v.ID)
	}
}
