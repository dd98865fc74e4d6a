// Recomputes a finished game from its seed and its moves, as docs/verify.md describes.

import { draws } from './draws.js';
import { sha256 } from './sha256.js';
import * as tribolo from './tribolo.js';
import * as twenty48 from './twenty48.js';

/** @import { Draw, Event, GameState, Seat, Verdict } from '../types' */

/**
 * @param {unknown} condition @param {string} problem
 * @param {boolean} [unknown] whether this page cannot decide
 * @returns {asserts condition}
 */
function need(condition, problem, unknown = false) {
  if (!condition) throw { problem, unknown };
}

/** @param {string | number} seconds @param {string} [fraction] @returns the nanoseconds */
const nano = (seconds, fraction = '') => BigInt(seconds + fraction.padEnd(9, '0'));

/** @param {string} text */
function time(text) {
  const [, date, fraction] = /^(.+T[\d:]+)(?:\.(\d+))?Z$/.exec(text) ?? [];
  return nano(Date.parse(`${date}Z`) / 1000, fraction);
}

/** @param {string} text */
function duration(text) {
  const [, seconds, fraction] = /^(-?\d+)(?:\.(\d+))?s$/.exec(text) ?? [];
  return nano(seconds, fraction);
}

const longest = 2n ** 63n; // nanoseconds

/** @param {any} item @returns {any} the sort key for lists whose order does not matter */
function rank(item) {
  if (item.cell) return rank(item.cell);
  return typeof item === 'object' ? 16 * (item.y ?? 0) + (item.x ?? 0) : item;
}
/** @param {any} a @param {any} b */
const byRank = (a, b) => (rank(a) < rank(b) ? -1 : 1);

/**
 * Describes the first field of got that differs from want. Returns "" if all fields match.
 * @param {any} got @param {any} want @param {string} [name] @returns {string}
 */
function difference(got, want, name = '') {
  if (got === want) return '';
  if (Array.isArray(want)) {
    got ??= [];
    if (got.length !== want.length) return ` has ${got.length} entries, recomputed ${want.length}`;
    if (/^(legalMoves|taken|winners)$/.test(name)) {
      [got, want] = [got.toSorted(byRank), want.toSorted(byRank)];
    }
  }
  if (want && typeof want === 'object') {
    if (!got) return ' is missing';
    for (const key in want) {
      const what = difference(got[key], want[key], key);
      if (what) return `.${key}${what}`;
    }
    return '';
  }
  // Default values are omitted, except for turn. In want, times are in nanoseconds.
  if (got == null && (want === undefined || (!want && name !== 'turn'))) return '';
  if (got && typeof want === 'bigint' && time(got) === want) return '';
  if (want == null) return ' is set, but should be missing';
  return ` is ${got ?? 'missing'}, recomputed ${want}`;
}

/** @param {Seat} seat @param {number} index */
function complete({ player, bot, resigned, standIn = '' }, index) {
  const { id, name = '' } = player ?? {};
  return {
    index,
    player: id ? { id, name, bot: !!player?.bot, createTime: undefined } : undefined,
    bot: id ? undefined : bot || undefined,
    open: id || bot ? undefined : {},
    resigned: !!resigned,
    standIn,
  };
}

/** @param {Seat} seat */
const held = ({ player, standIn, resigned }) => player && !standIn && !resigned;

/** @param {Seat} seat */
const isOpen = ({ open }) => open;

/** @param {Seat[]} seats */
function rankable(seats) {
  const humans = seats.filter(({ player }) => player).length;
  const programs = seats.some(({ player, bot }) => player?.bot || bot === 'random');
  return !programs && (humans === 1 || (!humans && seats.some(isOpen)));
}

/** @param {Partial<GameState>} state */
const turnOf = ({ waiting, reason, board }) => (waiting || reason ? undefined : board?.turn);

