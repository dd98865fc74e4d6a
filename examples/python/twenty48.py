"""The rules of 2048, as docs/verify.md describes them."""
from gridstand.v1.game_pb2 import Moved, Position, Result
from gridstand.v1.twenty48_pb2 import Spawn, Twenty48Board

UP, DOWN, LEFT, RIGHT = 1, 2, 3, 4

# Start tiles; odds of a 4 among them, as 1 in n (0 for never), and among later tiles; whether
# 2048 ends the game, tiles still spawn after it, scores are halved, and no-op moves are legal.
CLASSIC = (2, 10, 10, False, True, False, False)
VARIANTS = {
    "classic": (4, *CLASSIC), "3x3": (3, *CLASSIC), "5x5": (5, *CLASSIC), "6x6": (6, *CLASSIC),
    "twos": (4, 0, 0, 0, True, False, True, False),
    "restless": (4, 2, 0, 5, True, True, False, True),
    "vt100": (4, 2, 6, 6, True, True, False, False),
}


class Twenty48:
    seats = 1

    def __init__(self, variant, draw):
        (self.side, start, first_fours_in, self.fours_in,
         self.ends, self.spawns, self.half, self.idle) = VARIANTS[variant]
        self.tiles, self.score, self.moves = [0] * self.side**2, 0, 0
        for _ in range(start):
            self.spawn(draw, first_fours_in)
        if start == 0:
            self.tiles[2 * self.side + 2] = 2
        self.settle()

    def spawn(self, draw, fours_in):
        empty = [i for i, tile in enumerate(self.tiles) if tile == 0]
        cell = empty[draw(len(empty))]
        self.tiles[cell] = 4 if fours_in and draw(fours_in) == 0 else 2
        return Spawn(index=cell, value=self.tiles[cell])

    def slide(self, direction):
        """Return the tiles after a slide and the sum of the merged tiles."""
        tiles, n, merged = self.tiles[:], self.side, 0
        for i in range(n):
            line = range(i, n * n, n) if direction in (UP, DOWN) else range(i * n, i * n + n)
            if direction in (DOWN, RIGHT):
                line = line[::-1]
            slid, fresh = [], False  # fresh: the last tile of slid may still merge
            for tile in [tiles[cell] for cell in line if tiles[cell]]:
                fresh = not (fresh and slid[-1] == tile)
                if fresh:
                    slid.append(tile)
                else:
                    slid[-1] = 2 * tile
                    merged += 2 * tile
            for cell, tile in zip(line, slid + [0] * n):
                tiles[cell] = tile
        return tiles, merged

    def settle(self):
        """Compute everything that depends on the tiles."""
        self.goal_reached = max(self.tiles) >= 2048
        idle = self.idle and 0 in self.tiles
        self.legal = [d for d in (UP, RIGHT, DOWN, LEFT) if idle or self.slide(d)[0] != self.tiles]
        self.turn, self.ended = 0, 0
        if self.goal_reached and self.ends:
            self.ended = Result.REASON_GOAL_REACHED
        elif not self.legal:
            self.ended = Result.REASON_NO_MOVES

    def move(self, seat, moved, draw):
        """Make a move and return its recomputed Moved message."""
        if moved.direction not in self.legal:
            raise ValueError("the move is not legal")
        self.tiles, merged = self.slide(moved.direction)
        gained = merged // 2 if self.half else merged
        self.score += gained
        self.moves += 1
        spawned = None
        if self.spawns or max(self.tiles) < 2048:
            spawned = self.spawn(draw, self.fours_in)
        self.settle()
        return Moved(direction=moved.direction, by_bot=moved.by_bot, gained=gained, spawned=spawned)

    def resign(self, seat):
        pass  # there is no other seat to pass the turn to

    def scores(self):
        return [self.score]

    def winners(self, reason):
        return [0] if self.goal_reached else []

    def position(self, active):
        return Position(
            move_count=self.moves, scores=self.scores(), turn=self.turn if active else None,
            twenty48=Twenty48Board(rows=self.side, columns=self.side, tiles=self.tiles,
                                   legal_moves=self.legal if active else [],
                                   goal_reached=self.goal_reached))
