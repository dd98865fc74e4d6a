package gamelog

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
)

// Ensure that an append leaves behind an entry, the meta that goes with it and
// a word to followers, all of the same moment.
func TestAppend(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx, gameID := t.Context(), name("a")
		feed := r.client.Subscribe(ctx, feedKey(gameID))
		defer func() { assert.NoError(t, feed.Close()) }()
		_, err := feed.Receive(ctx)
		require.NoError(t, err)
		heard := feed.Channel()
		clock, err := r.client.Time(ctx).Result()
		require.NoError(t, err)

		tip := r.create(gameID, "classic")
		require.Equal(t, tip.State.CreateTime, tip.State.UpdateTime)
		assert.WithinRange(t, tip.State.CreateTime, clock.Truncate(time.Millisecond), clock.Add(time.Minute))
		r.sound(tip)
		first := r.content(gameID).log[0]
		assert.Equal(t, map[string]any{
			"t": ms(tip.State.CreateTime), "e": first.Values["e"], "s": string(seed(t, gameID[0]).SeedBytes()),
		}, first.Values)
		assert.Equal(t, "e "+first.ID+" "+ms(tip.State.UpdateTime)+" "+first.Values["e"].(string), (<-heard).Payload)

		for range 3 {
			before := tip
			tip = r.play(tip, 1)
			require.Equal(t, before.State.CreateTime, tip.State.CreateTime)
			require.False(t, tip.State.UpdateTime.Before(before.State.UpdateTime))
			r.sound(tip)
			c := r.content(gameID)
			entry := c.log[tip.ID.Version-1]
			assert.Equal(t, map[string]any{"t": ms(tip.State.UpdateTime), "e": entry.Values["e"]}, entry.Values)
			assert.Equal(t, tip.ID.String(), c.meta["last"])
			assert.Equal(t, ms(tip.State.UpdateTime), c.meta["time"])
			record, ok := parsePublished((<-heard).Payload[2:])
			require.True(t, ok)
			again, _, err := before.Apply(gameID, record, nil)
			require.NoError(t, err)
			assert.Equal(t, tip.ID, again.ID)
			equal(t, tip.State, again.State)
		}
		d := r.draft(tip, replay.Entry{Seat: 0, Action: replay.Resigned{}})
		assert.True(t, d.NeedsProcessing())
		r.sound(r.append(d))
	})
}

func ms(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }

// Ensure that a draft that was overtaken learns by what, and writes nothing.
func TestAppend_Conflict(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		gameID := name("a")
		tip := r.play(r.create(gameID, "classic"), 5)
		late, other := r.draft(tip, moved(tip.State, 0)), moved(tip.State, 1)
		next := r.append(r.draft(tip, other))

		conflict := r.refused(gameID, late)
		assert.Equal(t, next.ID, conflict.Last)
		r.stands(conflict, next.ID, other)

		end := r.play(next, 3)
		conflict = r.refused(gameID, late)
		assert.Equal(t, end.ID, conflict.Last)
		r.stands(conflict, next.ID, other)
		r.sound(end)

		// The log lost its end: nothing stands where the draft would.
		ahead := r.draft(end, moved(end.State, 0))
		r.rewrite(gameID, func(log []redis.XMessage) []redis.XMessage { return log[:2] })
		conflict = r.refused(gameID, ahead)
		assert.EqualValues(t, 2, conflict.Last.Version)
		assert.Nil(t, conflict.Standing)

		// And all of it.
		require.NoError(t, r.client.Del(t.Context(), logKey(gameID)).Err())
		assert.Equal(t, &ConflictError{}, r.refused(gameID, ahead))
	})
}

// refused appends a draft that conflicts.
func (r *rig) refused(gameID string, d *Draft) *ConflictError {
	r.t.Helper()
	var conflict *ConflictError
	r.unwritten(gameID, func() {
		_, err := r.log.Append(r.t.Context(), d)
		require.ErrorAs(r.t, err, &conflict)
	})
	return conflict
}

// unwritten checks that what do does leaves a game as it is.
func (r *rig) unwritten(gameID string, do func()) {
	r.t.Helper()
	before := r.content(gameID)
	do()
	require.Equal(r.t, before, r.content(gameID), "something was written")
}

func (r *rig) stands(c *ConflictError, want ID, e replay.Entry) {
	r.t.Helper()
	require.NotNil(r.t, c.Standing)
	assert.Equal(r.t, want, c.Standing.ID)
	standing, err := c.Standing.Entry()
	require.NoError(r.t, err)
	assert.True(r.t, e.Same(standing))
}

