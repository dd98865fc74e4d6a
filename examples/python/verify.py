#!/usr/bin/env python3
"""Recompute finished games from their revealed seeds, as docs/verify.md describes.

    python3 verify.py FILE...    output of bot.py or `gridstand watch GAME --from 0 --json`

It prints one line per file and exits with 1 if a file is invalid. It does not check
the ids and names of players, times, clocks, by_bot and ranked."""
import copy
import sys

from google.protobuf.json_format import ParseError
from game import Game, draws, need
from transcript import difference, read


def verify(events):
    """Return the last event of a game, or raise a ValueError that describes the difference."""
    need(events and events[-1].HasField("result"), "the game is not over")
    need(events[-1].seed, "the seed is not revealed; that of an attempt is revealed when its challenge closes")
    games, last = [None], events[-1]  # games[v] is the game at version v
    for version, event in enumerate(events, 1):
        want = copy.deepcopy(event)
        want.version, want.game_id = version, events[0].game_id
        try:
            need(event.time.ToNanoseconds() >= events[max(version - 2, 0)].time.ToNanoseconds(), "the time runs backward")
            if version == 1:
                game = Game(want, last.seed)
            elif want.WhichOneof("action") == "undone":
                game = games[-1].undone(want, games)
            else:
                game = copy.deepcopy(games[-1])
                game.apply(want, draws(last.seed, version))
            game.write_into(want, last.seed)
            wrong = "" if event == want else difference(event, want)
            need(not wrong, wrong)
        except ValueError as error:
            raise ValueError(f"version {version}: {error}") from None
        games.append(game)
    return last


def main(paths):
    bad = 0
    for path in paths:
        try:
            last = verify(read(path))
            print(f"{path}: valid, {last.version} versions, {list(last.result.scores)} points")
        except (OSError, ValueError, ParseError) as error:
            bad = 1
            print(f"{path}: invalid: {error}")
    return bad


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
    else:
        sys.exit(main(sys.argv[1:]) if sys.argv[1:] else __doc__)
