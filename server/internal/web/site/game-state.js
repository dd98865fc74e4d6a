// The state of a game, computed from the updates of its stream, and the wording for it.
import * as words from './words.js';

export { owners } from './words.js';

/** @param {number} n */
export const comma = (n) => (n || 0).toLocaleString('en-US');
/** @param {number} n @param {string} thing */
export const plural = (n, thing) => `${comma(n)} ${thing}${n === 1 ? '' : 's'}`;

/** Formats a duration approximately: "13 min". @param {number} ms */
export function span(ms) {
  const s = Math.max(ms / 1e3, 0) | 0;
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${(s / 60) | 0} min`;
  return s < 172800 ? `${(s / 3600) | 0} h` : `${(s / 86400) | 0} days`;
}
/** Like span, but rounds up, and gives hours with minutes: "2 h 23 min". @param {number} ms */
export function wait(ms) {
  const unit = ms < 6e4 ? 1e3 : ms < 1728e5 ? 6e4 : 864e5;
  const up = Math.ceil(ms / unit) * unit;
  const minutes = (up / 6e4) % 60;
  return span(up) + (up > 36e5 && minutes ? ` ${minutes} min` : '');
}
/** @param {string | undefined} time RFC 3339 */
export const ago = (time) => {
  const ms = -until(time || '');
  return ms < 2000 ? words.justNow : words.ago(span(ms));
};

// The page has one clock, which is the server's: the viewer's may be wrong, and may jump.
/** The server's time at the origin of performance.now(), in milliseconds. */
let origin = performance.timeOrigin;
/** How far the clock of the server's store is ahead of that. */
let ahead = 0;
const clockError = 2000; // milliseconds of delay that do not set the clock back
/** The delay of an exact time that does not set the clock back; the first one always sets it. */
let delay = 0;
/**
 * Sets the clock by the Date header, in whole seconds, of an answer that has just arrived.
 * @param {string | null} date
 */
export const hear = (date) => {
  const off = Date.parse(date || '') - origin - performance.now();
  if (Math.abs(off) > clockError) origin += off;
};
/** Sets the clock by the exact time in a message that has just arrived. @param {string} time */
export const sync = (time) => {
  const off = -until(time);
  // Of several messages, the one with the shortest delay is the most accurate.
  if (off < 0 || off > delay) ahead -= off;
  delay = clockError;
};
/** Returns the milliseconds until a time on the server's clock. @param {string | number} time */
export const until = (time) => Math.round(+new Date(time) - origin - performance.now() - ahead);

/** Formats the remaining time: "0:41". @param {string | number} deadline */
export function clock(deadline) {
  const s = Math.max(Math.ceil(until(deadline) / 1e3), 0);
  return s < 3600 ? `${(s / 60) | 0}:${String(s % 60).padStart(2, '0')}` : wait(until(deadline));
}

/** @param {any} seat */
export const seatName = (seat) => seat.player?.name || seat.bot || words.open;
/** Lists the players of a game. @param {any} game */
export const players = (game) => game.seats.map(seatName).join(', ');
/**
 * Returns the occupant of a seat, with its color if there are several seats.
 * @param {any} game @param {number} seat
 */
const actor = (game, seat) =>
  (game.seats.length > 1 ? `${words.owners[seat]} ` : '') + seatName(game.seats[seat]);
/** @param {any} position @returns {number} */
export const highest = (position) => Math.max(0, ...(position?.scores || []));
/** @param {any} position @returns {number} */
export const largestTile = (position) => Math.max(0, ...(position?.twenty48?.tiles || []));
/** Formats the scores of a position. @param {any} position */
export const scoreText = (position) => (position?.scores || []).map(comma).join(' : ');
/**
 * Formats a cell of Tribolo with the coordinates on the board: "c,4".
 * @param {{x?: number, y?: number}} cell
 */
export const cellName = (cell) => `${(cell.x || 0).toString(36)},${cell.y || 0}`;

/** Describes how a game ended. @param {any} game */
export const ending = (game) => words.endings[game.result.reason] || words.gameOver;

/**
 * Describes how a game ended for the player of a seat, or for a watcher if seat is negative. Returns
 * the text and its CSS class.
 * @param {any} game @param {number} seat
 * @returns {[text: string, color: string]}
 */
export function outcome(game, seat) {
  const { winners = [], reason } = game.result;
  const several = game.seats.length > 1;
  const won = winners.includes(several ? seat : 0);
  const names = several ? winners.map((/** @type {number} */ w) => actor(game, w)) : [];
  let who = '';
  if (names[1]) who = `${words.shareWin(names.join(words.and))}, `;
  else if (names[0] && !won) who = `${words.wins(names[0])}, `;
  const left = several && reason === 'REASON_RESIGNED';
  const why = left ? words.othersResigned : ending(game).toLowerCase();
  const text = `${won ? words.youWin : words.gameOver}: ${who}${why}`;
  return [text, won ? 'good' : seat < 0 ? '' : 'bad'];
}

/** Describes an event. Empty for the creation of the game. @param {any} game @param {any} e */
export function happened(game, e) {
  const who = actor(game, e.seat || 0);
  if (e.moved?.cell) return `${words.owners[e.seat || 0]} ${cellName(e.moved.cell)}`;
  if (e.moved) return (e.moved.direction || '').slice(10).toLowerCase();
  if (e.joined) return words.joins(who);
  if (e.undone) return words.undoneTo(comma(e.position?.moveCount));
  if (e.resigned) return words.resigns(who);
  if (e.timedOut) return words.ranOut(who);
  if (e.clockExtended) return words.extended(who, `${parseInt(e.clockExtended.by, 10)}`);
  return e.abandoned ? words.abandoned : '';
}

/** @param {any} game */
export const isOver = (game) => game?.status === 'GAME_STATUS_FINISHED';

/** Returns the title of a game. @param {any} game */
export const title = (game) => game.variant + (game.exhibition ? ' exhibition' : '');

/** Returns the time since a game's last event, in milliseconds. @param {any} game */
export const idle = (game) => -until(game.updateTime);

const motionTime = 10e3; // milliseconds without a move after which a game is not in motion
/**
 * Returns the class of a game for TV, the best one first: a watched game in motion, another one in
 * motion, an exhibition, a game with moves, and one without. The terminal program has the same order.
 * @param {any} game
 */
export function rank(game) {
  if (!game.position?.moveCount) return 4;
  if (game.exhibition) return 2;
  if (idle(game) >= motionTime) return 3;
  return game.watchers ? 0 : 1;
}

/**
 * Describes whether a game is live. Returns the label and its CSS class.
 * @param {{game: any, over: boolean}} state
 * @param {string} connection
 * @returns {[text: string, color: string]}
 */
export function badge({ game, over }, connection) {
  if (over) return ['■ finished', 'dim'];
  if (connection !== 'live') return [`◌ ${connection}`, 'warn'];
  if (game?.status === 'GAME_STATUS_WAITING') return ['○ waiting', 'dim'];
  if (!game || idle(game) <= 30e3) return ['● live', 'good'];
  // In a race, the age of a game without moves includes the wait for the start.
  const started = game.position?.moveCount || !game.challengeId;
  return [started ? `○ idle ${span(idle(game))}` : '○ no moves yet', 'dim'];
}
/** @param {{audience: number}} state */
export const watching = ({ audience }) =>
  audience ? words.watching(comma(audience)) : words.noWatchers;

/** Describes who watches a game or, while it waits for players, who is there. @param {any} state */
export const present = (state) =>
  state.game.status?.endsWith('WAITING')
    ? `${plural(state.audience, 'player')} here`
    : watching(state);

/** The number of the last events that a page keeps, for the list of moves. */
export const keptEvents = 40;

/** A game at the newest version received from the stream. */
export class State {
  /** @type {any} */
  game = null;
  /** The last events without gaps, up to the current version once they have arrived. @type {any[]} */
  events = [];
  audience = 0;

  get version() {
    return this.game?.version || 0;
  }
  get over() {
    return isOver(this.game);
  }

  /**
   * Applies an update. Returns whether the board has changed, or undefined if the update cannot
   * be applied and the stream must restart.
   * @param {any} update
   */
  apply({ game, event, audience }) {
    if (game) {
      if (game.version < this.version) return false;
      if (game.version > this.version) this.events = [];
      this.game = game;
      this.audience = game.watchers || 0;
      return true;
    }
    if (!event) {
      this.audience = audience || 0;
      return false;
    }
    const follows = !this.events[0] || this.events.at(-1).version === event.version - 1;
    if (event.version <= this.version) {
      if (follows) this.events.push(event);
      return false;
    }
    // In a game with several seats, an undo event does not include the seats' earlier
    // state.
    if (event.version > this.version + 1 || (event.undone && this.game.seats.length > 1))
      return undefined;
    const { created, joined } = event;
    const g = {
      ...(this.game || { id: event.gameId }),
      ...created,
      version: event.version,
      position: event.position,
      updateTime: event.time,
      ranked: event.ranked,
    };
    this.game = g;
    const change = joined?.seat || (event.resigned && { resigned: true }) || event.timedOut;
    if (change) {
      g.seats = [...g.seats];
      g.seats[event.seat || 0] = joined ? change : { ...g.seats[event.seat || 0], ...change };
    }
    if (event.result) Object.assign(g, { result: event.result, seed: event.seed });
    const open = g.seats.some((/** @type {any} */ s) => s.open);
    g.status = `GAME_STATUS_${event.result ? 'FINISHED' : open ? 'WAITING' : 'ACTIVE'}`;
    if (!follows) this.events = [];
    this.events.push(event);
    if (this.events.length > keptEvents) this.events.shift();
    return true;
  }
}
