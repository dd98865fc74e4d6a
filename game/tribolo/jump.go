package tribolo

// A jump goes from an empty cell over one or more cells of one opponent to a cell of the mover.
// Along a line, square numbers differ by a constant: by 1 down a column, by 12 along a row, and
// by 11 and 13 along the diagonals.

// Moves returns the empty cells to which seat could jump if it were its turn.
func (b *Board) Moves(seat int) Set {
	own, second, third := b.sides(seat)
	var to Set
	for _, distance := range [...]uint{1, stride - 1, stride, stride + 1} {
		to = to.or(landings(own, second, third, distance))
	}
	return to.and(b.empty)
}

// landings returns the cells, of any owner, that come directly after a cell of own and then one or
// more cells of one opponent, on a line whose neighbors are n squares apart. If such a cell is empty, there
// is a jump from it to that own cell.
func landings(own, second, third Set, n uint) Set {
	opponents := second.or(third)
	// The cells whose predecessor at distance n belongs to the same opponent.
	alike := second.and(second.up(n)).or(third.and(third.up(n)))

	// Follow all lines in both directions at once: from own cells to adjacent opponents, and
	// from there on as long as the cells belong to the same opponent.
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

// Taken returns the cells that seat jumps over by moving to the given cell, excluding the
// destination. It is empty if the rules forbid the move.
func (b *Board) Taken(seat int, to Square) Set {
	var taken Set
	if !b.empty.Has(to) {
		return taken
	}
	own, second, third := b.sides(seat)
	for near := neighbors[to].and(second.or(third)); !near.IsEmpty(); {
		at := near.Pop()
		step := at - to // wraps around if negative, and so does at += step
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

// neighbors holds the cells around each cell, at most eight.
var neighbors = func() (around [squares]Set) {
	for q := range everywhere.All() {
		column := bit(q).or(bit(q).up(1)).or(bit(q).down(1))
		around[q] = column.or(column.up(stride)).or(column.down(stride)).without(bit(q)).and(everywhere)
	}
	return around
}()

// sides returns the cells of seat and of the two seats after it.
func (b *Board) sides(seat int) (own, second, third Set) {
	return b.seats[seat], b.seats[(seat+1)%Seats], b.seats[(seat+2)%Seats]
}
