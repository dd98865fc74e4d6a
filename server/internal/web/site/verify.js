// Recomputes a finished game from its seed and its moves, as docs/verify.md describes.

import { draws } from './draws.js';
import { sha256 } from './sha256.js';
import * as tribolo from './tribolo.js';
import * as twenty48 from './twenty48.js';

/** @import { Context, Draw, Event, GameState, Seat, Verdict } from '../types' */

class Problem extends Error {}

/** The game is not over, or newer than this page. */
class Unknown extends Problem {}

/** @param {unknown} condition @param {string} problem @returns {asserts condition} */
function need(condition, problem) {
  if (!condition) throw new Problem(problem);
}

/** Lists that the contract leaves in any order. */
const sets = ['legalMoves', 'taken', 'winners'];

/**
 * Says which field of got has not the value that want names, if any.
 * @param {any} got @param {any} want @param {string} [name] @returns {string}
 */
function difference(got, want, name = '') {
  if (got === want) return '';
  if (Array.isArray(want)) {
    const [a, b] = [got ?? [], want].map((list) =>
      sets.includes(name) ? list.toSorted(byPlace) : list,
    );
    if (a.length !== b.length) return ` has ${a.length} entries, recomputed ${b.length}`;
    for (let i = 0; i < b.length; i++) {
      const what = difference(a[i], b[i]);
      if (what) return ` ${i}${what}`;
    }
    return '';
  }
  if (want && typeof want === 'object') {
    if (!got || typeof got !== 'object') return ' is missing';
    for (const key in want) {
      const what = difference(got[key], want[key], key);
      if (what) return `.${key}${what}`;
    }
    return '';
  }
  // Default values are omitted, but that of turn. Times are wanted in nanoseconds.
  if (got == null && (want === undefined || (!want && name !== 'turn'))) return '';
  if (got && typeof want === 'bigint' && time(got) === want) return '';
  return ` is ${got ?? 'missing'}, recomputed ${want ?? 'none'}`;
}

/** @param {any} item @returns {any} */
const place = (item) =>
  item.cell
    ? place(item.cell)
    : typeof item === 'object'
      ? 16 * (item.y ?? 0) + (item.x ?? 0)
      : item;

/** @param {any} a @param {any} b */
const byPlace = (a, b) => (place(a) < place(b) ? -1 : 1);

/** @param {string} text */
function time(text) {
  const [, date, fraction = ''] = /^([\d-]+T[\d:]+)(?:\.(\d+))?Z$/.exec(text) ?? [];
  return BigInt(Date.parse(`${date}Z`)) * 1000000n + BigInt(fraction.padEnd(9, '0'));
}

/** @param {string} text */
function duration(text) {
  const [, seconds, fraction = ''] = /^(-?\d+)(?:\.(\d+))?s$/.exec(text) ?? [];
  return BigInt(seconds + fraction.padEnd(9, '0'));
}

/** @param {Seat} seat @param {number} index */
function complete({ player, bot, resigned, standIn = '' }, index) {
  const { id, name = '', bot: program } = player ?? {};
  return {
    index,
    player: id ? { id, name, bot: !!program, createTime: undefined } : undefined,
    bot: id ? undefined : bot || undefined,
    open: id || bot ? undefined : {},
    resigned: !!resigned,
    standIn,
  };
}

/** @param {Seat} seat */
const held = ({ player, standIn, resigned }) => player && !standIn && !resigned;

/** @param {Seat[]} seats */
function rankable(seats) {
  const humans = seats.filter(({ player }) => player).length;
  const programs = seats.some(({ player, bot }) => player?.bot || bot === 'random');
  return !programs && (humans === 1 || (!humans && seats.some(({ open }) => open)));
}

/** @param {GameState} state */
const turnOf = ({ waiting, reason, board }) => (waiting || reason ? undefined : board.turn);

