package rpc

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// noLists counts writes to the lists of games.
type noLists struct {
	store.Lists
	writes int
}

func (l *noLists) Write(context.Context, []store.Listing, time.Duration) error {
	l.writes++
	return nil
}

// noJobs does nothing with a new game.
type noJobs struct{ match.Jobs }

func (noJobs) Hold(_ context.Context, _ string, _, latest time.Time) (time.Time, error) {
	return latest, nil
}

func (noJobs) Plan(context.Context, *replay.State) error { return nil }

func (noJobs) Appended(context.Context, *replay.State) {}

// Ensure that a player who joins their own game again writes nothing: the lists have the game.
func TestJoinGame_Again(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, kept *store.Store) {
		ann, lists := account.Player{Player: replay.Player{ID: raceID(1), Name: "Ann"}}, &noLists{}
		s := New(Config{
			Hub:       match.NewHub(match.Config{Log: gamelog.New(kept.Games), Feed: kept.Feed, Jobs: noJobs{}}),
			Directory: directory.New(lists, lists, nil, 0, slog.New(slog.DiscardHandler)),
		})
		seed := game.NewSeed()
		_, err := s.Hub.Create(t.Context(), raceID(2), replay.Created{
			Variant: "classic", Revision: 1, Creator: ann.Player, Seats: []replay.Seat{{Player: ann.Player}}, Commitment: seed.Commitment(),
		}, seed, time.Time{})
		require.NoError(t, err)
		ctx := context.WithValue(t.Context(), identityKey{}, identity{player: ann})
		for range 2 {
			joined, err := s.JoinGame(ctx, &pb.JoinGameRequest{GameId: raceID(2)})
			require.NoError(t, err)
			assert.EqualValues(t, 1, joined.GetGame().GetVersion())
		}
		assert.Zero(t, lists.writes)
	})
}
