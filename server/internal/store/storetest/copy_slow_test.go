//go:build slow

package storetest_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/internal/id"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// copyData is the test data of TestCopy.
type copyData struct {
	random  *rand.Rand
	players []replay.Player
	tokens  []string
	games   []string
}

// create creates players, games of all variants with random moves, and results.
func (data *copyData) create(t *testing.T, s *store.Store) {
	t.Helper()
	ctx := t.Context()
	accounts := account.New(s.Accounts, 30*24*time.Hour)
	for n := range 30 {
		p, token, err := accounts.Create(ctx, fmt.Sprint("Player ", n), "", n%7 == 0)
		require.NoError(t, err)
		data.players, data.tokens = append(data.players, replay.Player{ID: p.ID, Name: p.Name}), append(data.tokens, token)
	}
	boards := leaderboard.New(s.Boards, page.NewTokens(s.Secrets), time.Now)
	log := gamelog.New(s.Games)
	now, err := s.Time(ctx)
	require.NoError(t, err)
	for range 150 {
		final := data.play(t, log)
		creator := final.Creator.ID
		require.NoError(t, accounts.Reserve(ctx, creator, final.ID, 0))
		if data.random.IntN(4) == 0 {
			require.NoError(t, s.Games.Expire(ctx, now.Add(time.Hour), final.ID))
		}
		require.NoError(t, boards.Record(ctx, leaderboard.Result{
			Variant: final.Variant.ID, PlayerID: creator, GameID: final.ID, Score: data.random.Int32N(100),
			Time: now.Add(-time.Duration(data.random.IntN(200)) * time.Hour),
		}))
	}
	require.NoError(t, boards.Hide(ctx, data.players[3].ID))
}

// play creates a game and plays some random moves.
func (data *copyData) play(t *testing.T, log *gamelog.Log) *replay.State {
	t.Helper()
	var secret [game.SeedSize]byte
	for i := range secret {
		secret[i] = byte(data.random.Uint32())
	}
	seed, err := game.SeedFromBytes(secret[:])
	require.NoError(t, err)
	all := variants.All()
	v := all[data.random.IntN(len(all))]
	creator := data.players[data.random.IntN(len(data.players))]
	seats := slices.Repeat([]replay.Seat{{Player: creator}}, v.Seats)
	draft, err := gamelog.NewGame(id.Derive([]byte("game"), secret[:]), replay.Created{
		Variant: v.ID, Revision: v.Revision, Creator: creator, Seats: seats, Commitment: seed.Commitment(),
		Private: data.random.IntN(5) == 0,
	}, seed)
	require.NoError(t, err)
	appended, err := log.Append(t.Context(), draft)
	require.NoError(t, err)
	for range data.random.IntN(60) {
		state := appended.Tip.State
		legal := state.LegalMoves()
		if len(legal) == 0 {
			break
		}
		entry := replay.Entry{Seat: state.Turn(), Action: replay.Moved{Move: legal[data.random.IntN(len(legal))]}}
		draft, err := appended.Tip.Draft(entry, time.Time{}, nil)
		require.NoError(t, err)
		appended, err = log.Append(t.Context(), draft)
		require.NoError(t, err)
	}
	data.games = append(data.games, appended.Tip.State.ID)
	return appended.Tip.State
}

// damage damages some games in different ways, and expires an account.
func (data *copyData) damage(t *testing.T, s *store.Store, client goredis.UniversalClient) {
	t.Helper()
	ctx := t.Context()
	require.NoError(t, client.Del(ctx, "player:{"+data.players[0].ID+"}").Err())
	tail, err := s.Games.Tail(ctx, data.games[0])
	require.NoError(t, err)
	require.NoError(t, s.Games.Quarantine(ctx, data.games[0], tail.Last, time.Hour))
	require.NoError(t, s.Games.Quarantine(ctx, id.Derive([]byte("lost")), store.ID{}, time.Hour))

	first := func(gameID string) string {
		records, err := s.Games.Entries(ctx, gameID, 1, 1)
		require.NoError(t, err)
		return records[0].ID.String()
	}
	key := func(n int, kind string) string { return "game:{" + data.games[n] + "}:" + kind }
	require.NoError(t, client.Del(ctx, key(1, "log")).Err())
	require.NoError(t, client.Del(ctx, key(2, "meta")).Err())
	require.NoError(t, client.HSet(ctx, key(3, "meta"), "last", "what?").Err())
	require.NoError(t, client.XDel(ctx, key(4, "log"), first(data.games[4])).Err())
	require.NoError(t, client.XAdd(ctx, &goredis.XAddArgs{Stream: key(5, "log"), ID: "1000000-1", Values: []any{"e", "no time"}}).Err())
	require.NoError(t, client.XAdd(ctx, &goredis.XAddArgs{Stream: key(6, "log"), ID: "1000000-1", Values: []any{"t", "1", "e", "no entry"}}).Err())
}