/**
 * Returns a function for each action, which applies it to next, the current state, and returns
 * the expected content of its event.
 * @param {GameState} next @param {GameState[]} past @param {number} seat @param {Draw} draw
 * @param {Uint8Array} seed @param {any} rules @returns {Record<string, (said: any) => any>}
 */
function actions(next, past, seat, draw, seed, rules) {
  const { board, seats, deadline } = next;
  const here = seats?.[seat];
  const due = turnOf(next) === seat;
  const put = (/** @type {Partial<Seat>} */ change) => {
    next.seats = seats.with(seat, { ...here, ...change });
  };
  return {
    created(said) {
      const { variant, turnLimit } = said;
      const known = Object.hasOwn(rules.variants, variant) && said.rulesRevision === 1;
      need(known, 'this page does not know the rules', true);
      next.board = rules.start(variant, draw);
      next.seats = said.seats.map(complete);
      need(next.seats.length === rules.seats, 'the number of seats is wrong');
      const left = next.seats.some(({ resigned, standIn }) => resigned || standIn);
      need(!left, 'a seat has resigned or has a stand-in before the game has begun');
      next.waiting = next.seats.some(isOpen);
      next.ranked = !said.private && rankable(next.seats);
      next.limit = turnLimit ? duration(turnLimit) : 0n;
      need(next.limit >= 0n && next.limit < longest, 'the turn limit is wrong');
      next.attempt = !!said.challengeId;
      const seedCommitment = btoa(String.fromCharCode(...sha256(seed)));
      return { ...said, private: !!said.private, seats: next.seats, seedCommitment };
    },
    joined(said) {
      const { player } = complete(said.seat, seat);
      need(player, 'the seat cannot be joined');
      if (here.open) {
        put({ player, open: undefined });
        next.ranked &&= rankable(next.seats);
        next.waiting = next.seats.some(isOpen);
      } else {
        const lent = here.standIn && !here.resigned;
        need(lent && here.player?.id === player.id, 'the seat is taken');
        put({ standIn: '' });
      }
      return { seat: next.seats[seat] };
    },
    moved(said) {
      const byBot = !!said.byBot;
      need(due && (held(here) || byBot), "it is another seat's turn");
      const made = board.move(seat, said, draw);
      need(made, 'the move is illegal');
      next.board = made.board;
      if (held(here)) next.ranked &&= !byBot;
      return {
        direction: undefined,
        cell: undefined,
        spawned: undefined,
        gained: 0,
        taken: [],
        ...made.moved,
        byBot,
      };
    },
    undone({ toVersion }) {
      const back = past[toVersion - 1];
      const players = new Set(seats.flatMap(({ player }) => player?.id ?? []));
      const solo = here.player && players.size === 1 && !next.attempt;
      need(solo && back && turnOf(back) !== undefined, 'nothing can be undone');
      Object.assign(next, back, { ranked: false, at: next.at });
    },
    resigned() {
      need(!here.resigned, 'the seat has already resigned');
      put({ resigned: true });
      next.board = board.resign(seat);
      const left = next.seats.filter(({ resigned }) => !resigned);
      if (left.length < 2 || !left.some(held)) next.reason = 'REASON_RESIGNED';
    },
    abandoned() {
      next.reason = 'REASON_ABANDONED';
    },
    timedOut({ standIn = '' }) {
      // The deadline of an attempt is recorded in its challenge.
      const late = next.attempt || (deadline && next.at >= deadline);
      need(due && late, 'the seat has not run out of time');
      const others = seats.some((other, i) => i !== seat && held(other));
      need(others === !!standIn, 'the stand-in is wrong');
      if (others) put({ standIn });
      else next.reason = 'REASON_TIMED_OUT';
    },
    clockExtended({ by }) {
      need(due && deadline && duration(by) > 0, 'the seat has no clock to extend');
      next.deadline = deadline + duration(by);
      need(next.deadline - next.started < longest, 'the clock is too long');
    },
  };
}

/**
 * Returns the state after an event. Throws if anything in the event is wrong.
 * @param {Event} event @param {Event[]} events @param {GameState[]} past
 * @param {Draw} draw @param {Uint8Array} seed @param {any} rules
 */