/** @type {Record<string, (context: Context) => any>} */
const actions = {
  created({ next, said, seed, draw }) {
    const { variant, turnLimit } = said;
    const rules = [twenty48, tribolo].find(({ variants }) => Object.hasOwn(variants, variant));
    if (!rules || said.rulesRevision !== 1) throw new Unknown('this page does not know the rules');
    const seedCommitment = btoa(String.fromCharCode(...sha256(seed)));
    /** @type {Seat[]} */
    const seats = said.seats.map(complete);
    const waiting = seats.some(({ open }) => open);
    need(seats.length === rules.seats, 'the number of seats is wrong');
    const limit = turnLimit ? duration(turnLimit) : 0n;
    const ranked = !said.private && rankable(seats);
    Object.assign(next, { seats, board: rules.start(variant, draw), waiting, ranked, limit });
    return {
      ...said,
      private: !!said.private,
      seats,
      seedCommitment,
      turnLimit: limit ? turnLimit : undefined,
    };
  },
  joined({ next, seat, here, put, said }) {
    const { player } = complete(said.seat, 0);
    need(player, 'no player joins');
    if (here.open) {
      put({ player, open: undefined });
      next.ranked &&= rankable(next.seats);
      next.waiting = next.seats.some(({ open }) => open);
    } else {
      need(here.standIn && !here.resigned && here.player?.id === player.id, 'the seat is taken');
      put({ standIn: '' });
    }
    return { seat: next.seats[seat] };
  },
  moved({ next, seat, here, due, said, draw }) {
    const byBot = !!said.byBot;
    need(due && (held(here) || byBot), 'it is not the turn of this seat');
    const made = next.board.move(seat, said, draw);
    need(made, 'the move is illegal');
    next.board = made.board;
    if (held(here)) next.ranked &&= !byBot;
    const none = {
      direction: undefined,
      cell: undefined,
      spawned: undefined,
      gained: 0,
      taken: [],
    };
    return { ...none, ...made.moved, byBot };
  },
  undone({ next, here, past, said }) {
    const back = past[said.toVersion - 1];
    const players = new Set(next.seats.flatMap(({ player }) => player?.id ?? []));
    need(
      back && turnOf(back) !== undefined && here.player && players.size === 1,
      'no undo is allowed',
    );
    Object.assign(next, back, { ranked: false, at: next.at });
    return said;
  },
  resigned({ next, seat, here, put }) {
    need(!here.resigned, 'the seat has resigned before');
    put({ resigned: true });
    next.board = next.board.resign(seat);
    const left = next.seats.filter(({ resigned }) => !resigned);
    if (left.length < 2 || !left.some(held)) next.reason = 'REASON_RESIGNED';
    return {};
  },
  abandoned({ next }) {
    next.reason = 'REASON_ABANDONED';
    return {};
  },
  timedOut({ next, seat, due, put, said: { standIn = '' } }) {
    need(due && next.deadline && next.at >= next.deadline, 'no clock ran out');
    const others = next.seats.some((other, i) => i !== seat && held(other));
    need(others === !!standIn, 'the stand-in is wrong');
    if (others) put({ standIn });
    else next.reason = 'REASON_TIMED_OUT';
    return { standIn };
  },
  clockExtended({ next, due, said }) {
    const by = duration(said.by);
    need(due && next.deadline && by > 0, 'no clock runs');
    next.deadline += by;
    return said;
  },
};
const keys = /** @type {(keyof Event)[]} */ (Object.keys(actions));

/**
 * Returns the state after the next event, and fails if anything in the event is wrong.
 * @param {Event} event @param {Event[]} events @param {GameState[]} past
 * @param {Uint8Array} seed @param {Draw} draw
 */
