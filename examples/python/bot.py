#!/usr/bin/env python3
"""A bot that plays one game and prints its transcript for verify.py.

    python3 bot.py localhost:2048 tribolo > game.jsonl

It does not know the rules: the server sends the legal moves of each position. In 2048 it keeps
its tiles in a corner; in Tribolo it takes as many cells as it can."""
import argparse
import random
import sys
import time

import grpc
from google.protobuf.json_format import MessageToJson
from gridstand.v1 import game_pb2 as pb
from gridstand.v1 import game_pb2_grpc, player_pb2, player_pb2_grpc

BASE32 = "abcdefghijklmnopqrstuvwxyz234567"
PREFERRED = [3, 2, 4, 1]  # left, down, right, up
# Transient errors: the server is shutting down or limiting the rate of calls.
PASSING = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED)


def secret(length=26):
    return "".join(random.SystemRandom().choices(BASE32, k=length))


def patiently(call, request, **options):
    """Make a call, waiting up to 30 s for a connection, and retry it up to seven times after
    transient errors. Every call is safe to repeat."""
    for attempt in range(8):
        try:
            return call(request, timeout=30, wait_for_ready=True, **options)
        except grpc.RpcError as error:
            if error.code() not in PASSING or attempt == 7:
                raise
            # A limit lasts at least about a second; a shutdown may be over sooner.
            least = 1 if error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED else 0
            time.sleep(least + 0.1 * 2**attempt)


def choose(position):
    """Return the bot's move as fields of a MoveRequest."""
    if position.WhichOneof("board") == "twenty48":
        return {"direction": min(position.twenty48.legal_moves, key=PREFERRED.index)}
    return {"cell": max(position.tribolo.legal_moves, key=lambda move: len(move.taken)).cell}


class Bot:
    def __init__(self, channel, name):
        self.games = game_pb2_grpc.GameServiceStub(channel)
        account = player_pb2.CreatePlayerRequest(name=name, secret=secret(), bot=True)
        created = patiently(player_pb2_grpc.PlayerServiceStub(channel).CreatePlayer, account)
        self.id, self.auth = created.player.id, [("authorization", "Bearer " + created.token)]

    def call(self, method, request):
        """Make a call as the account. If the position is outdated, Watch will return a newer one."""
        try:
            patiently(getattr(self.games, method), request, metadata=self.auth)
        except grpc.RpcError as error:
            if error.code() not in (grpc.StatusCode.ABORTED, grpc.StatusCode.FAILED_PRECONDITION):
                raise

    def events(self, game_id):
        """Yield every event until the end, reconnecting as often as needed."""
        version = 0
        while True:
            watch = pb.WatchRequest(game_id=game_id, after_version=version, every_event=True)
            try:
                for update in self.games.Watch(watch, wait_for_ready=True):
                    if update.HasField("event"):
                        version = update.event.version
                        yield update.event
                return
            except grpc.RpcError as error:
                if error.code() not in PASSING:
                    raise
                time.sleep(1)

    def play(self, variant, moves, undo_after):
        """Play a game and yield its events; resign after the given number of moves."""
        request = pb.CreateGameRequest(variant=variant, request_id=secret())
        game = patiently(self.games.CreateGame, request, metadata=self.auth).game
        mine = {seat.index for seat in game.seats if seat.player.id == self.id}
        made = 0
        for event in self.events(game.id):
            yield event
            if not event.position.HasField("turn") or event.position.turn not in mine:
                continue
            at = {"game_id": game.id, "version": event.version}
            if made == undo_after and made:
                self.call("Undo", pb.UndoRequest(**at))
                undo_after = 0
            elif made == moves and moves:
                self.call("Resign", pb.ResignRequest(**at))
            else:
                self.call("Move", pb.MoveRequest(**at, by_bot=True, **choose(event.position)))
                made += 1


def main():
    flags = argparse.ArgumentParser(description=__doc__)
    flags.add_argument("server", help="host:port")
    flags.add_argument("variant")
    flags.add_argument("--name", default=f"python-{random.randrange(10**9)}", help="name of the account")
    flags.add_argument("--moves", type=int, default=0, help="resign after this number of moves")
    flags.add_argument("--undo-after", type=int, default=0, help="take back the move with this number, once")
    flags.add_argument("--tls", action="store_true")
    a = flags.parse_args()
    channel = (grpc.secure_channel(a.server, grpc.ssl_channel_credentials()) if a.tls
               else grpc.insecure_channel(a.server))
    with channel:
        for event in Bot(channel, a.name).play(a.variant, a.moves, a.undo_after):
            print(MessageToJson(pb.WatchResponse(event=event), indent=None), flush=True)
            print(event.version, event.WhichOneof("action"), list(event.position.scores), file=sys.stderr)


if __name__ == "__main__":
    main()
