// What a player has achieved: best scores, daily games, and the latest scores.
import { bars, dailyLink, h, svg } from './dom.js';
import { comma, plural, until } from './game-state.js';
import { link } from './names.js';

/** @import { DailyRecord, FinishedGame, GetProfileResponse, RaceRecord, VariantRecord } from '../types' */

const days = 60; // in the calendar
const wide = 15; // days in a row of the calendar
const games = 100; // in the graph
const cell = 16; // of the calendar, with a gap
const dayTime = 864e5;

/** The tiles whose colors the variants have, as powers of 2, by the order of the variants. */
const faces = [11, 4, 9, 6, 10, 7, 5, 8];

/** @param {number} i */
const face = (i) => faces[i % faces.length];

/** @param {VariantRecord} r @param {number} i */
function record({ variant, games, wins, bestScore, bestGameId }, i) {
  const facts = plural(games, 'game') + (wins ? `, ${wins} won` : '');
  const best = bestScore ? comma(bestScore) : wins ? plural(wins, 'win') : '–';
  const element = h(
    bestGameId ? 'a.card.record' : 'div.card.record',
    { href: bestGameId && `/g/${bestGameId}` },
    h('b', variant),
    h('span.score', best),
    h('small', facts),
  );
  element.style.background = `var(--tile-${face(i)})`;
  element.style.color = `var(--ink-${face(i)})`;
  return element;
}

/**
 * Draws the daily games of the last days in rows. The stronger a day's color, the closer its score is to
 * the best of its variant.
 * @param {DailyRecord} daily @param {number} now
 */
function calendar({ results = [] }, now) {
  /** @type {Record<string, number>} */
  const best = {};
  for (const r of results) best[r.variant] = Math.max(best[r.variant] || 1, r.score || 0);
  const cells = Array.from({ length: days }, (_, n) => {
    const date = new Date(now - (days - 1 - n) * dayTime).toISOString().slice(0, 10);
    const day = results.filter((r) => r.day === date);
    const share = Math.max(0, ...day.map((r) => (r.score || 0) / best[r.variant]));
    const texts = day.map((r) => `${r.variant} ${comma(r.score || 0)}`).join(', ');
    return svg(
      'rect',
      {
        x: (n % wide) * cell,
        y: ((n / wide) | 0) * cell,
        width: cell - 3,
        height: cell - 3,
        rx: 3,
        fill: `var(--${day.length ? 'tile-11' : 'empty'})`,
        'fill-opacity': day.length ? 0.4 + 0.6 * share : 1,
      },
      svg('title', `${date}: ${texts || 'not played'}`),
    );
  });
  const label = `Daily games on ${plural(new Set(results.map((r) => r.day)).size, 'day')} of ${days}`;
  const viewBox = `0 0 ${wide * cell - 3} ${(days / wide) * cell - 3}`;
  return svg('svg', { viewBox, class: 'calendar', role: 'img', 'aria-label': label }, cells);
}

/**
 * Draws a bar for each game, as high as its score beside the best one of its variant in the graph.
 * @param {FinishedGame[]} latest @param {string[]} order the variants
 */
function graph(latest, order) {
  /** @type {Record<string, number>} */
  const best = {};
  for (const g of latest) best[g.variant] = Math.max(best[g.variant] || 1, g.score || 0);
  const columns = latest.map((g) => ({
    share: (g.score || 0) / best[g.variant],
    color: `tile-${face(order.indexOf(g.variant))}`,
    title: `${g.time.slice(0, 10)}, ${g.variant}: ${plural(g.score || 0, 'point')}`,
  }));
  const label = `Scores of ${plural(latest.length, 'game')}`;
  return bars(columns, Math.max(latest.length, games / 4), label);
}

/** Shows the results against the latest rivals. @param {RaceRecord} races */
function showRaces({ total, won = 0, rivals = [] }) {
  const rows = rivals
    .slice(0, 4)
    .map((r) => h('p', h('b', `${r.won || 0}–${r.lost || 0}`), ' against ', link(r)));
  return h(
    'section.card.stack',
    h('h2', 'Last races'),
    h('p', h('b', `${won} of ${total} won`), !rows[0] && h('span.dim', ', all against bots')),
    rows,
  );
}

/**
 * Makes the parts of a player's page that show the profile, or returns none if it is empty.
 * @param {GetProfileResponse} profile
 */
export function showProfile({ variants = [], latest = [], daily = {}, races = {} }) {
  if (!variants.length) return [];
  const { streak = 0, longestStreak = 0 } = daily;
  const today = Math.floor(-until(0) / dayTime) * dayTime;
  const run = `Streak: ${plural(streak, 'day')}`;
  const longest = longestStreak > streak && `, longest ${plural(longestStreak, 'day')}`;
  const order = variants.map((v) => v.variant);
  return [
    h('div.records', variants.map(record)),
    h('p.dim', 'Rankings leave out races and daily games.'),
    h(
      'div.achieved',
      (dailyLink || daily.results) &&
        h(
          'section.card.stack',
          h('h2', 'Daily games'),
          calendar(daily, today),
          h('p', h('b', run), longest && h('span.dim', longest)),
        ),
      h(
        'section.card.stack',
        h('h2', 'Last games'),
        graph(latest, order),
        h('p.dim', 'Oldest first; the best is highest.'),
      ),
      !!races.total && showRaces(races),
    ),
  ];
}
