package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/ratio"
)

func TestTable(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	err := run(strings.NewReader(`goos: linux
BenchmarkMoves/500_players-2   1   9500 moves/s  13750 bare-moves/s  0.691 ratio  0.61 ratio-lowest  0.80 ratio-highest  0.7 goal-at-least
BenchmarkRank-2   1  1.25 ms  1.04 bare-ms  1.2 ratio  1.1 ratio-lowest  1.3 ratio-highest  1.3 goal-at-most
BenchmarkOther-2   100  12 ns/op
PASS
`), &out)
	require.NoError(t, err)
	assert.Equal(t, `
| what | ours | bare | ratio (5 rounds) | goal | |
|---|---|---|---|---|---|
| Moves: 500 players | 9,500 moves/s | 13,750 moves/s | 0.69 (0.61–0.80) | ≥ 0.7 | missed |
| Rank | 1.25 ms | 1.04 ms | 1.20 (1.10–1.30) | ≤ 1.3 | met |
`, out.String())
}

func TestTable_Fails(t *testing.T) {
	t.Parallel()
	const row = "BenchmarkRank-2 1 1.25 ms 1.04 bare-ms 1.2 ratio 1.1 ratio-lowest 1.3 ratio-highest\n"
	for name, in := range map[string]string{
		"nothing was compared": "BenchmarkOther-2 100 12 ns/op\nPASS\n",
		"a benchmark failed":   row + "--- FAIL: BenchmarkMoves\nFAIL\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.ErrorContains(t, run(strings.NewReader(in), &strings.Builder{}), name)
		})
	}
}

// Ensure that a comparison measures both sides in every round, and reports their medians and the
// range of their ratios.
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
