package gamelog

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game/replay"
)

// Ensure that every reader of a damaged log notices, and gets the last version
// that can be read, and that reading leaves the log as it is.
func TestLoad_Damaged(t *testing.T) {
	t.Parallel()
	const length = 8
	// at changes the entry of a version.
	at := func(version int, change func(m *redis.XMessage)) func(*rig, string) {
		return func(r *rig, gameID string) {
			r.rewrite(gameID, func(log []redis.XMessage) []redis.XMessage {
				log[version-1].Values = maps.Clone(log[version-1].Values)
				change(&log[version-1])
				return log
			})
		}
	}
	set := func(field string, value any) func(*redis.XMessage) {
		return func(m *redis.XMessage) { m.Values[field] = value }
	}
	bump := func(by int32) func(*redis.XMessage) {
		return func(m *redis.XMessage) {
			id, _ := ParseID(m.ID)
			m.ID = ID{Version: id.Version, Digest: id.Digest + uint64(by)}.String()
		}
	}
	do := func(f func(ctx context.Context, r *rig, gameID string) error) func(*rig, string) {
		return func(r *rig, gameID string) { require.NoError(r.t, f(r.t.Context(), r, gameID)) }
	}
	damages := []struct {
		name   string
		damage func(*rig, string)
		last   int32
		// silent: an append, which looks at the end and the length, cannot tell.
		silent bool
	}{
		{"swapped for another game's", func(r *rig, gameID string) {
			r.play(r.create(name("other"+gameID), "classic"), length-1)
			require.NoError(r.t, r.client.Rename(r.t.Context(), logKey(name("other"+gameID)), logKey(gameID)).Err())
		}, 0, false},
		{"swapped, meta too", func(r *rig, gameID string) {
			r.play(r.create(name("other"+gameID), "classic"), length-1)
			require.NoError(r.t, r.client.Rename(r.t.Context(), logKey(name("other"+gameID)), logKey(gameID)).Err())
			require.NoError(r.t, r.client.Rename(r.t.Context(), metaKey(name("other"+gameID)), metaKey(gameID)).Err())
		}, 0, false},
		{"cut at the end", func(r *rig, gameID string) {
			r.rewrite(gameID, func(log []redis.XMessage) []redis.XMessage { return log[:5] })
		}, 5, false},
		{"cut at the front", do(func(ctx context.Context, r *rig, gameID string) error {
			return r.client.XTrimMaxLen(ctx, logKey(gameID), length-2).Err()
		}), 0, false},
		{"emptied", do(func(ctx context.Context, r *rig, gameID string) error {
			return r.client.XTrimMaxLen(ctx, logKey(gameID), 0).Err()
		}), 0, false},
		{"gone", do(func(ctx context.Context, r *rig, gameID string) error {
			return r.client.Del(ctx, logKey(gameID)).Err()
		}), 0, false},
		{"an entry deleted", do(func(ctx context.Context, r *rig, gameID string) error {
			return r.client.XDel(ctx, logKey(gameID), r.content(gameID).log[3].ID).Err()
		}), 3, false},
		{"the last entry deleted", do(func(ctx context.Context, r *rig, gameID string) error {
			return r.client.XDel(ctx, logKey(gameID), r.content(gameID).log[length-1].ID).Err()
		}), length - 1, false},
		{"an entry twice", func(r *rig, gameID string) {
			r.rewrite(gameID, func(log []redis.XMessage) []redis.XMessage {
				again := log[4]
				bump(1)(&again)
				return append(log[:5:5], append([]redis.XMessage{again}, log[5:]...)...)
			})
		}, 5, false},
		{"the last entry twice", func(r *rig, gameID string) {
			r.rewrite(gameID, func(log []redis.XMessage) []redis.XMessage {
				again := log[length-1]
				bump(1)(&again)
				return append(log, again)
			})
		}, length, false},
		{"an entry before the first", func(r *rig, gameID string) {
			r.rewrite(gameID, func(log []redis.XMessage) []redis.XMessage {
				return append([]redis.XMessage{{ID: "0-1", Values: log[1].Values}}, log...)
			})
		}, length, false},
		{"an entry by an operator", do(func(ctx context.Context, r *rig, gameID string) error {
			return r.client.XAdd(ctx, &redis.XAddArgs{Stream: logKey(gameID), Values: []any{"e", "x"}}).Err()
		}), length, false},
		{"a digest altered", at(4, bump(1)), 3, true},
		{"the last digest altered", at(length, bump(1)), length - 1, false},
		{"the first digest altered", at(1, bump(1)), 0, true},
		{"an entry emptied", at(4, set("e", "\x08")), 3, true},
		{"a move made a program's", at(4, func(m *redis.XMessage) {
			e, err := decodeEntry([]byte(m.Values["e"].(string)))
			require.NoError(t, err)
			e.Action = replay.Moved{Move: e.Action.(replay.Moved).Move, ByBot: true}
			raw, err := encodeEntry(e)
			require.NoError(t, err)
			m.Values["e"] = string(raw)
		}), 3, true},
		{"a time that is none", at(4, set("t", "noon")), 3, true},
		{"no time", at(4, func(m *redis.XMessage) { delete(m.Values, "t") }), 3, true},
		{"a time too early", at(4, set("t", "1")), 3, true},
		{"a time too late", at(4, set("t", "9999999999999")), 4, true},
		{"another seed", at(1, set("s", "00000000000000000000000000000000")), 0, true},
		{"a short seed", at(1, set("s", "0")), 0, true},
		{"no seed", at(1, func(m *redis.XMessage) { delete(m.Values, "s") }), 0, true},
		{"meta ahead", do(func(ctx context.Context, r *rig, gameID string) error {
			return r.client.HSet(ctx, metaKey(gameID), "last", "9-1").Err()
		}), length, false},
		{"meta of another history", do(func(ctx context.Context, r *rig, gameID string) error {
			return r.client.HSet(ctx, metaKey(gameID), "last", "3-1").Err()
		}), length, false},
		{"meta that is none", do(func(ctx context.Context, r *rig, gameID string) error {
			return r.client.HSet(ctx, metaKey(gameID), "last", "none").Err()
		}), length, false},
	}
	each(t, func(t *testing.T, r *rig) {
		for _, tt := range damages {
			t.Run(tt.name, func(t *testing.T) {
				r, gameID := r.in(t), name(tt.name)
				tip := r.play(r.create(gameID, "classic"), length-1)
				next := r.draft(tip, moved(tip.State, 0))
				tt.damage(r, gameID)
				r.unwritten(gameID, func() {
					for _, through := range []ID{{}, tip.ID} {
						h, err := r.log.Load(t.Context(), gameID, through, 64)
						var damaged *DamagedError
						require.ErrorAs(t, err, &damaged)
						assert.Equal(t, tt.last, damaged.Version, "%v", damaged)
						assert.NotEmpty(t, damaged.Detail)
						assert.Empty(t, h)
					}
					if !tt.silent {
						_, err := r.log.Append(t.Context(), next)
						require.Error(t, err)
						require.NotErrorIs(t, err, ErrUnsettled)
					}
				})
			})
		}
	})
}

