// The leaderboards: of all time, this week and today.
import { account, call } from './api.js';
import { h } from './dom.js';
import { ago, comma, plural } from './game-state.js';
import { explain } from './persist.js';

/** @import { Entry, Variant, Window } from '../types' */

/** @type {[string, string, Window][]} */
const windows = [
  ['day', 'Today', 'WINDOW_DAY'],
  ['week', 'This week', 'WINDOW_WEEK'],
  ['all', 'All time', 'WINDOW_ALL_TIME'],
];

/** @param {string[]} heads @param {any[]} rows */
export const table = (heads, rows) =>
  h(
    'table',
    null,
    h(
      'thead',
      null,
      h(
        'tr',
        null,
        heads.map((text) => h('th', { scope: 'col' }, text)),
      ),
    ),
    h('tbody', null, rows),
  );

/** @param {any[]} cells @param {boolean} [mine] */
export const row = (cells, mine) =>
  h(
    'tr',
    { class: mine && 'me' },
    cells.map((cell) => h('td', null, cell)),
  );

/** @param {string} href @param {string} text @param {boolean} here */
const tab = (href, text, here) => h('a', { href, 'aria-current': here && 'page' }, text);

/**
 * @param {HTMLElement} root
 * @param {{id?: string}} data the variant
 */
export default async function show(root, { id }) {
  const variant = id || 'classic';
  const variants = h('nav', { class: 'tabs', 'aria-label': 'Variants' });
  const times = h('nav', { class: 'tabs', 'aria-label': 'Time' });
  const board = h('div', { class: 'stack', 'aria-live': 'polite' });
  root.append(
    h('div', { class: 'stack narrow' }, h('h1', null, 'Best scores'), variants, times, board),
  );
  const draw = () => {
    const now = windows.find(([name]) => `#${name}` === location.hash) ?? windows[2];
    times.replaceChildren(...windows.map((w) => tab(`#${w[0]}`, w[1], w === now)));
    list(variant, now[2]).then(
      (parts) => board.replaceChildren(...parts),
      (e) => board.replaceChildren(explain(e)),
    );
  };
  addEventListener('hashchange', draw);
  draw();
  const known = await call('GameService', 'ListVariants', {}, { anonymous: true });
  variants.append(
    ...known.variants.map((/** @type {Variant} */ v) =>
      tab(`/top/${v.id}`, v.title, v.id === variant),
    ),
  );
}

/**
 * Lists the first entries of a board, and the player's own with its neighbors.
 * @param {string} variant
 * @param {Window} window
 */
async function list(variant, window) {
  const playerId = account()?.id;
  const [top, mine] = await Promise.all([
    call('LeaderboardService', 'ListScores', { variant, window }, { anonymous: true }),
    playerId &&
      call(
        'LeaderboardService',
        'GetRank',
        { variant, window, playerId, neighbors: 2 },
        { anonymous: true },
      ).catch(() => null),
  ]);
  /** @type {Entry[]} */
  const entries = top.entries ?? [];
  if (!entries.length)
    return [
      h('p', { class: 'dim' }, 'No scores yet.'),
      h('p', null, h('a', { class: 'button primary', href: `/play/${variant}` }, 'Play')),
    ];
  const around = mine
    ? [...(mine.neighbors ?? []), mine.entry].filter((e) => e.rank > entries.length)
    : [];
  around.sort((a, b) => a.rank - b.rank);
  const rows = [...entries, ...around].map((e) =>
    row(
      [
        comma(e.rank),
        h('a', { href: `/p/${encodeURIComponent(e.player.name)}` }, e.player.name),
        h('a', { href: `/g/${e.gameId}` }, comma(e.score)),
        ago(e.time),
      ],
      e.player.id === playerId,
    ),
  );
  return [
    table(['Rank', 'Player', 'Score', 'When'], rows),
    h('p', { class: 'dim' }, plural(top.total, 'player')),
  ];
}
