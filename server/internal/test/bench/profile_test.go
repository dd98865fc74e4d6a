//go:build slow && unix

package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/id"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	replaytest "github.com/gridstand/gridstand/internal/testkit/replay"
	"github.com/gridstand/gridstand/server/internal/profile"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// gamesOfProfile is the number of finished games of the player whose profile is read.
const gamesOfProfile = 10_000

// BenchmarkProfile measures reading the profile of a player with 10,000 games, and recording one more
// game, as a finishing move does.
func BenchmarkProfile(b *testing.B) {
	for name, open := range map[string]func() *store.Store{
		"file":  func() *store.Store { return storetest.OnSQLite(b, sqlite.Options{Path: b.TempDir() + "/store.db"}) },
		"redis": func() *store.Store { return storetest.OnRedis(b, redistest.StartRedis(b).Addr()) },
	} {
		b.Run(name, func(b *testing.B) {
			s := open()
			p := &profile.Profiles{Store: s.Profiles}
			player := replay.Player{ID: id.New(), Name: "Ann"}
			_, err := s.Accounts.Create(b.Context(), store.Account{ID: player.ID, Name: player.Name}, 0)
			require.NoError(b, err)
			n := 0
			next := func() *replay.State { n++; return finished(b, player, n) }
			for range gamesOfProfile {
				require.NoError(b, p.Record(b.Context(), next()))
			}
			b.Run("get", func(b *testing.B) {
				for b.Loop() {
					got, _, err := p.Get(b.Context(), player.ID)
					require.NoError(b, err)
					require.GreaterOrEqual(b, got.GetVariants()[0].GetGames(), int32(gamesOfProfile))
				}
			})
			b.Run("record", func(b *testing.B) {
				for b.Loop() {
					require.NoError(b, p.Record(b.Context(), next()))
				}
			})
		})
	}
}

// finished returns a game that the player has given up after a move, with another id and time for each n.
func finished(b *testing.B, player replay.Player, n int) *replay.State {
	b.Helper()
	seed := game.NewSeed()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Minute)
	created := replaytest.Created(b, "classic", player, seed)
	e, err := replay.Start(id.Derive(fmt.Append(nil, n)), replay.Entry{Seat: game.NoSeat, Action: created}, seed, at)
	require.NoError(b, err)
	e, err = e.State.Apply(replay.Entry{Action: replay.Moved{Move: e.State.LegalMoves()[0]}}, at)
	require.NoError(b, err)
	e, err = e.State.Apply(replay.Entry{Action: replay.Resigned{}}, at)
	require.NoError(b, err)
	return e.State
}
