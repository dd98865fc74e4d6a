// The wording for challenges and results. The Go versions are in internal/describe.
import { clock, comma, plural } from './game-state.js';
import * as words from './words.js';

/** @import { Challenge, Player, Standing } from '../types' */

/** @typedef {{challenge: Challenge, score?: number, tiles?: number[], rank?: number,
 *   total?: number, dayStreak?: number, link?: string}} Result */

/** @param {Challenge} c @param {string} kind */
export const is = (c, kind) => c.kind === `CHALLENGE_KIND_${kind}`;

/** @param {string[]} texts */
const phrases = (...texts) => texts.filter(Boolean).join(', ');

/** Formats the exact time limit of an attempt or a race: "3 min". @param {string} [duration] */
export function limit(duration) {
  const s = Number.parseInt(duration || '0', 10);
  if (s && s % 3600 === 0) return `${s / 3600} h`;
  return s && s % 60 === 0 ? `${s / 60} min` : `${s} s`;
}

/**
 * Describes a challenge: "daily 2026-11-21", "race of 3 min, vt100". Appends by to a link, and goal
 * to a rematch.
 * @param {Challenge} c
 */
function kindWords(c, by = '', goal = '') {
  let kind = `challenge${is(c, 'REMATCH') ? goal : by}`;
  if (is(c, 'LINK') && c.limit) kind += `, ${limit(c.limit)} each`;
  if (is(c, 'DAILY')) kind = `daily ${c.date}`;
  if (is(c, 'RACE')) kind = `race of ${limit(c.limit)}`;
  return c.variant === 'classic' ? kind : `${kind}, ${c.variant}`;
}

/** Says when a race starts that waits for players. @param {Challenge} c */
export function begins({ startTime, entrants = [] }) {
  if (startTime) return `It starts in ${clock(startTime)}, or when everyone is ready.`;
  if (entrants.length === 1) return 'It needs a second player or a bot to start.';
  if (entrants.length === 2 && entrants.some((e) => e.bot))
    return 'Others see your race and can join as long as you wait. To race the bot alone, press Ready.';
  return 'It starts when everyone is ready or the creator starts it.';
}

/** Returns the title of a challenge. @param {Challenge} c */
export function title(c) {
  const goal = `: beat ${c.target?.player?.name || ''}'s ${comma(c.target?.score || 0)}`;
  const text = kindWords(c, ` by ${c.creator?.name || ''}`, goal);
  return text[0].toUpperCase() + text.slice(1);
}

/**
 * Returns the date of the day before a daily game, if that day had one: the server then
 * created this one on that day.
 * @param {Challenge} c
 */
export const dayBefore = ({ date = '', createTime }) =>
  createTime < date && createTime.slice(0, 10);

/** Formats a rank: "2nd", "11th". @param {number} n */
export function ordinal(n) {
  const last = n % 100 > 10 && n % 100 < 14 ? 0 : n % 10;
  return comma(n) + (['th', 'st', 'nd', 'rd'][last] || 'th');
}

/** Formats the rank of an attempt: "3rd of 87". @param {number} rank @param {number} total */
export const place = (rank, total) =>
  rank > 0 ? `${ordinal(rank)} of ${comma(Math.max(total, rank))}` : '';

/**
 * Formats the share of other players that are behind.
 * @param {number} rank @param {number} total
 */
export function percentile(rank, total) {
  const percent = rank < 2 || total <= rank ? 0 : Math.floor(((total - rank) * 100) / (total - 1));
  return percent ? `better than ${percent}%` : '';
}

/**
 * Says who overtakes the player of a race, or whom the player overtakes. Without the player's
 * game, it says who takes the lead. Empty if no place has changed.
 * @param {Standing[]} before @param {Standing[]} after @param {string} [own] the player's game
 */
export function overtaking(before = [], after = [], own = '') {
  if (!before[0]?.score) return '';
  /** Returns the standings ahead of the player's, or the first. @param {Standing[]} list */
  const ahead = (list) => {
    const end = own ? list.findIndex((s) => s.gameId === own) : 1;
    return list.slice(0, Math.max(end, 0));
  };
  /** @param {Standing[]} some @param {Standing[]} others */
  const newName = (some, others) => {
    const s = some.find(({ gameId }) => !others.some((other) => other.gameId === gameId));
    return s?.player?.name || s?.bot || '';
  };
  const passing = newName(ahead(after), ahead(before));
  if (!own) return passing && words.leads(passing);
  if (passing) return words.overtakes(passing);
  const passed = newName(ahead(before), ahead(after));
  return passed && words.overtaken(passed);
}

/** @param {number} days */
export const streak = (days) => (days < 2 ? '' : `${comma(days)} days in a row`);

/** Formats a result without its points. @param {Omit<Result, 'challenge'>} r */
export const standing = ({ rank = 0, total = 0, dayStreak = 0 }) =>
  phrases(place(rank, total), percentile(rank, total), streak(dayStreak));

/**
 * Says whether a score beat a rival's or that of a rematch, and by how much.
 * @param {number} score @param {{player?: Player, bot?: string, score?: number}} target
 */
export function margin(score, { player, bot = '', score: goal = 0 }) {
  const who = player?.name || bot;
  if (score === goal) return words.level(who);
  return score > goal
    ? words.beat(who, comma(score - goal))
    : words.behind(plural(goal - score, 'point'), who);
}

/** Formats a result in one line. @param {Result} r */
export const summary = (r) => phrases(plural(r.score || 0, 'point'), standing(r));

/** Shows the eight largest tiles of a board as colored squares. @param {number[]} [tiles] */
export const squares = (tiles = []) =>
  tiles
    .toSorted((a, b) => b - a)
    .slice(0, 8)
    .map((face) => (face ? words.squares[Math.min(Math.log2(face), words.squares.length) - 1] : ''))
    .join('');

/** Returns the message that a player shares about a result. @param {Result} r */
export function share({
  challenge: c,
  score = 0,
  tiles,
  rank = 0,
  total = 0,
  dayStreak = 0,
  link,
}) {
  const result = phrases(plural(score, 'point'), place(rank, total), streak(dayStreak));
  return [`Gridstand ${kindWords(c)}: ${result}`, squares(tiles), link].filter(Boolean).join('\n');
}