// reads returns everything that clients can see of the data, by name.
func (data *copyData) reads(t *testing.T, s *store.Store) map[string]any {
	t.Helper()
	ctx, read := t.Context(), map[string]any{}
	log := gamelog.New(s.Games)
	for _, gameID := range data.games {
		history, err := log.Load(ctx, gameID, store.ID{}, 1)
		var damaged *gamelog.DamagedError
		switch {
		case err == nil:
			read["tip "+gameID] = history.Tip.ID
			read["seed "+gameID] = history.Tip.State.RevealedSeed().SeedBytes()
			times := []time.Time{}
			require.NoError(t, log.Replay(ctx, gameID, 0, func(_ gamelog.Tip, e *replay.Event) error {
				times = append(times, e.State.UpdateTime.UTC())
				return nil
			}))
			read["times "+gameID] = times
		case errors.As(err, &damaged), errors.Is(err, gamelog.ErrNotFound):
			read["damaged "+gameID] = errors.Is(err, gamelog.ErrNotFound)
		default:
			require.NoError(t, err)
		}
	}
	heads, err := log.Heads(ctx, data.games) // after Load, which mends a missing head
	require.NoError(t, err)
	for i, gameID := range data.games {
		if state := heads[i].State; state != nil && read["tip "+gameID] != nil {
			read["head "+gameID] = []any{state.Version, state.Position.Scores(), state.UpdateTime.UTC()}
		}
	}
	accounts := account.New(s.Accounts, 0)
	for i, token := range data.tokens {
		p, err := accounts.Verify(ctx, token)
		read[fmt.Sprint("token ", i)] = []any{p, err == nil}
		_, _, err = accounts.Create(ctx, data.players[i].Name, "", false)
		read[fmt.Sprint("name ", i)] = err != nil
	}
	return read
}

// Ensure that copying a store from Redis to SQLite, and from there to another Redis
// server, preserves its data: games (including their digests, times, seeds and damage),
// leaderboards, names, tokens and expiry times.
func TestCopy(t *testing.T) {
	t.Parallel()
	server := redistest.StartRedis(t)
	client := redistest.NewClient(t, server.Addr())
	data := &copyData{random: rand.New(rand.NewPCG(1, 2))}
	redis := storetest.OnRedis(t, server.Addr())
	data.create(t, redis)
	data.damage(t, redis, client)
	file := storetest.OnSQLite(t, sqlite.Options{Path: filepath.Join(t.TempDir(), "store.db")})
	other := storetest.OnRedis(t, redistest.StartRedis(t).Addr())

	last, calls := store.Copied{}, 0
	progress := func(c store.Copied) { last, calls = c, calls+1 }
	copied, err := store.Copy(t.Context(), redis, file, progress)
	require.NoError(t, err)
	assert.Equal(t, copied, last)
	assert.Greater(t, calls, 5)
	assert.Equal(t, 151, copied.Games)
	assert.Equal(t, 29, copied.Accounts)
	again, err := store.Copy(t.Context(), file, other, progress)
	require.NoError(t, err)
	assert.Equal(t, copied, again)

	kept := storetest.Kept(t, redis)
	assert.Equal(t, kept, storetest.Kept(t, file))
	assert.Equal(t, kept, storetest.Kept(t, other))
	read := data.reads(t, redis)
	assert.Equal(t, read, data.reads(t, file))
	assert.Equal(t, read, data.reads(t, other))
	for n := range data.games {
		_, damaged := read["damaged "+data.games[n]]
		assert.Equal(t, slices.Contains([]int{0, 1, 3, 4, 5, 6}, n), damaged, "game %d", n)
	}
}