// Ensure that a draft takes effect once, however often it is appended, and
// however late.
func TestAppend_Again(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		gameID := name("a")
		sd := seed(t, 1)
		first, err := NewGame(gameID, created(t, "classic", sd), sd)
		require.NoError(t, err)
		begun := r.append(first)
		second := r.draft(begun, moved(begun.State, 0))
		tip := r.append(second)
		shown := *tip.State
		for range 2 {
			r.unwritten(gameID, func() {
				again := r.append(first)
				equal(t, begun.State, again.State)
				again = r.append(second)
				assert.Equal(t, tip.ID, again.ID)
				equal(t, &shown, again.State)
			})
			r.play(tip, 3)
			tip = Tip{ID: tip.ID, State: tip.State}
		}
	})
}

// Ensure that a draft knows its own entry where that is published, before the
// append is answered and after, and no other.
func TestDraft_Landed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		gameID := name("a")
		begun := r.create(gameID, "classic")
		own, other := r.draft(begun, moved(begun.State, 0)), r.draft(begun, moved(begun.State, 1))
		next := r.append(r.draft(begun, moved(begun.State, 0)))
		record, found, err := r.log.At(t.Context(), gameID, 2)
		require.NoError(t, err)
		require.True(t, found)

		_, landed := other.Landed(begun, record)
		assert.False(t, landed, "another move")
		_, landed = own.Landed(next, record)
		assert.False(t, landed, "another place")
		heard, landed := own.Landed(begun, record)
		require.True(t, landed)
		assert.Equal(t, next.ID, heard.Tip.ID)
		equal(t, next.State, heard.Tip.State)
		assert.Same(t, heard.Tip.State, r.append(own).State)
	})
}

// Ensure that a game is created once: the second time its first entry is shown.
func TestAppend_CreatedTwice(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		gameID := name("a")
		tip := r.create(gameID, "classic")
		other := seed(t, 99)
		c := created(t, "classic", other)
		d, err := NewGame(gameID, c, other)
		require.NoError(t, err)
		conflict := r.refused(gameID, d)
		assert.Equal(t, tip.ID, conflict.Last)
		r.stands(conflict, tip.ID, replay.Entry{Seat: game.NoSeat, Action: c})
	})
}

// Ensure that nothing is appended before its time.
func TestAppend_Early(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		gameID := name("a")
		tip := r.create(gameID, "classic")
		entry := moved(tip.State, 0)
		early, err := tip.Draft(entry, time.Now().Add(time.Hour), nil)
		require.NoError(t, err)
		r.unwritten(gameID, func() {
			_, err := r.log.Append(t.Context(), early)
			require.ErrorIs(t, err, ErrTooEarly)
		})
		due, err := tip.Draft(entry, tip.State.UpdateTime, nil)
		require.NoError(t, err)
		r.sound(r.append(due))
	})
}

// Ensure that nothing is written to a game whose log and meta contradict each
// other, even where the log ends as it should.
func TestAppend_Broken(t *testing.T) {
	t.Parallel()
	other := ID{Version: 3, Digest: 12345}
	damages := map[string]func(ctx context.Context, r *rig, gameID string) error{
		"cut at the front": func(ctx context.Context, r *rig, gameID string) error {
			return r.client.XTrimMaxLen(ctx, logKey(gameID), 4).Err()
		},
		"an entry deleted": func(ctx context.Context, r *rig, gameID string) error {
			return r.client.XDel(ctx, logKey(gameID), r.content(gameID).log[2].ID).Err()
		},
		"an entry too many": func(_ context.Context, r *rig, gameID string) error {
			r.rewrite(gameID, func(log []redis.XMessage) []redis.XMessage {
				return append([]redis.XMessage{{ID: "0-5", Values: log[1].Values}}, log...)
			})
			return nil
		},
		"meta ahead": func(ctx context.Context, r *rig, gameID string) error {
			return r.client.HSet(ctx, metaKey(gameID), "last", "9-1").Err()
		},
		"meta of another history": func(ctx context.Context, r *rig, gameID string) error {
			return r.client.HSet(ctx, metaKey(gameID), "last", "6-1").Err()
		},
		"meta behind, of another history": func(ctx context.Context, r *rig, gameID string) error {
			return r.client.HSet(ctx, metaKey(gameID), "last", other.String()).Err()
		},
		"meta that is none": func(ctx context.Context, r *rig, gameID string) error {
			return r.client.HSet(ctx, metaKey(gameID), "last", "none").Err()
		},
	}
	each(t, func(t *testing.T, r *rig) {
		for what, damage := range damages {
			t.Run(what, func(t *testing.T) {
				r, gameID := r.in(t), name(what)
				tip := r.play(r.create(gameID, "classic"), 5)
				d := r.draft(tip, moved(tip.State, 0))
				require.NoError(t, damage(t.Context(), r, gameID))
				r.unwritten(gameID, func() {
					_, err := r.log.Append(t.Context(), d)
					require.ErrorIs(t, err, ErrBroken)
				})
			})
		}
	})
}

