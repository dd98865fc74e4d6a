package ratio_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/internal/ratio"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	ours := []float64{10, 40, 20, 50, 30}
	bare := []float64{10, 10, 10, 100, 10}
	take := func(figures *[]float64) ratio.Side {
		return func() float64 {
			first := (*figures)[0]
			*figures = (*figures)[1:]
			return first
		}
	}
	result := testing.Benchmark(func(b *testing.B) {
		a, c := ours, bare
		ratio.Compare(b, "moves/s", ratio.AtMost(2), take(&a), take(&c))
		assert.Empty(t, a, "every round measures both sides")
		assert.Empty(t, c, "every round measures both sides")
	})
	assert.Equal(t, map[string]float64{
		"ns/op": 0, "moves/s": 30, "bare-moves/s": 10,
		ratio.Median: 2, ratio.Lowest: 0.5, ratio.Highest: 4, ratio.GoalMost: 2,
	}, result.Extra)
}
