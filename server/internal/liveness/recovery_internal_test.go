package liveness

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/id"
	replaytest "github.com/gridstand/gridstand/internal/testkit/replay"
	"github.com/gridstand/gridstand/internal/testkit/testmain"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/profile"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

func TestMain(m *testing.M) { testmain.Run(m) }

const (
	keepAccounts = 10 * time.Hour
	keepGames    = 1000 * time.Hour
	variant      = "6x6"
)

// rig is a store with a Recovery and its dependencies.
type rig struct {
	*Recovery
	t     *testing.T
	store *store.Store
}

func newRig(t *testing.T, s *store.Store) rig {
	logger, tokens := slog.New(slog.DiscardHandler), page.NewTokens(s.Secrets)
	return rig{NewRecovery(Stores{
		Engine: s.Background, Heartbeats: s.Background.Heartbeats, Log: gamelog.New(s.Games),
		Accounts: account.New(s.Accounts, keepAccounts), Leaderboard: leaderboard.New(s.Boards, tokens, s.Time),
		Directory:  directory.New(s.Lists, s.Lists, tokens, keepGames, logger),
		Challenges: challenge.New(challenge.Config{Store: s.Challenges}), Profiles: &profile.Profiles{Store: s.Profiles},
		Queue: s.Queue, Logger: logger, KeepFinished: keepGames,
		Monitor: New(Config{ServerID: "server"}),
	}), t, s}
}

// player creates an account.
func (r rig) player(name string) replay.Player {
	r.t.Helper()
	p, _, err := r.Accounts.Create(r.t.Context(), name, "", false)
	require.NoError(r.t, err)
	return replay.Player{ID: p.ID, Name: p.Name}
}

// play creates a game for a player, makes some moves, and ends the game if finish is set.
func (r rig) play(p replay.Player, finish bool) *replay.State {
	r.t.Helper()
	seed := game.NewSeed()
	d, err := gamelog.NewGame(id.New(), replaytest.Created(r.t, variant, p, seed), seed)
	require.NoError(r.t, err)
	for moves := 0; ; moves++ {
		require.NoError(r.t, r.Log.Append(r.t.Context(), d))
		state := d.Event.State
		if state.Status == replay.Finished || !finish && moves == 10 {
			return state
		}
		entry := replay.Entry{Action: replay.Moved{Move: state.LegalMoves()[0]}}
		if moves == 30 {
			entry.Action = replay.Resigned{}
		}
		d, err = d.Tip().Draft(entry, time.Time{}, nil)
		require.NoError(r.t, err)
	}
}

// derived contains data that Rebuild derives from the logs.
type derived struct {
	Boards [][]store.BoardEntry // of all time, the week and the day
	Places []store.Place
	Jobs   []string // those of the given games
	Latest int      // games in the player's profile
}

// scheduled returns those of the given games that have a job.
func (r rig) scheduled(gameIDs ...string) []string {
	r.t.Helper()
	return slices.DeleteFunc(gameIDs, func(gameID string) bool {
		at, err := r.Queue.Scheduled(r.t.Context(), gameID)
		require.NoError(r.t, err)
		return at.IsZero()
	})
}

// derived reads what is derived from the games of a player, the last of which is over.
func (r rig) derived(p replay.Player, open, over *replay.State) (d derived) {
	r.t.Helper()
	ctx, at := r.t.Context(), over.UpdateTime
	year, week := at.ISOWeek()
	for _, window := range []string{"all", fmt.Sprintf("week-%d-W%02d", year, week), at.Format("day-2006-01-02")} {
		listed, err := r.store.Boards.Page(ctx, store.Board{Variant: variant, Window: window}, 0, 100)
		require.NoError(r.t, err)
		d.Boards = append(d.Boards, listed.Entries)
	}
	var err error
	d.Places, err = r.store.Lists.Page(ctx, store.List{PlayerID: p.ID}, store.Place{}, 100)
	require.NoError(r.t, err)
	d.Jobs = r.scheduled(open.ID, over.ID)
	recorded, _, err := r.Profiles.Get(ctx, p.ID)
	require.NoError(r.t, err)
	d.Latest = len(recorded.GetLatest())
	return d
}

// Ensure that leaderboards, lists, queue and profiles match the logs after Rebuild, even if entries
// were missing or wrong.
func TestRecovery_Rebuild(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		r, ctx := newRig(t, s), t.Context()
		ann := r.player("Ann")
		open, over := r.play(ann, false), r.play(ann, true)
		removed := *over // only the profile still has it
		removed.ID = id.New()
		require.NoError(t, r.Profiles.Record(ctx, &removed, nil))
		rebuilt, err := r.Rebuild(ctx)
		require.NoError(t, err)
		assert.Equal(t, [2]int{2, 1}, [2]int{rebuilt.Games, rebuilt.Finished})
		assert.Empty(t, rebuilt.Damaged)
		want := r.derived(ann, open, over)
		for _, board := range want.Boards {
			assert.NotEmpty(t, board)
		}
		assert.Len(t, want.Places, 2)
		assert.Equal(t, []string{open.ID}, want.Jobs)
		assert.Equal(t, 2, want.Latest)

		result := leaderboard.ResultsOf(over)[0]
		result.GameID, result.Score = id.New(), result.Score+1000 // a result that no log contains
		require.NoError(t, r.Leaderboard.Record(ctx, result))
		require.NoError(t, s.Lists.Forget(ctx, store.List{PlayerID: ann.ID}, open.ID))
		require.NoError(t, r.Queue.Remove(ctx, open.ID))
		require.NotEqual(t, want, r.derived(ann, open, over))
		_, err = r.Rebuild(ctx)
		require.NoError(t, err)
		assert.Equal(t, want, r.derived(ann, open, over))
	})
}

