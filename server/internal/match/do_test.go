package match

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/store"
)

// idle returns a move that would not change the board and is therefore illegal.
func idle(t *testing.T, s *replay.State) replay.Moved {
	t.Helper()
	for _, d := range []game.Direction{game.Up, game.Right, game.Down, game.Left} {
		legal := false
		for _, m := range s.LegalMoves() {
			legal = legal || m == game.Slide(d)
		}
		if !legal {
			return replay.Moved{Move: game.Slide(d)}
		}
	}
	return replay.Moved{Move: game.To(game.Cell{})}
}

// Ensure that a refused call gets the first applicable error in the documented order, and
// leaves the log unchanged.
func TestDo_Order(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		s := env.serve(env.addr)
		active := s.begin(name("active"), "classic")
		active.play(t, 4)
		over := s.begin(name("over"), "classic")
		over.play(t, 4)
		over.do(t, resign(0))
		c := created(t, "classic", seed(t, 1))
		c.Seats = []replay.Seat{{}}
		_, err := s.Create(t.Context(), name("waiting"), c, seed(t, 1), time.Time{})
		require.NoError(t, err)
		waiting := s.match(name("waiting"))

		illegal := replay.Moved{Move: game.To(game.Cell{X: 3})}
		call := func(player string, version int32, a replay.Action) Call {
			return Call{PlayerID: player, Version: version, Seat: game.NoSeat, Action: a}
		}
		seat := func(c Call, seat int) Call { c.Seat = seat; return c }
		early := func(c Call) Call { c.NotBefore = time.Now().Add(time.Hour); return c }
		conflict := &VersionConflictError{Version: 5}
		for _, tt := range []struct {
			name string
			m    *Match
			call Call
			want error
		}{
			{"a stranger, with everything else wrong too", over, call(bob.ID, 99, illegal), ErrNotSeated},
			{"a stranger in a waiting game", waiting, call(bob.ID, 1, illegal), ErrNotSeated},
			{"a stranger who resigns", active, call(bob.ID, 0, replay.Resigned{}), ErrNotSeated},
			{"another player's seat", active, seat(resign(0), 1), ErrNotSeated},
			{"no such seat", active, seat(resign(0), -7), ErrNotSeated},
			{"over, and version too new", over, call(ann.ID, 99, illegal), replay.ErrGameOver},
			{"over, and version too old", over, call(ann.ID, 3, illegal), replay.ErrGameOver},
			{"over", over, call(ann.ID, 6, illegal), replay.ErrGameOver},
			{"version too old", active, call(ann.ID, 4, illegal), conflict},
			{"version too new", active, call(ann.ID, 6, illegal), conflict},
			{"version far too old", active, call(ann.ID, 1, illegal), conflict},
			{"resigning with version too old", active, resign(4), conflict},
			{"resigning with version too new", active, resign(6), conflict},
			{"version too new in a waiting game", waiting, call("", 2, illegal), &VersionConflictError{Version: 1}},
			{"waiting game", waiting, seat(call("", 1, illegal), 0), replay.ErrNotStarted},
			{"a seat that is not to move", active, seat(call("", 5, illegal), 1), replay.ErrNotYourTurn},
			{"a cell", active, call(ann.ID, 5, illegal), game.ErrIllegalMove},
			{"nothing moves", active, call(ann.ID, 5, idle(t, active.State())), game.ErrIllegalMove},
			{"illegal, and too early", active, early(call(ann.ID, 5, illegal)), game.ErrIllegalMove},
			{"too early", active, early(move(active.State(), 0)), store.ErrTooEarly},
		} {
			t.Run(tt.name, func(t *testing.T) {
				env.unwritten(tt.m.id, func() {
					event, err := tt.m.Do(t.Context(), tt.call)
					if want := (*VersionConflictError)(nil); errors.As(tt.want, &want) {
						assert.Equal(t, tt.want, err)
					} else {
						assert.ErrorIs(t, err, tt.want)
					}
					assert.Nil(t, event)
				})
			})
		}
		env.check(name("active"), s)
		env.check(name("over"), s)
	})
}