function check(event, events, past, seed, draw) {
  const [action, another] = keys.filter((key) => event[key]);
  if (!action) throw new Unknown('this page does not know what happened');
  need(!another, 'it has two actions');
  const prev = past.at(-1);
  need((action === 'created') === !prev, 'a game begins with created');
  need(!prev?.reason, 'it comes after the end');
  const next = /** @type {GameState} */ ({ ...prev, at: time(event.time) });
  need(!prev || next.at >= prev.at, 'its time is before that of the previous event');
  const { seat = -1 } = event;
  const here = /** @type {Seat} */ (prev?.seats[seat]);
  const seatless = action === 'created' || action === 'abandoned';
  need(seatless ? seat === -1 : here, 'its seat is wrong');
  need(!prev?.waiting || seatless || action === 'joined', 'the game waits for players');

  const due = !!prev && turnOf(prev) === seat;
  /** @param {Partial<Seat>} change */
  const put = (change) => {
    next.seats = next.seats.with(seat, { ...here, ...change });
  };
  const done = actions[action]({
    next,
    seat,
    here,
    due,
    put,
    past,
    seed,
    draw,
    said: event[action],
  });
  if (!next.waiting) next.reason ??= next.board.ended;

  const turn = turnOf(next);
  const restart = action === 'moved' || action === 'undone';
  if (turn === undefined || !next.limit || !held(next.seats[turn])) next.deadline = undefined;
  else if (restart || !prev?.deadline || turnOf(prev) !== turn)
    next.deadline = next.at + next.limit;

  const { reason, ranked } = next;
  const position = next.board.position(turn !== undefined);
  const { scores } = position;
  const want = {
    gameId: events[0].gameId,
    version: past.length + 1,
    ranked,
    position: {
      twenty48: undefined,
      tribolo: undefined,
      ...position,
      turn,
      turnDeadline: next.deadline,
    },
    result: reason && { reason, winners: next.board.winners(reason), scores },
    seed: reason ? events.at(-1)?.seed : '',
  };
  const wrong = difference(event[action], done) || difference(event, want);
  need(!wrong, wrong.slice(1));
  return next;
}

/** @param {Event[]} events @returns {Generator<number, Verdict>} */
function* recompute(events) {
  /** @type {GameState[]} */
  const past = [];
  try {
    const [first, last] = [events[0], events.at(-1)];
    if (!last?.result || !last.seed) throw new Unknown('the game is not over');
    need(/^[a-z2-7]{26}$/.test(first.gameId), 'its game has no id');
    const seed = Uint8Array.from(atob(last.seed), (char) => char.charCodeAt(0));
    need(seed.length === 32, 'the revealed seed is invalid');
    const drawsOf = draws(seed);
    for (const event of events) {
      past.push(check(event, events, past, seed, drawsOf(past.length + 1)));
      yield past.length;
    }
    const moves = events.filter(({ moved }) => moved);
    const tiles = first.position.twenty48?.tiles.filter(Boolean) ?? [];
    const spawned = moves.filter(({ moved }) => moved?.spawned);
    return {
      ok: true,
      checks: {
        versions: past.length,
        moves: moves.length,
        tiles: tiles.length + spawned.length,
        seed: last.seed,
      },
    };
  } catch (error) {
    const problem = error instanceof Problem ? error.message : 'it is malformed';
    return { ok: false, version: past.length + 1, problem, unknown: error instanceof Unknown };
  }
}

/**
 * Verifies all events of a finished game, in order.
 * @param {Event[]} events
 */
export function verifyTranscript(events) {
  const steps = recompute(events);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/**
 * Does the same in slices of 8 ms, so that the page stays responsive.
 * @param {Event[]} events @param {(done: number) => void} [progress] called with 0 to 1
 */
export async function verifyInSlices(events, progress) {
  const steps = recompute(events);
  for (let start = performance.now(); ; ) {
    const { done, value } = steps.next();
    if (done) return value;
    if (performance.now() - start < 8) continue;
    progress?.(value / events.length);
    await new Promise((resume) => setTimeout(resume));
    start = performance.now();
  }
}
