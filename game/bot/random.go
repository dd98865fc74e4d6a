package bot

import "github.com/gridstand/gridstand/game"

// random plays any game: a random legal move, each equally likely.
type random struct{}

func newRandom(game.Variant, Options) (chooser, error) { return random{}, nil }

func (random) choose(m *meter, p game.Position) (game.Move, error) {
	moves := p.LegalMoves()
	return moves[m.chance.below(len(moves))], nil
}
