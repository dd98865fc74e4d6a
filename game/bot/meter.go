package bot

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"sync"
	"time"
)

// meter counts the work of one decision, says when it is enough, and gives it
// its chance.
type meter struct {
	ctx       context.Context
	deadline  time.Time // zero when there is none
	limit     int64     // of done
	done      int64     // moves tried
	look      int64     // when to look at the clock and the context again
	over      bool
	cancelled bool // by the context: the decision is not wanted any more

	chance chance
}

// meters keeps the meters, which would be garbage after every move.
var meters = sync.Pool{New: func() any { return new(meter) }}

// lookEvery is the work between two looks at the clock: tens of microseconds
// on the largest boards, and far more than a look costs on the smallest.
const lookEvery = 256

func (m *meter) start(ctx context.Context, o Options, seed uint64) {
	*m = meter{ctx: ctx, limit: math.MaxInt64, chance: chance(seed)}
	if o.Work > 0 {
		m.limit = o.Work
	}
	m.deadline, _ = ctx.Deadline()
	if o.Time > 0 {
		if end := time.Now().Add(o.Time); m.deadline.IsZero() || end.Before(m.deadline) {
			m.deadline = end
		}
	}
}

// spend counts work and reports whether that was enough. Once it was, it stays so.
func (m *meter) spend(work int64) bool {
	m.done += work
	return m.done >= m.look && m.enough()
}

// left is the work that may still be done.
func (m *meter) left() int64 { return m.limit - m.done }

func (m *meter) enough() bool {
	if m.over {
		return true
	}
	m.look = min(m.done+lookEvery, m.limit)
	if err := m.ctx.Err(); err != nil {
		m.over, m.cancelled = true, errors.Is(err, context.Canceled)
	}
	if m.done >= m.limit || !m.deadline.IsZero() && !time.Now().Before(m.deadline) {
		m.over = true
	}
	if m.over {
		m.look = 0
	}
	return m.over
}

// chance is a fast generator of random numbers, good enough to guess with:
// wyrand, by Wang Yi.
type chance uint64

func (c *chance) next() uint64 {
	*c += 0xa0761d6478bd642f
	hi, lo := bits.Mul64(uint64(*c), uint64(*c)^0xe7037ed1a0b428db)
	return hi ^ lo
}

// below returns a number from 0 to n−1, each equally likely but for a part in
// 2⁶⁴ / n.
func (c *chance) below(n int) int {
	hi, _ := bits.Mul64(c.next(), uint64(n))
	return int(hi)
}