function check(event, events, past, draw, seed, rules) {
  const { seat = -1 } = event;
  const prev = past.at(-1);
  const next = /** @type {GameState} */ ({ ...prev, at: time(event.time) });
  const all = actions(next, past, seat, draw, seed, rules);
  const [action, other] = /** @type {(keyof Event)[]} */ (Object.keys(all)).filter(
    (key) => event[key],
  );
  need(action, 'this page does not know the action', true);
  need(prev || action === 'created', 'the first event is not the creation of the game');
  need(!other && (!prev || action !== 'created'), 'the event does not fit the game');
  const seatless = action === 'created' || action === 'abandoned';
  need(seatless ? seat === -1 : prev?.seats[seat], 'the seat is wrong');
  need(!prev?.reason, 'the event comes after the end of the game');
  need(!prev || next.at >= prev.at, 'the event is older than the previous one');
  need(!prev?.waiting || seatless || action === 'joined', 'the game is waiting for players');

  const said = event[action];
  const wanted = all[action](said) ?? said;
  if (!next.waiting) next.reason ??= next.board.ended;
  const turn = turnOf(next);
  const goesOn =
    prev?.deadline && turnOf(prev) === turn && action !== 'moved' && action !== 'undone';
  if (turn === undefined || !next.limit || !held(next.seats[turn])) next.deadline = undefined;
  else if (!goesOn) {
    next.started = next.at;
    next.deadline = next.at + next.limit;
  }

  const { reason, ranked, board, deadline: turnDeadline } = next;
  const position = board.position(turn !== undefined);
  const wrong =
    difference(said, wanted) ||
    difference(event, {
      gameId: events[0].gameId,
      version: past.length + 1,
      ranked,
      position: { twenty48: undefined, tribolo: undefined, ...position, turn, turnDeadline },
      result: reason && { reason, winners: board.winners(reason), scores: position.scores },
      seed: reason ? events.at(-1)?.seed : '',
    });
  need(!wrong, wrong.slice(1));
  return next;
}

/**
 * Verifies all events of a finished game, and yields the number of each.
 * @param {Event[]} events @param {any} rules the module of the game's rules
 * @returns {Generator<number, Verdict>}
 */
export function* recompute(events, rules) {
  /** @type {GameState[]} */
  const past = [];
  try {
    const [first, last] = [events[0], events.at(-1)];
    need(last?.result && last.seed, 'the game is not over', true);
    need(/^[a-z2-7]{26}$/.test(first.gameId), 'the game id is invalid');
    const seed = Uint8Array.from(atob(last.seed), (char) => char.charCodeAt(0));
    need(seed.length === 32, 'the revealed seed is invalid');
    const stream = draws(seed);
    for (const event of events) {
      past.push(check(event, events, past, stream(past.length + 1), seed, rules));
      yield past.length;
    }
    const moves = events.flatMap(({ moved }) => moved ?? []);
    const spawned = moves.filter((moved) => moved.spawned);
    const tiles = spawned.length + (first.position.twenty48?.tiles.filter(Boolean).length ?? 0);
    const checks = { versions: past.length, moves: moves.length, tiles, seed: last.seed };
    return { ok: true, checks };
  } catch (e) {
    const { problem = 'the event is malformed', unknown = false } = /** @type {any} */ (e);
    return { ok: false, version: past.length + 1, problem, unknown };
  }
}

/**
 * Verifies all events of a finished game in slices of 8 ms, so that the page stays responsive.
 * @param {Event[]} events
 */
export async function verifyInSlices(events) {
  const rules = events[0]?.created?.variant === 'tribolo' ? tribolo : twenty48;
  const steps = recompute(events, rules);
  for (let start = performance.now(); ; ) {
    const { done, value } = steps.next();
    if (done) return value;
    if (performance.now() - start < 8) continue;
    await new Promise((resume) => setTimeout(resume));
    start = performance.now();
  }
}