// Ensure that a game whose log is gone is not begun again over its meta.
func TestAppend_MetaWithoutLog(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		gameID := name("a")
		r.create(gameID, "classic")
		require.NoError(t, r.client.Del(t.Context(), logKey(gameID)).Err())
		sd := seed(t, gameID[0])
		d, err := NewGame(gameID, created(t, "classic", sd), sd)
		require.NoError(t, err)
		r.unwritten(gameID, func() {
			_, err := r.log.Append(t.Context(), d)
			require.ErrorIs(t, err, ErrBroken)
		})
	})
}

// Ensure that a meta that is behind or missing does not prevent an append, and
// is corrected.
func TestAppend_MetaBehind(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx, gameID := t.Context(), name("a")
		tip := r.play(r.create(gameID, "classic"), 1)
		old := r.content(gameID).meta
		tip = r.play(tip, 2)
		require.NoError(t, r.client.HSet(ctx, metaKey(gameID), old).Err())
		tip = r.play(tip, 1)
		r.sound(tip)
		require.NoError(t, r.client.Del(ctx, metaKey(gameID)).Err())
		r.sound(r.play(tip, 1))
	})
}

// Ensure that time never goes back, whatever Redis's clock does.
func TestAppend_Time(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		gameID := name("a")
		tip := r.play(r.create(gameID, "classic"), 3)
		future := time.Now().Add(time.Hour).Truncate(time.Millisecond).UTC()
		r.rewrite(gameID, func(log []redis.XMessage) []redis.XMessage {
			log[3].Values["t"] = ms(future)
			return log
		})
		tip = r.play(tip, 2)
		assert.Equal(t, future, tip.State.UpdateTime)
		r.sound(tip)
	})
}

// Ensure that a Redis that forgot the scripts is told them again.
func TestAppend_NoScript(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		tip := r.create(name("a"), "classic")
		for range 3 {
			require.NoError(t, r.client.ScriptFlush(t.Context()).Err())
			tip = r.play(tip, 2)
		}
		require.NoError(t, r.client.ScriptFlush(t.Context()).Err())
		r.sound(tip)
	})
}

// Ensure that of many who append at once, through two servers, one wins where
// they want different things, and all do where they want the same.
func TestAppend_AtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		logs := []*Log{r.log, newLog(t, r.addr)}
		tip := r.create(name("a"), "6x6")
		for round := range 20 {
			same := round%2 == 0
			const callers = 8
			var group sync.WaitGroup
			won, errs := make([]Appended, callers), make([]error, callers)
			for i := range callers {
				nth := i
				if same {
					nth = 0
				}
				d := r.draft(tip, moved(tip.State, nth))
				group.Go(func() { won[i], errs[i] = logs[i%2].Append(t.Context(), d) })
			}
			group.Wait()
			tail, err := r.log.Tail(t.Context(), tip.State.ID)
			require.NoError(t, err)
			require.Equal(t, tip.ID.Version+1, tail.Last.Version)
			winners := map[ID]bool{}
			for i, err := range errs {
				var conflict *ConflictError
				switch {
				case err == nil:
					require.Equal(t, tail.Last, won[i].Tip.ID)
					winners[won[i].Tip.ID] = true
					tip = won[i].Tip
				case same:
					require.NoError(t, err)
				default:
					require.ErrorAs(t, err, &conflict)
					require.Equal(t, tail.Last, conflict.Standing.ID)
				}
			}
			require.Len(t, winners, 1)
		}
		r.sound(tip)
	})
}

// Ensure that it is told apart which errors say that nothing was written.
func TestOutcome(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err       error
		unsettled bool
	}{
		{redis.ErrNoScript, false},
		{fmt.Errorf("wrapped: %w", redis.ErrNoScript), false},
		{redis.ErrAutoPipelineQueueFull, false},
		{redis.ErrClosed, true},
		{redis.ErrPoolTimeout, true},
		{context.DeadlineExceeded, true},
		{context.Canceled, true},
		{errors.New("connection reset by peer"), true},
	} {
		got := appendError(tt.err)
		assert.Equal(t, tt.unsettled, errors.Is(got, ErrUnsettled), "%v", tt.err)
		assert.ErrorIs(t, got, tt.err)
	}
}