// Ensure that a repeated call returns the event of the first call, on every server and no
// matter how old the event is, and does not take effect twice.
func TestDo_Repeated(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		s := env.serve(env.addr)
		m := s.begin(name("a"), "6x6")
		var calls []Call
		var events []*Event
		for range RingSize + 20 {
			state := m.State()
			m.play(t, 1)
			event := m.ring.at(state.Version + 1)
			calls = append(calls, Call{PlayerID: ann.ID, Version: state.Version, Seat: game.NoSeat, Action: event.Entry.Action})
			events = append(events, event)
		}
		ask := func(m *Match) {
			t.Helper()
			env.unwritten(name("a"), func() {
				for _, i := range []int{0, 1, 10, len(calls) - RingSize - 1, len(calls) - RingSize, len(calls) - 2, len(calls) - 1} {
					again := m.do(t, calls[i])
					require.Equal(t, events[i].Entry, again.Entry)
					require.Equal(t, events[i].Change, again.Change)
					same(t, events[i].State, again.State)

					// A different action at that version is not a repeated call.
					other := calls[i]
					moved := other.Action.(replay.Moved)
					moved.ByBot = true
					other.Action = moved
					_, err := m.Do(t.Context(), other)
					require.Equal(t, &VersionConflictError{Version: int32(len(calls) + 1)}, err)
					// The same action by another player is not a repeated call.
					other = calls[i]
					other.PlayerID = bob.ID
					_, err = m.Do(t.Context(), other)
					require.ErrorIs(t, err, ErrNotSeated)
				}
			})
		}
		ask(m)
		fresh := env.serve(env.addr).match(name("a"))
		ask(fresh)

		// Resigning again is a repeated call, regardless of the version.
		end := m.do(t, resign(0))
		require.Equal(t, replay.Finished, end.State.Status)
		for _, m := range []*Match{m, fresh, env.serve(env.addr).match(name("a"))} {
			env.unwritten(name("a"), func() {
				for _, version := range []int32{0, 1, end.State.Version - 1, end.State.Version, 999} {
					again := m.do(t, resign(version))
					same(t, end.State, again.State)
					call := resign(version)
					call.Seat = 0
					same(t, end.State, m.do(t, call).State)
				}
				for _, i := range []int{0, len(calls) - 1} {
					same(t, events[i].State, m.do(t, calls[i]).State)
				}
				_, err := m.Do(t.Context(), Call{PlayerID: ann.ID, Version: 3, Seat: game.NoSeat, Action: replay.Moved{Move: game.To(game.Cell{})}})
				require.ErrorIs(t, err, replay.ErrGameOver)
			})
		}
		env.check(name("a"), s)
	})
}

// Ensure that a job for other servers is stored before a game's last event and that the
// result is recorded after it, and that the game does not end if the job cannot be stored.
func TestDo_Ends(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		s := env.serve(env.addr)
		m := s.begin(name("a"), "classic")
		m.play(t, 3)
		soon, _ := s.work.counts()
		require.Zero(t, soon, "no job is needed yet")

		away := errors.New("away")
		s.work.err = away
		env.unwritten(name("a"), func() {
			_, err := m.Do(t.Context(), resign(0))
			require.ErrorIs(t, err, away)
		})
		s.work.err = nil
		m.play(t, 1)
		final := m.do(t, resign(0)).State
		assert.Equal(t, []string{name("a"), name("a")}, s.work.soon)
		require.Len(t, s.work.ended, 1)
		same(t, final, s.work.ended[0])
		assert.Equal(t, []int32{1, 2, 3, 4, 5, 6}, s.seen.versions())

		m.do(t, resign(0))
		assert.Len(t, s.work.ended, 1, "a repeated call does not end the game again")
		env.check(name("a"), s)

		// The server itself ends an abandoned game.
		left := s.begin(name("b"), "classic")
		state := left.do(t, Call{Seat: game.NoSeat, Version: 1, Action: replay.Abandoned{}}).State
		assert.Equal(t, game.Abandoned, state.Result.Reason)
		env.check(name("b"), s)
	})
}

