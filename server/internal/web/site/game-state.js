// A game folded from the updates of its stream, and its words.

/** @param {number} n */
export const comma = (n) => (n || 0).toLocaleString('en-US');
/** @param {number} n @param {string} thing */
export const plural = (n, thing) => `${comma(n)} ${thing}${n === 1 ? '' : 's'}`;

/** A duration, roughly: "13 min". @param {number} ms */
function span(ms) {
  const s = Math.max(ms / 1e3, 0) | 0;
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${(s / 60) | 0} min`;
  return s < 172800 ? `${(s / 3600) | 0} h` : `${(s / 86400) | 0} days`;
}
/** @param {string | undefined} time RFC 3339 */
export const ago = (time) => {
  const ms = Date.now() - Date.parse(time || '');
  return ms < 2000 ? 'just now' : `${span(ms)} ago`;
};
/** The time left, like a clock: "0:41". @param {string} deadline RFC 3339 */
export function clock(deadline) {
  const ms = Date.parse(deadline) - Date.now();
  const s = Math.max(Math.ceil(ms / 1e3), 0);
  return s < 3600 ? `${(s / 60) | 0}:${String(s % 60).padStart(2, '0')}` : span(ms);
}

export const owners = ['blue', 'red', 'green'];
/** @param {any} seat */
export const seatName = (seat) => seat.player?.name || seat.bot || 'open';
/** The players of a game. @param {any} game */
export const players = (game) =>
  game.seats
    .filter((/** @type {any} */ s) => !s.open)
    .map(seatName)
    .join(', ') || 'open';
/** Who has a seat, with the color if there are several. @param {any} game @param {number} seat */
const actor = (game, seat) =>
  (game.seats.length > 1 ? `${owners[seat]} ` : '') + seatName(game.seats[seat]);
/** @param {any} position @returns {number} */
export const highest = (position) => Math.max(0, ...(position?.scores || []));
/** @param {any} position @returns {number} */
export const largestTile = (position) => Math.max(0, ...(position?.twenty48?.tiles || []));
/** The scores of a position. @param {any} position */
export const scoreText = (position) => (position?.scores || []).map(comma).join(' : ');
/** A cell of Tribolo as its board numbers it: "c,4". @param {{x?: number, y?: number}} cell */
export const cellName = (cell) => `${(cell.x || 0).toString(36)},${cell.y || 0}`;

/** @type {Record<string, string>} */
const endings = {
  REASON_GOAL_REACHED: '2048!',
  REASON_NO_MOVES: 'No moves left',
  REASON_RESIGNED: 'Given up',
  REASON_TIMED_OUT: 'Out of time',
  REASON_ABANDONED: 'Abandoned',
};
/** How a game ended. @param {any} game */
export const ending = (game) => endings[game.result?.reason] || 'Game over';

/** Who won a game of several seats. @param {any} game */
function winners(game) {
  const names = (game.result?.winners || []).map((/** @type {number} */ w) => actor(game, w));
  if (names.length > 1) return `${names.join(' and ')} share the win`;
  return names.length ? `${names[0]} wins` : 'Nobody wins';
}

/** How a game ended, and who won it if it has several seats. @param {any} game */
export const outcome = (game) =>
  `${game.seats.length > 1 ? `${winners(game)}. ` : ''}${ending(game)}.`;

/** What an event did, empty for the creation. @param {any} game @param {any} e */
export function happened(game, e) {
  const who = actor(game, e.seat || 0);
  if (e.moved?.cell) return `${owners[e.seat || 0]} ${cellName(e.moved.cell)}`;
  if (e.moved) return (e.moved.direction || '').slice(10).toLowerCase();
  if (e.joined) return `${who} sits down`;
  if (e.undone) return `undone, back to move ${comma(e.position?.moveCount)}`;
  if (e.resigned) return `${who} gives up`;
  if (e.timedOut) return `${who} ran out of time`;
  if (e.clockExtended) return `${who} gets ${parseInt(e.clockExtended.by, 10)} s back`;
  return e.abandoned ? 'abandoned' : '';
}

/** @param {any} game */
export const isOver = (game) => game?.status === 'GAME_STATUS_FINISHED';

/** The seat of a player in a game, -1 for none. @param {any} game @param {string} [id] */
export const seatOf = (game, id) =>
  game.seats.findIndex((/** @type {any} */ s) => s.player && s.player.id === id);

/** What is played. @param {any} game */
export const title = (game) => game.variant + (game.exhibition ? ' exhibition' : '');

/** The time since a game's last event. @param {any} game */
export const idle = (game) => Date.now() - Date.parse(game.updateTime);

/**
 * Says whether a game is live, with the class of the text.
 * @param {{game: any, over: boolean}} state
 * @param {string} connection
 * @returns {[text: string, color: string]}
 */
export function badge({ game, over }, connection) {
  if (over) return ['■ finished', 'dim'];
  if (connection !== 'live') return [`◌ ${connection}`, 'warn'];
  if (game?.status === 'GAME_STATUS_WAITING') return ['○ waiting', 'dim'];
  return game && idle(game) > 30e3 ? [`○ idle ${span(idle(game))}`, 'dim'] : ['● live', 'good'];
}
/** @param {State} state */
export const watching = ({ audience }) =>
  audience ? `${comma(audience)} watching` : 'no watchers';

/** A game at the newest version that the stream brought. */
export class State {
  /** @type {any} */
  game = null;
  /** The last events, without a gap, up to this version. @type {any[]} */
  events = [];
  audience = 0;
  /** @param {number} [limit] of the events to keep */
  constructor(limit = Infinity) {
    this.limit = limit;
  }

  get version() {
    return this.game?.version || 0;
  }
  get over() {
    return isOver(this.game);
  }

  /**
   * Applies an update. It returns whether the board changed, or undefined if the update does
   * not fit, so that the stream must begin again.
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
    if (event.version <= this.version) return false;
    // An undo in a game of several seats does not say how they were.
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
    this.events.push(event);
    if (this.events.length > this.limit) this.events.shift();
    return true;
  }
}
