"""The rules of Tribolo, as docs/verify.md describes them."""
from gridstand.v1.game_pb2 import Moved, Position, Result
from gridstand.v1.tribolo_pb2 import Cell, TriboloBoard, TriboloMove

COLUMNS, ROWS = 16, 11
EMPTY, WALL = 1, 2  # values of CellState; 3 to 5 are the seats 0 to 2
AROUND = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy]


class Tribolo:
    seats = 3

    def __init__(self, variant, draw):
        cells = [(x, y) for x in range(COLUMNS) for y in range(ROWS)]
        self.cells, self.moves, self.resigned = dict.fromkeys(cells, EMPTY), 0, set()
        for i in range(48):
            j = i + draw(len(cells) - i)
            cells[i], cells[j] = cells[j], cells[i]
            self.cells[cells[i]] = (3, 4, 5, WALL)[i // 12]
        self.pass_on(draw(3) - 1)  # as if the seat before the starting seat had moved

    def taken(self, seat, x, y):
        """Return the cells that seat jumps over when it moves to an empty cell."""
        taken = []
        for dx, dy in AROUND:
            at, over = (x + dx, y + dy), []
            owner = self.cells.get(at)
            if owner in (None, EMPTY, WALL, seat + 3):
                continue
            while self.cells.get(at) == owner:
                over.append(at)
                at = (at[0] + dx, at[1] + dy)
            if self.cells.get(at) == seat + 3:
                taken += over
        return sorted(taken)

    def pass_on(self, mover):
        """Pass the turn to the next seat after mover that has a move, possibly mover itself."""
        for seat in [(mover + i) % 3 for i in (1, 2, 3)]:
            empty = [cell for cell, owner in self.cells.items() if owner == EMPTY]
            jumps = {cell: self.taken(seat, *cell) for cell in empty if seat not in self.resigned}
            self.legal = {cell: taken for cell, taken in jumps.items() if taken}
            self.turn, self.ended = seat, 0
            if self.legal:
                return
        self.turn, self.ended = None, Result.REASON_NO_MOVES

    def move(self, seat, moved, draw):
        """Make a move and return its recomputed Moved message."""
        cell = (moved.cell.x, moved.cell.y)
        if cell not in self.legal or not moved.HasField("cell"):
            raise ValueError("the move is not legal")
        taken = [Cell(x=x, y=y) for x, y in self.legal[cell]]
        self.cells.update(dict.fromkeys([cell, *self.legal[cell]], seat + 3))
        self.moves += 1
        self.pass_on(seat)
        return Moved(cell=moved.cell, by_bot=moved.by_bot, taken=taken)

    def resign(self, seat):
        self.resigned.add(seat)
        if self.turn == seat:
            self.pass_on(seat)

    def scores(self):
        return [list(self.cells.values()).count(seat + 3) for seat in range(3)]

    def winners(self, reason):
        scores, left = self.scores(), {0, 1, 2} - self.resigned
        if reason == Result.REASON_ABANDONED:
            return []
        return [seat for seat in left if scores[seat] == max(scores[other] for other in left)]

    def position(self, active):
        legal = self.legal.items() if active else ()
        return Position(
            move_count=self.moves, scores=self.scores(), turn=self.turn if active else None,
            tribolo=TriboloBoard(
                rows=ROWS, columns=COLUMNS,
                cells=[self.cells[x, y] for y in range(ROWS) for x in range(COLUMNS)],
                legal_moves=[TriboloMove(cell=Cell(x=x, y=y), taken=[Cell(x=i, y=j) for i, j in taken])
                             for (x, y), taken in legal]))
