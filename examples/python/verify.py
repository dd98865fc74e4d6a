#!/usr/bin/env python3
"""Recompute finished games from their revealed seeds, as docs/verify.md describes.

    python3 verify.py FILE...    output of bot.py or `gridstand watch GAME --from 0 --json`

It checks the commitment to the seed, the versions, that moves are legal, and all boards, scores and move
counts. It takes all else as given, such as turns, seats, times, legal_moves and the result: see README.md."""
import hashlib
import hmac
import re
import sys
from itertools import count, groupby

from google.protobuf.json_format import Parse, ParseError
from gridstand.v1.game_pb2 import WatchResponse

SIDES = {"classic": 4, "3x3": 3, "5x5": 5, "6x6": 6, "twos": 4, "restless": 4, "vt100": 4}
FOURS = {"twos": 0, "restless": 5, "vt100": 6}  # a 4 is 1 tile in n, in the other variants 1 in 10
JUMPS = ("(1(4+|5+)3)?", "(1(3+|5+)4)?", "(1(3+|4+)5)?")  # CellStates that each seat can jump over, if any


def need(condition, what):
    if not condition:
        raise ValueError(what)


def draws(seed, version):
    """Return the function draw(n) for one version of a game."""
    blocks = (hmac.digest(seed, version.to_bytes(8, "big") + k.to_bytes(4, "big"), "sha256") for k in count())
    numbers = (int.from_bytes(block[i:i + 8], "big") for block in blocks for i in (0, 8, 16, 24))
    return lambda n: next(x for x in numbers if x < 2**64 - 2**64 % n) % n


def spawn(tiles, fours, draw):
    cell = [i for i, tile in enumerate(tiles) if tile == 0][draw(tiles.count(0))]
    return tiles[:cell] + [4 if fours and draw(fours) == 0 else 2] + tiles[cell + 1:]


def start(variant, draw):
    if variant == "tribolo":  # CellStates; a 9 ends each row
        board, cells = ([1] * 16 + [9]) * 11, [17 * y + x for x in range(16) for y in range(11)]
        for i in range(48):
            j = i + draw(176 - i)
            cells[i], cells[j] = cells[j], cells[i]
            board[cells[i]] = (3, 4, 5, 2)[i // 12]
        return board
    if variant == "twos":
        return [0] * 10 + [2] + [0] * 5
    fours = 0 if variant == "restless" else FOURS.get(variant, 10)
    return spawn(spawn([0] * SIDES[variant] ** 2, fours, draw), fours, draw)


def slide(tiles, direction):
    """Return the tiles after a slide up, down, left or right (1 to 4), and the sum of the merged tiles."""
    tiles, side, merged = tiles[:], int(len(tiles) ** 0.5), 0
    for i in range(side):
        line = slice(i, None, side) if direction < 3 else slice(i * side, i * side + side)
        step, slid = 1 if direction % 2 else -1, []
        for tile, run in groupby(filter(None, tiles[line][::step])):
            pairs, single = divmod(len(list(run)), 2)
            slid += [2 * tile] * pairs + [tile] * single
            merged += 2 * tile * pairs
        tiles[line] = (slid + [0] * (side - len(slid)))[::step]
    return tiles, merged


def jump(board, seat, to):
    """Return Tribolo's board after a move, unchanged if it takes nothing, and its points: none."""
    text, after = "".join(map(str, board)), board[:]
    for step in (-18, -17, -16, -1, 1, 16, 17, 18):
        for i in range(re.match(JUMPS[seat], text[to::step]).end()):
            after[to + i * step] = seat + 3
    return after, 0


def verify(path):
    """Recompute the game in a file and return its last event."""
    with open(path, encoding="utf-8") as lines:
        events = [Parse(line, WatchResponse(), True).event for line in lines if '"event"' in line]
    need(events and events[-1].seed, "the game is not over, or the seed is not revealed yet")
    created, seed, variant = events[0].created, events[-1].seed, events[0].created.variant
    need(created.seed_commitment == hashlib.sha256(seed).digest(), "version 1: seed_commitment")
    need(variant in (*SIDES, "tribolo") and created.rules_revision == 1, "version 1: the rules are unknown")
    tribolo, games = variant == "tribolo", {1: (start(variant, draws(seed, 1)), 0, 0)}
    for version, event in enumerate(events, 1):
        at, has, position, move = f"version {version}: ", event.HasField, event.position, event.moved
        base = event.undone.to_version if has("undone") else max(version - 1, 1)
        need(base in games, f"{at}there is no version {base}")
        board, points, moves = games[base]
        if has("moved"):
            before, x, y = events[base - 1].position, move.cell.x, move.cell.y
            turn = has("seat") and before.HasField("turn") and event.seat == before.turn in range(3)
            known = x in range(16) and y in range(11) if tribolo else move.direction in (1, 2, 3, 4)
            need(turn and known, f"{at}it is not the turn of this seat, or there is no such move")
            after, gained = jump(board, event.seat, 17 * y + x) if tribolo else slide(board, move.direction)
            need(after != board or variant == "restless" and 0 in board, f"{at}the move is not legal")
            if not tribolo and (variant != "twos" or max(after) < 2048):
                after = spawn(after, FOURS.get(variant, 10), draws(seed, version))
            board, points, moves = after, points + (gained // 2 if variant == "twos" else gained), moves + 1
        games[version] = board, points, moves
        for name, got, want in (
            ("game_id, version", (event.game_id, event.version), (events[0].game_id, version)),
            ("created, result", (has("created"), has("result")), (version == 1, version == len(events))),
            ("move_count", position.move_count, moves),
            ("scores", list(position.scores), [board.count(c) for c in (3, 4, 5)] if tribolo else [points]),
            ("board", list(position.tribolo.cells or position.twenty48.tiles), [c for c in board if c != 9]),
        ):
            need(got == want, f"{at}{name} is {got}, recomputed {want}")
    return events[-1]


if __name__ == "__main__":
    status = 0
    for path in sys.argv[1:] or sys.exit(__doc__):
        try:
            print(f"{path}: valid, {verify(path).version} versions")
        except (OSError, ValueError, ParseError) as error:
            print(f"{path}: invalid: {error}")
            status = 1
    sys.exit(status)
