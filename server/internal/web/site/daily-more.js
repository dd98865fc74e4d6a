// What the pages tell about daily games beside the game: how the results are distributed, the
// player's streak, and their place on another day.
import { call, look } from './api.js';
import { place } from './challenge-words.js';
import { h, svg } from './dom.js';
import { comma, plural } from './game-state.js';

const height = 60; // of the distribution

/**
 * Returns the player's place in the daily game of a day: "3rd of 87". Throws if they have none.
 * @param {string} variant @param {string} date
 */
export async function placeOn(variant, date) {
  const { challenge } = await look('GetChallenge', { daily: { variant, date } });
  const asked = { challengeId: challenge.id, playerId: 'me' };
  const { standings, total } = await call('ListStandings', asked);
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
  const bars = distribution.map((count, i) => {
    const tall = Math.max((height * (count || 0)) / most, 1).toFixed(1);
    const color = `var(--${i === mine ? 'tile-2048' : 'faint'})`;
    const box = { x: i + 0.05, y: height - +tall, width: 0.9, height: tall, fill: color };
    return svg(
      'rect',
      box,
      svg('title', `From ${from(i)} points: ${plural(count || 0, 'result')}`),
    );
  });
  const who = mine < 0 ? '' : 'yours among ';
  const label = `The results by score, from 0 to ${comma(best)}`;
  return [
    svg(
      'svg',
      {
        viewBox: `0 0 ${n} ${height}`,
        preserveAspectRatio: 'none',
        class: 'graph',
        role: 'img',
        'aria-label': label,
      },
      bars,
    ),
    h(
      'p.range.dim',
      ['0', who + plural(total, 'result'), comma(best)].map((text) => h('span', text)),
    ),
  ];
}
