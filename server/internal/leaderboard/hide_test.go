package leaderboard

import (
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
)

// Ensure that a player who is hidden while results are recorded is on no board
// in the end, and that the others stay.
func TestBoards_Hide_Meanwhile(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		boards, ctx := New(client, time.Now), t.Context()
		hide := make(chan struct{})
		var group sync.WaitGroup
		for i := range 50 {
			group.Go(func() {
				if i == 25 {
					close(hide)
				}
				assert.NoError(t, boards.Record(ctx, result(1, i, int32(i+1), now())))
				assert.NoError(t, boards.Record(ctx, result(2, i, int32(i+1), now())))
			})
		}
		<-hide
		require.NoError(t, boards.Hide(ctx, name("player", 1)))
		group.Wait()
		for _, window := range []Window{All, Week, Day} {
			page, err := boards.List(ctx, "classic", window, "", 10)
			require.NoError(t, err)
			require.Len(t, page.Entries, 1)
			assert.Equal(t, name("player", 2), page.Entries[0].PlayerID)
			_, _, err = boards.Rank(ctx, "classic", window, name("player", 1), 1)
			assert.ErrorIs(t, err, ErrNoScore)
		}
		hidden, err := boards.Hidden(ctx, name("player", 2), name("player", 1))
		require.NoError(t, err)
		assert.Equal(t, map[string]bool{name("player", 1): true}, hidden)
	})
}

// Ensure that pruning keeps what is proved, and of a player's entries the best.
func TestBoards_Prune(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		boards, ctx := New(client, time.Now), t.Context()
		kept, false1 := result(1, 1, 10, now()), result(2, 2, 20, now())
		require.NoError(t, boards.Record(ctx, kept))
		require.NoError(t, boards.Record(ctx, false1))
		double, err := memberOf(result(1, 3, 10, now()))
		require.NoError(t, err)
		require.NoError(t, client.ZAdd(ctx, "scores:{classic:all}", redis.Z{Score: 10, Member: double}).Err())
		pruned, err := boards.Prune(ctx, func(r Result) (bool, error) { return r == kept, nil })
		require.NoError(t, err)
		assert.Equal(t, 4, pruned, "one on each board, and the double one")
		page, err := boards.List(ctx, "classic", All, "", 10)
		require.NoError(t, err)
		require.Len(t, page.Entries, 1)
		assert.Equal(t, kept.GameID, page.Entries[0].GameID)
	})
}
