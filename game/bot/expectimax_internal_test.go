package bot

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
	"github.com/gridstand/gridstand/game/variants"
)

// reference is textbook expectimax on the plain engine, with a Go map as its transposition
// table.
type reference struct {
	*odds
	table  map[referenceKey]float64
	boards [maxDepth + 1][]uint8 // one scratch board per depth
}

type referenceKey struct {
	board uint64 // hash of the board
	depth int
}

func (r *reference) slid(cells []uint8, d game.Direction, depth int) []uint8 {
	r.boards[depth] = append(r.boards[depth][:0], cells...)
	twenty48.Grid{Columns: r.Columns, Cells: r.boards[depth]}.Slide(d)
	return r.boards[depth]
}

func (r *reference) after(cells []uint8, depth int) float64 {
	if r.end > 0 && slices.Contains(cells, r.end) {
		return worthWon
	}
	if depth == 0 {
		return float64(gridWorth(twenty48.Grid{Columns: r.Columns, Cells: cells}))
	}
	key := referenceKey{hash(cells), depth}
	if value, ok := r.table[key]; ok {
		return value
	}
	var sum float64
	empty := 0
	for i, e := range cells {
		if e != 0 {
			continue
		}
		empty++
		cells[i] = 1
		sum += r.before(cells, depth-1) * float64(1-r.four)
		if r.FoursIn > 0 {
			cells[i] = 2
			sum += r.before(cells, depth-1) * float64(r.four)
		}
		cells[i] = 0
	}
	value := sum / float64(empty)
	r.table[key] = value
	return value
}

func (r *reference) before(cells []uint8, depth int) float64 {
	changing := twenty48.Grid{Columns: r.Columns, Cells: cells}.Changing()
	idle := r.IdleMoves && slices.Contains(cells, 0)
	value := float64(worthLost)
	for _, d := range directions {
		if changing.Has(d) || idle {
			value = max(value, r.after(r.slid(cells, d, depth), depth))
		}
	}
	return value
}

func TestExpectimax_ValuesAsReference(t *testing.T) {
	t.Parallel()
	for _, v := range variants.All() {
		if v.Kind != game.Twenty48 {
			continue
		}
		t.Run(v.ID, func(t *testing.T) {
			t.Parallel()
			o := oddsOf(v.Rules.(*twenty48.Rules))
			deepest, boards := 2, 20
			if v.Rows > 4 {
				deepest, boards = 1, 10
			}
			one := searches64.New().(*search64)
			one.odds, one.meter = o, startMeter(Options{})
			grid := searchGrids.New().(*searchGrid)
			grid.odds, grid.meter = o, startMeter(Options{})
			for _, p := range positions48(t, v, boards) {
				want := reference{odds: o, table: map[referenceKey]float64{}}
				var fits bool
				one.root, fits = p.Board64()
				one.table.forget()
				grid.begin(p.Grid())
				grid.table.forget()
				for depth := range deepest + 1 {
					for _, d := range directions {
						if !p.Legal().Has(d) {
							continue
						}
						value := want.after(want.slid(p.Grid().Cells, d, depth), depth)
						// A float32 has seven significant digits, and sums lose some of them.
						assert.InEpsilonf(t, value+1, grid.value(d, depth)+1, 1e-4, "the plain search of %v, %s, depth %d", p.Tiles(), d, depth)
						if fits {
							assert.InEpsilonf(t, value+1, one.value(d, depth)+1, 1e-4, "the search of %v, %s, depth %d", p.Tiles(), d, depth)
						}
					}
				}
				require.Equal(t, v.Rows == 4 && v.Columns == 4, fits)
			}
		})
	}
}

func TestExpectimax_SeesTheGoal(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"twos", "restless", "vt100"} {
		v := variant(t, id)
		p := board48(t, v, 0,
			2, 0, 0, 0,
			1024, 4, 8, 16,
			1024, 512, 256, 64,
			2, 0, 2, 4)
		for _, o := range []Options{{Depth: 1}, {Depth: 2}, {Work: 1}, {}} {
			m := choose(t, "expectimax", v, o, p)
			assert.Contains(t, []game.Direction{game.Up, game.Down}, m.Direction, "%s, %+v", id, o)
		}
	}
}

func TestExpectimax_LargeTile(t *testing.T) {
	t.Parallel()
	v := variant(t, "classic")
	tiles := []int32{
		32768, 16384, 8192, 4096,
		256, 512, 1024, 2048,
		128, 64, 32, 16,
		0, 2, 2, 4,
	}
	large := board48(t, v, 0, tiles...)
	_, fits := large.Board64()
	require.False(t, fits)
	// Sliding right moves the small tiles below the 32 and the 16. Sliding left would move them
	// below the 128 and the 64.
	assert.Equal(t, game.Slide(game.Right), choose(t, "expectimax", v, Options{Depth: 2}, large))

	// Two tiles of 32,768 merge into one that a board in one word cannot represent.
	tiles[1] = 32768
	assert.Equal(t, game.Slide(game.Right), choose(t, "greedy", v, Options{}, board48(t, v, 0, tiles...)))
}

// TestExpectimax_AnswersFromWholeSearch checks that the bot discards the results of a search
// that was cut short by the work limit.
func TestExpectimax_AnswersFromWholeSearch(t *testing.T) {
	t.Parallel()
	v := variant(t, "classic")
	for _, p := range positions48(t, v, 10) {
		s := searches64.New().(*search64)
		o := oddsOf(v.Rules.(*twenty48.Rules))
		s.odds, s.meter = o, startMeter(Options{})
		s.root, _ = p.Board64()
		s.table.forget()
		at0, _ := best(s.meter, p.Legal(), s, 0)
		answers := []game.Move{at0}
		for depth := 1; depth <= 3; depth++ {
			answers = append(answers, choose(t, "expectimax", v, Options{Depth: depth}, p))
		}
		for work := int64(4); work < 2000; work += work / 3 {
			m, did, err := seeded(t, "expectimax", v, Options{Depth: 3, Work: work}).decide(t.Context(), p)
			require.NoError(t, err)
			assert.Contains(t, answers, m, "%v", p.Tiles())
			assert.LessOrEqual(t, did, work+20, "work")
		}
	}
}