// Ensure that a game that lacks events that were seen is damaged, even if the
// log is consistent: Redis went back to an earlier state of it.
func TestLoad_WentBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		gameID := name("a")
		tip := r.play(r.create(gameID, "classic"), 3)
		ahead := tip.ID.Next([]byte("entry"), []byte("board"))
		_, err := r.log.Load(t.Context(), gameID, ahead, 1)
		var damaged *DamagedError
		require.ErrorAs(t, err, &damaged)
		assert.EqualValues(t, 4, damaged.Version)
		_, err = r.log.Load(t.Context(), gameID, ID{Version: 2, Digest: 1}, 1)
		require.ErrorAs(t, err, &damaged)
		assert.EqualValues(t, 4, damaged.Version)
	})
}

// Ensure that there is no bit of an entry that can change unseen. Where what is
// left looks like something that only a newer program knows, it is left to that
// one: without its board no digest can be worked out.
func TestApply_EveryBit(t *testing.T) {
	t.Parallel()
	gameID, sd := name("a"), seed(t, 1)
	first, err := NewGame(gameID, created(t, "classic", sd), sd)
	require.NoError(t, err)
	begun := first.result(time.UnixMilli(1_800_000_000_000)).Tip
	move := replay.Moved{Move: begun.State.LegalMoves()[0], ByBot: true}
	second, err := begun.Draft(replay.Entry{Seat: 0, Action: move}, time.Time{}, nil)
	require.NoError(t, err)
	for d, prev := range map[*Draft]Tip{first: {ID: Genesis(gameID)}, second: begun} {
		good := Record{ID: d.next, Time: begun.State.UpdateTime, raw: d.raw, seed: d.seed}
		_, _, err := prev.Apply(gameID, good, nil)
		require.NoError(t, err)
		for bit := range len(d.raw) * 8 {
			bad := good
			bad.raw = slices.Clone(d.raw)
			bad.raw[bit/8] ^= 1 << (bit % 8)
			tip, event, err := prev.Apply(gameID, bad, nil)
			require.Nil(t, event)
			require.Equal(t, prev.ID, tip.ID)
			var damaged *DamagedError
			if !errors.As(err, &damaged) {
				require.ErrorIs(t, err, replay.ErrUnknown)
				continue
			}
			require.Equal(t, prev.ID.Version, damaged.Version)
		}
	}
}

// Ensure that a game that a newer server wrote in is left to it: it is neither
// damaged nor patched.
func TestLoad_Unknown(t *testing.T) {
	t.Parallel()
	unknown := []byte{0xfa, 0x01, 0x00} // field 31
	changes := map[string]func(*rig, string){
		"an action": func(r *rig, gameID string) {
			ctx := r.t.Context()
			require.NoError(r.t, r.client.XAdd(ctx, &redis.XAddArgs{
				Stream: logKey(gameID), ID: "5-77", Values: []any{"t", "9999999999999", "e", unknown},
			}).Err())
			require.NoError(r.t, r.client.HSet(ctx, metaKey(gameID), "last", "5-77").Err())
		},
		"an action, written over": func(r *rig, gameID string) {
			r.rewrite(gameID, func(log []redis.XMessage) []redis.XMessage {
				log[2].Values["e"] = string(unknown)
				return log
			})
		},
		"rules": func(r *rig, gameID string) {
			c := created(r.t, "classic", seed(r.t, gameID[0]))
			c.Revision = 99
			raw, err := encodeEntry(replay.Entry{Seat: -1, Action: c})
			require.NoError(r.t, err)
			r.rewrite(gameID, func(log []redis.XMessage) []redis.XMessage {
				log[0].Values["e"] = string(raw)
				return log
			})
		},
	}
	each(t, func(t *testing.T, r *rig) {
		for what, change := range changes {
			t.Run(what, func(t *testing.T) {
				r, gameID := r.in(t), name(what)
				r.play(r.create(gameID, "classic"), 3)
				change(r, gameID)
				r.unwritten(gameID, func() {
					_, err := r.log.Load(t.Context(), gameID, ID{}, 64)
					require.ErrorIs(t, err, replay.ErrUnknown)
					var damaged *DamagedError
					require.NotErrorAs(t, err, &damaged)
					require.NotErrorIs(t, err, replay.ErrInvalid)
				})
			})
		}
	})
}
