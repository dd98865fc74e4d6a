package tribolo

// A jump goes from an empty cell over one or more cells of one opponent to a
// cell of the mover. Square numbers differ by the same amount along a line: by 1
// down a column, by 12 along a row and by 11 and 13 along the diagonals.

// Moves are the empty cells to which the rules let seat go, were it his turn.
func (b *Board) Moves(seat int) Set {
	own, second, third := b.sides(seat)
	to := landings[[1]struct{}](own, second, third)
	to = to.or(landings[[stride - 1]struct{}](own, second, third))
	to = to.or(landings[[stride]struct{}](own, second, third))
	to = to.or(landings[[stride + 1]struct{}](own, second, third))
	return to.and(b.empty)
}

// distance is how far neighbours on a line are apart. It is a type, of which
// only the length counts, to get one landings for each distance: shifts by a
// constant make Moves half as fast again.
type distance interface {
	[1]struct{} | [stride - 1]struct{} | [stride]struct{} | [stride + 1]struct{}
}

// landings are the places, whatever lies there, that follow on a line of this
// distance right behind a cell of own and one or more cells of one opponent.
// Where that is an empty cell, there is a jump from it to that own cell.
func landings[D distance](own, second, third Set) Set {
	var d D
	n := uint(len(d))
	opponents := second.or(third)
	// The cells that have one of the same opponent n before them.
	alike := second.and(second.up(n)).or(third.and(third.up(n)))

	// All lines both ways at once: from own cells to opponents next to them,
	// and on as long as it is the same opponent.
	upwards, downwards := own.up(n).and(opponents), own.down(n).and(opponents)
	overUp, overDown := upwards, downwards
	for {
		upwards = upwards.up(n).and(alike)
		downwards = downwards.and(alike).down(n)
		if upwards.or(downwards).IsEmpty() {
			return overUp.up(n).or(overDown.down(n))
		}
		overUp, overDown = overUp.or(upwards), overDown.or(downwards)
	}
}

// Taken are the cells that seat jumps over by going to the cell at to, the
// destination not among them: none when the rules forbid it.
func (b *Board) Taken(seat int, to Square) Set {
	var taken Set
	if !b.empty.Has(to) {
		return taken
	}
	own, second, third := b.sides(seat)
	for near := neighbours[to].and(second.or(third)); !near.IsEmpty(); {
		at := near.Pop()
		step := at - to // wraps around where it goes down, and so do the sums
		theirs := &third
		if second.Has(at) {
			theirs = &second
		}
		for theirs.Has(at) {
			at += step
		}
		if own.Has(at) {
			for at -= step; at != to; at -= step {
				taken = taken.or(bit(at))
			}
		}
	}
	return taken
}

// neighbours are the up to eight cells around each.
var neighbours = func() (around [squares]Set) {
	for q := range everywhere.All() {
		column := bit(q).or(bit(q).up(1)).or(bit(q).down(1))
		around[q] = column.or(column.up(stride)).or(column.down(stride)).without(bit(q)).and(everywhere)
	}
	return around
}()

// sides returns what seat owns and what the two seats after it own.
func (b *Board) sides(seat int) (own, second, third Set) {
	return b.seats[seat], b.seats[(seat+1)%Seats], b.seats[(seat+2)%Seats]
}
