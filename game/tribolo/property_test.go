package tribolo_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/tribolo"
)

// step is one step of a game: a resignation, or one of the legal moves.
type step struct {
	resigns int // seat that resigns, or game.NoSeat
	choice  int
}

var anySeed = rapid.Custom(func(t *rapid.T) game.Seed {
	return seedOf(rapid.SliceOfN(rapid.Byte(), game.SeedSize, game.SeedSize).Draw(t, "seed"))
})

// anySteps generates the steps of a whole game, in which one or two seats may resign.
var anySteps = rapid.Custom(func(t *rapid.T) []step {
	steps := make([]step, tribolo.MaxMoves+2)
	choices := rapid.SliceOfN(rapid.Uint16(), 1, 40).Draw(t, "choices")
	for i := range steps {
		steps[i] = step{game.NoSeat, int(choices[i%len(choices)]) + i}
	}
	for range rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2}).Draw(t, "resignations") {
		seat := rapid.IntRange(0, tribolo.Seats-1).Draw(t, "resigns")
		steps[rapid.IntRange(0, len(steps)-1).Draw(t, "at")].resigns = seat
	}
	return steps
})

// play applies a step, unless the game is over.
func (s step) play(t require.TestingT, p *tribolo.Position) (*tribolo.Position, game.Change) {
	if s.resigns != game.NoSeat {
		return tribolo.New().Resign(p, s.resigns).(*tribolo.Position), game.Change{}
	}
	legal := p.LegalMoves()
	if len(legal) == 0 {
		return p, game.Change{}
	}
	next, change, err := tribolo.New().Move(p, p.Turn(), legal[s.choice%len(legal)], nil)
	require.NoError(t, err)
	return next.(*tribolo.Position), change
}

// TestProperty_Game plays whole games and checks every step against the text of the rules.
func TestProperty_Game(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := start(anySeed.Draw(t, "seed"))
		for _, s := range anySteps.Draw(t, "steps") {
			next, change := s.play(t, p)
			switch turn := p.Turn(); {
			case s.resigns == game.NoSeat && turn == game.NoSeat:
				require.Equal(t, p, next)
			case s.resigns == game.NoSeat:
				m := p.LegalMoves()[s.choice%len(p.LegalMoves())]
				requireMove(t, p, next, m, change)
				require.Equal(t, gridOf(next.Cells()).next(turn, next.Resigned()), next.Turn())
			default:
				require.Equal(t, p.Board(), next.Board())
				require.Equal(t, p.Resigned().With(s.resigns), next.Resigned())
				if s.resigns == turn {
					turn = gridOf(next.Cells()).next(turn, next.Resigned())
				}
				require.Equal(t, turn, next.Turn())
			}
			p = next
		}
		require.Equal(t, game.NoMoves, p.Ended(), "the game did not end within MaxMoves")
		require.Nil(t, p.LegalMoves())
		require.LessOrEqual(t, p.MoveCount(), int32(tribolo.MaxMoves))
	})
}

// requireMove checks how a move changed the cells.
func requireMove(t *rapid.T, p, next *tribolo.Position, m game.Move, change game.Change) {
	mover, g := p.Turn(), gridOf(p.Cells())
	var legal []game.Cell
	for _, move := range p.LegalMoves() {
		legal = append(legal, move.Cell)
	}
	require.Equal(t, g.moves(mover), legal, "%s on\n%s", tribolo.OwnerOf(mover), p.Board())
	taken := g.taken(mover, m.Cell)
	g.play(mover, m.Cell)
	require.Equal(t, gridOf(next.Cells()), g, "%s, after %v on\n%s", next.Board(), m.Cell, p.Board())
	require.Equal(t, taken, change.Taken)
	require.Equal(t, taken, p.Taken(m))

	require.Equal(t, p.Scores()[mover]+change.Gained, next.Scores()[mover])
	require.EqualValues(t, 1+len(taken), change.Gained)
	require.Equal(t, p.MoveCount()+1, next.MoveCount())
	require.Equal(t, p.Resigned(), next.Resigned())
}
