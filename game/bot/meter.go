package bot

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/bits"
	"time"
)

// meter counts the work of one decision, reports when to stop, and generates its random
// numbers.
type meter struct {
	Options
	ctx      context.Context
	deadline time.Time // zero if the decision has no deadline
	limit    int64     // maximum of done
	done     int64     // number of moves tried
	look     int64     // value of done at which to check the clock and the context next
	over     bool
	canceled bool // the context was canceled, so the decision is no longer needed

	chance chance
}

// lookEvery is the amount of work between checks of the clock. That much work takes tens of
// microseconds on the largest boards, and far longer than a check even on the smallest.
const lookEvery = 256

func newMeter(ctx context.Context, o Options, seed uint64) *meter {
	m := &meter{Options: o, ctx: ctx, limit: cmp.Or(o.Work, math.MaxInt64), chance: chance(seed)}
	m.deadline, _ = ctx.Deadline()
	if o.Time > 0 {
		if end := time.Now().Add(o.Time); m.deadline.IsZero() || end.Before(m.deadline) {
			m.deadline = end
		}
	}
	return m
}

// bound limits the work of the decision if the options limit neither depth nor work.
func (m *meter) bound(work int64) {
	if m.Depth == 0 && m.Work == 0 {
		m.limit = work
	}
}

// spend counts work as done and reports whether to stop. Once it returns true, it keeps
// returning true.
func (m *meter) spend(work int64) bool {
	m.done += work
	return m.done >= m.look && m.enough()
}

// left returns how much work remains before the limit.
func (m *meter) left() int64 { return m.limit - m.done }

func (m *meter) enough() bool {
	if m.over {
		return true
	}
	m.look = min(m.done+lookEvery, m.limit)
	if err := m.ctx.Err(); err != nil {
		m.over, m.canceled = true, errors.Is(err, context.Canceled)
	}
	if m.done >= m.limit || !m.deadline.IsZero() && !time.Now().Before(m.deadline) {
		m.over = true
	}
	if m.over {
		m.look = 0
	}
	return m.over
}

// chance is a fast random number generator, good enough for trial games: wyrand, by Wang Yi.
type chance uint64

func (c *chance) next() uint64 {
	*c += 0xa0761d6478bd642f
	hi, lo := bits.Mul64(uint64(*c), uint64(*c)^0xe7037ed1a0b428db)
	return hi ^ lo
}

// Draw returns a number from 0 to n−1. The probabilities of the numbers differ by less than n
// in 2⁶⁴.
func (c *chance) Draw(n int) int {
	hi, _ := bits.Mul64(c.next(), uint64(n))
	return int(hi)
}
