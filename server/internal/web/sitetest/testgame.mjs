// Writes the events of games for the tests of the verifier.

import { draws } from '../site/draws.js';
import { sha256 } from '../site/sha256.js';
import * as tribolo from '../site/tribolo.js';
import * as twenty48 from '../site/twenty48.js';

export const seed = new Uint8Array(32).fill(7);
const stream = draws(seed);
const base64 = (bytes) => Buffer.from(bytes).toString('base64');
export const ada = { player: { id: 'ada', name: 'ada' } };

/** Writes the events of a game, without checking whether they are legal. */
export class Writer {
  events = [];
  boards = [];
  second = 0;

  constructor(seats, turnLimit = 0, more = {}) {
    const solo = seats.length === 1;
    const { ranked = solo, secret = seed, ...fields } = more;
    const variant = fields.variant ?? (solo ? 'classic' : 'tribolo');
    const seedCommitment = base64(sha256(secret));
    const created = {
      variant,
      seats: seats.map((seat, index) => ({ ...seat, index })),
      seedCommitment,
    };
    if (turnLimit) created.turnLimit = `${turnLimit}s`;
    this.limit = turnLimit;
    this.ranked = ranked;
    this.secret = secret;
    this.waiting = seats.some((seat) => seat.open);
    this.board = (solo ? twenty48 : tribolo).start(variant, draws(secret)(1));
    this.add({ created: { ...created, ...fields, rulesRevision: 1 } }, true);
  }

  /**
   * Adds an event. The clock of the seat to move restarts (true), continues (undefined) or is off
   * (false).
   */
  add(fields, clock) {
    const over = fields.result || this.waiting;
    if (this.limit && clock === true) this.deadline = this.second + this.limit;
    if (clock === false || over) this.deadline = undefined;
    const time = (second) => new Date(Date.UTC(2026, 10, 20, 12) + 1e3 * second).toISOString();
    const position = { ...this.board.position(!over), turn: over ? undefined : this.board.turn };
    if (this.deadline !== undefined) position.turnDeadline = time(this.deadline);
    this.boards.push(this.board);
    this.events.push({
      gameId: 'gamegamegamegamegamegamega',
      version: this.events.length + 1,
      time: time(this.second),
      position,
      ranked: this.ranked,
      ...fields,
    });
    return this;
  }

  at(second) {
    this.second = second;
    return this;
  }

  move(seat = this.board.turn, { byBot = false, clock = true } = {}) {
    const { twenty48: tiles, tribolo: cells } = this.board.position(true);
    const chosen = tiles ? { direction: tiles.legalMoves[0] } : { cell: cells.legalMoves[0].cell };
    const made = this.board.move(seat, chosen, stream(this.events.length + 1));
    this.board = made.board;
    return this.add({ seat, moved: { ...made.moved, byBot } }, clock);
  }

  resign(seat) {
    const { turn } = this.board;
    this.board = this.board.resign(seat);
    return this.add({ seat, resigned: {} }, this.board.turn === turn ? undefined : true);
  }

  undo(seat, toVersion, ranked = false) {
    this.ranked = ranked;
    this.board = this.boards[toVersion - 1];
    return this.add({ seat, undone: { toVersion } }, true);
  }

  end(reason, fields) {
    const { scores } = this.board.position(false);
    const result = {
      reason: `REASON_${reason}`,
      winners: this.board.winners(`REASON_${reason}`),
      scores,
    };
    return this.add({ ...fields, result, seed: base64(this.secret) });
  }

  abandon() {
    return this.end('ABANDONED', { abandoned: {} });
  }
}
