"""The rules common to all games, such as seats and results, as docs/verify.md describes them."""
import copy
import hashlib
import hmac
import itertools
import struct

from gridstand.v1.game_pb2 import Result
from tribolo import Tribolo
from twenty48 import VARIANTS, Twenty48


def need(condition, what):
    if not condition:
        raise ValueError(what)


def draws(seed, version):
    """Return the function draw(n) for one version of a game."""
    blocks = (hmac.digest(seed, struct.pack(">QI", version, k), "sha256") for k in itertools.count())
    numbers = (x for block in blocks for x in struct.unpack(">4Q", block))
    return lambda n: next(x for x in numbers if x < 2**64 - 2**64 % n) % n


class Game:
    """A game at one version: its board and its seats."""

    def __init__(self, event, seed):
        created = event.created
        need(event.WhichOneof("action") == "created", "the first event is not created")
        need(not event.HasField("seat"), "the seat")
        need(created.seed_commitment == hashlib.sha256(seed).digest(), "the commitment does not match the seed")
        known = created.variant in (*VARIANTS, "tribolo") and created.rules_revision == 1
        need(known, "this program does not know the rules")
        rules = Tribolo if created.variant == "tribolo" else Twenty48
        self.board, self.over = rules(created.variant, draws(seed, 1)), 0
        self.seats, self.attempt = copy.deepcopy(list(created.seats)), created.challenge_id
        need([seat.index for seat in self.seats] == list(range(rules.seats)), "the seats")
        self.settle()

    def active(self):
        return not self.over and not any(seat.HasField("open") for seat in self.seats)

    def settle(self):
        self.over = self.board.ended if self.active() else self.over

    def held(self):
        """Return the seats that humans play themselves."""
        return {seat.index for seat in self.seats
                if seat.HasField("player") and not seat.stand_in and not seat.resigned}

    def apply(self, event, draw):
        """Apply an event and set its fields to the recomputed values."""
        action = event.WhichOneof("action")
        need(not self.over and (self.active() or action in ("joined", "abandoned")), "the game is not active")
        need(event.HasField("seat") == (action != "abandoned"), "the seat")
        need(0 <= event.seat < len(self.seats), "there is no such seat")
        seat, turn, held = self.seats[event.seat], self.board.turn == event.seat, self.held()
        if action == "joined":
            player = event.joined.seat.player
            again = seat.stand_in and not seat.resigned and seat.player.id == player.id
            need(seat.HasField("open") or again, "the seat is taken")
            seat.player.CopyFrom(player)
            seat.stand_in = ""
            event.joined.seat.CopyFrom(seat)
        elif action == "moved":
            need(turn and (seat.index in held or event.moved.by_bot), "it is not this seat's turn")
            event.moved.CopyFrom(self.board.move(seat.index, event.moved, draw))
        elif action == "resigned":
            need(not seat.resigned, "the seat has already resigned")
            seat.resigned = True
            self.board.resign(seat.index)
            if not self.held() or sum(not other.resigned for other in self.seats) < 2:
                self.over = Result.REASON_RESIGNED
        elif action == "timed_out":
            clock = seat.index in held or (self.attempt and seat.HasField("bot"))
            need(turn and clock, "the clock of this seat was not running")
            need(bool(held - {seat.index}) == bool(event.timed_out.stand_in), "the stand-in")
            seat.stand_in = event.timed_out.stand_in
            self.over = 0 if seat.stand_in else Result.REASON_TIMED_OUT
        elif action == "abandoned":
            self.over = Result.REASON_ABANDONED
        else:
            need(action == "clock_extended" and turn, "the clock of this seat was not running")
        self.settle()

    def undone(self, event, games):
        """Return the game at the version to which an undo event returns."""
        need(event.HasField("seat") and 0 <= event.seat < len(self.seats), "there is no such seat")
        need(0 < event.undone.to_version < len(games), "there is no such version")
        past = games[event.undone.to_version]
        players = {seat.player.id for seat in self.seats if seat.HasField("player")}
        alone = players == {self.seats[event.seat].player.id}
        need(alone and self.active() and past.active() and not self.attempt, "undo is not allowed")
        return copy.deepcopy(past)

    def write_into(self, event, seed):
        """Set the position of an event and, at the end of the game, the result and the seed."""
        position = self.board.position(self.active())
        if self.active() and position.turn in self.held() and event.position.HasField("turn_deadline"):
            position.turn_deadline.CopyFrom(event.position.turn_deadline)
        event.position.CopyFrom(position)
        event.ClearField("result")
        event.seed = b""
        if self.over:
            event.seed = seed
            event.result.CopyFrom(Result(
                reason=self.over, winners=self.board.winners(self.over), scores=self.board.scores()))