// Ensure that a game is created only once, even if its creation is repeated, with the same
// or different content.
func TestCreate(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		a, b := env.serve(env.addr), env.serve(env.addr)
		ctx, sd := t.Context(), seed(t, 1)
		c := created(t, "classic", sd)
		first, err := a.Create(ctx, name("a"), c, sd, time.Time{})
		require.NoError(t, err)
		assert.EqualValues(t, 1, first.Version)
		for _, s := range []*server{a, b} {
			again, err := s.Create(ctx, name("a"), c, sd, time.Time{})
			require.NoError(t, err)
			same(t, first, again)
		}
		now := a.match(name("a")).play(t, 3)
		for _, s := range []*server{a, b} {
			// The server drew a different seed for the repeated request.
			other := seed(t, 2)
			again := c
			again.Commitment = other.Commitment()
			state, err := s.Create(ctx, name("a"), again, other, time.Time{})
			require.NoError(t, err)
			same(t, now, state)

			again.Private = true
			_, err = s.Create(ctx, name("a"), again, other, time.Time{})
			require.ErrorIs(t, err, ErrExists)
			_, err = s.Existing(ctx, name("a"), again)
			require.ErrorIs(t, err, ErrExists)
		}
		_, err = b.Create(ctx, name("b"), c, sd, first.CreateTime.Add(-time.Millisecond))
		require.ErrorIs(t, err, store.ErrTooLate)
		again, err := b.Create(ctx, name("a"), c, sd, first.CreateTime.Add(-time.Millisecond))
		require.NoError(t, err)
		same(t, first, again)
		_, err = b.Existing(ctx, name("b"), c)
		require.ErrorIs(t, err, gamelog.ErrNotFound)
		_, err = b.Acquire(ctx, name("b"))
		require.ErrorIs(t, err, gamelog.ErrNotFound)
		assert.Equal(t, 1, b.Live(), "a game that does not exist does not stay in memory")

		require.NoError(t, env.client.Del(ctx, logKey(name("a"))).Err())
		_, err = env.serve(env.addr).Create(ctx, name("a"), c, sd, time.Time{})
		damagedAt(t, err)
	})
}

// Ensure that the outcome of a call depends on the state in the log, even if this server's copy
// is out of date.
func TestDo_Stale(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		a, b := env.serve(env.addr), env.serve(env.addr)
		ahead, stale := a.begin(name("a"), "6x6"), b.match(name("a"))
		first := move(ahead.State(), 0)
		event := ahead.do(t, first)
		ahead.play(t, 3)
		sixth := move(ahead.State(), 0)
		later := ahead.do(t, sixth)
		ahead.play(t, 4)
		require.EqualValues(t, 1, stale.State().Version, "a match without watchers gets no events")
		same(t, event.State, stale.do(t, first).State)
		same(t, later.State, stale.do(t, sixth).State)
		require.EqualValues(t, 10, stale.State().Version)

		ahead.play(t, 3)
		_, err := stale.Do(t.Context(), Call{PlayerID: ann.ID, Version: 10, Seat: game.NoSeat, Action: idle(t, stale.State())})
		require.Equal(t, &VersionConflictError{Version: 13}, err)
		ahead.play(t, 1)
		_, err = stale.Do(t.Context(), move(stale.State(), 1))
		require.Equal(t, &VersionConflictError{Version: 14}, err)
		now := ahead.play(t, 1)
		next := stale.do(t, move(now, 0))
		require.EqualValues(t, 16, next.State.Version, "a version that this server did not know yet")

		// Now the other server's state is out of date.
		_, err = ahead.Do(t.Context(), move(now, 1))
		require.Equal(t, &VersionConflictError{Version: 16}, err)
		ahead.do(t, resign(0))
		_, err = stale.Do(t.Context(), move(next.State, 0))
		require.ErrorIs(t, err, replay.ErrGameOver)
		env.check(name("a"), a, b)
	})
}
