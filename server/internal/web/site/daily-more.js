// What the pages tell about daily games beside the game: how the results are distributed, the
// player's streak, and their place on another day.
import { call, look } from './api.js';
import { place } from './challenge-words.js';
import { bars, h } from './dom.js';
import { comma, plural } from './game-state.js';

/** Lists the player's standing in a challenge. @param {string} challengeId */
export const ownStanding = (challengeId) => call('ListStandings', { challengeId, playerId: 'me' });

/**
 * Returns the player's place in the daily game of a day: "3rd of 87". Throws if they have none.
 * @param {string} variant @param {string} date
 */
export async function placeOn(variant, date) {
  const { challenge } = await look('GetChallenge', { daily: { variant, date } });
  const { standings, total } = await ownStanding(challenge.id);
  return place(standings[0].rank, total);
}

/** Returns the number of days in a row on which the player has finished a daily game. */
export const streakNow = async () =>
  (await call('GetProfile', { playerId: 'me' })).daily?.streak || 0;

/**
 * Draws how many results are in each range of scores, with the player's own range in another
 * color. Shows nothing for a single result.
 * @param {string} challengeId @param {number} [own] the player's score
 */
export async function showDistribution(challengeId, own) {
  /** @type {{standings?: {score?: number}[], total?: number, distribution?: number[]}} */
  const listed = await look('ListStandings', { challengeId, pageSize: 1 });
  const { standings = [], total = 0, distribution = [] } = listed;
  if (total < 2) return [];
  const n = distribution.length;
  const best = standings[0].score || 0;
  const most = Math.max(...distribution);
  const mine = own === undefined ? -1 : Math.floor((own * n) / (best + 1));
  const from = (/** @type {number} */ i) => comma(Math.ceil((i * (best + 1)) / n));
  const columns = distribution.map((count, i) => ({
    share: count / most,
    color: i === mine ? 'tile-11' : 'faint',
    title: `From ${from(i)} points: ${plural(count || 0, 'result')}`,
  }));
  const who = mine < 0 ? '' : 'yours among ';
  const label = `The results by score, from 0 to ${comma(best)}`;
  return [
    bars(columns, n, label),
    h(
      'p.range.dim',
      ['0', who + plural(total, 'result'), comma(best)].map((text) => h('span', text)),
    ),
  ];
}