// Ensure that the job of a game that waits for a bot is due at once after ReindexAll, whatever time it
// had, and that of a game that waits for its player is not.
func TestRecovery_Bots(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		r, ctx := newRig(t, s), t.Context()
		ann, seed := r.player("Ann"), game.NewSeed()
		waits, created := r.play(ann, false), replaytest.Created(t, "tribolo", ann, seed)
		created.Seats[0] = created.Seats[1]
		d, err := gamelog.NewGame(id.New(), created, seed)
		require.NoError(t, err)
		require.NoError(t, r.Log.Append(ctx, d))

		later := d.Event.State.UpdateTime.Add(time.Hour)
		require.NoError(t, r.Queue.EnqueueBy(ctx, later, waits.ID, d.Event.State.ID))
		require.NoError(t, r.ReindexAll(ctx))
		leased, err := r.Queue.Lease(ctx, 2, time.Second)
		require.NoError(t, err)
		require.Len(t, leased, 1)
		assert.Equal(t, d.Event.State.ID, leased[0].GameID)
	})
}

// Ensure that a quarantined game is reported as damaged and leaves the lists.
func TestRecovery_Quarantine(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		r, ctx := newRig(t, s), t.Context()
		ann := r.player("Ann")
		open, over := r.play(ann, false), r.play(ann, true)
		require.NoError(t, r.ReindexAll(ctx))
		before, err := s.Time(ctx)
		require.NoError(t, err)
		ids, err := r.QuarantineBefore(ctx, before.Add(-time.Hour))
		require.NoError(t, err)
		assert.Empty(t, ids)
		ids, err = r.QuarantineBefore(ctx, before.Add(time.Second))
		require.NoError(t, err)
		assert.Equal(t, []string{open.ID}, ids)

		var damaged *gamelog.DamagedError
		_, err = r.Log.Load(ctx, open.ID, store.ID{}, nil)
		require.ErrorAs(t, err, &damaged)
		require.ErrorAs(t, r.Quarantine(ctx, open.ID), &damaged)
		require.ErrorIs(t, r.Quarantine(ctx, over.ID), replay.ErrGameOver)
		heads, err := r.Log.Heads(ctx, []string{open.ID, over.ID})
		require.NoError(t, err)
		assert.Equal(t, gamelog.Head{}, heads[0], "lists omit the game")
		assert.True(t, heads[1].Exists)
	})
}

// beat stores a heartbeat of another server.
func (r rig) beat(server string, leaves bool) {
	r.t.Helper()
	b := store.Heartbeat{ServerID: server, Leaves: leaves, Keep: clockRuns, MaxServers: maxServers}
	_, err := r.Heartbeats.Record(r.t.Context(), b)
	require.NoError(r.t, err)
}

// Ensure that an account is kept while one of its games is kept, whatever happened to other servers.
func TestRecovery_Accounts(t *testing.T) {
	t.Parallel()
	storetest.EachClock(t, func(t *testing.T, s *store.Store, forward func(time.Duration)) {
		r := newRig(t, s)
		ann, bob := r.player("Ann"), r.player("Bob")
		r.play(ann, false)
		r.beat("missing", false)
		for range 3 {
			forward(6 * time.Hour)
			r := newRig(t, s) // a new one, because it has not renewed any account yet
			r.beat("left", true)
			r.beat("younger", false)
			require.NoError(t, r.reconcile(t.Context()))
		}
		left, err := s.Accounts.Get(t.Context(), []string{ann.ID, bob.ID})
		require.NoError(t, err)
		assert.Contains(t, left, ann.ID)
		assert.NotContains(t, left, bob.ID)
	})
}

// Ensure that one of the servers that are running reconciles a shared store.
func TestRecovery_OneReconciles(t *testing.T) {
	t.Parallel()
	storetest.EachClock(t, func(t *testing.T, s *store.Store, _ func(time.Duration)) {
		if !s.Shared() {
			t.Skip("the only server loses no queue")
		}
		r := newRig(t, s)
		open := r.play(r.player("Ann"), false)
		for _, left := range []bool{false, true} {
			r.beat("earlier", left)
			require.NoError(t, r.reconcile(t.Context()))
			assert.Equal(t, left, len(r.scheduled(open.ID)) > 0)
		}
	})
}
