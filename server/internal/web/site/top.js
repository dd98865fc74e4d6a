// The leaderboards: today, this week, and all time.
import { account, look } from './api.js';
import { ordinal } from './challenge-words.js';
import { dailyLink, h, tab } from './dom.js';
import { failed } from './failed.js';
import { ago, plural } from './game-state.js';
import { link } from './names.js';
import { ranking, rankOf, scoreLink } from './panel.js';

/** @import { Entry, Variant, Window } from '../types' */

/** @type {[string, string, Window][]} */
const windows = [
  ['day', 'Today', 'WINDOW_DAY'],
  ['week', 'This week', 'WINDOW_WEEK'],
  ['all', 'All time', 'WINDOW_ALL_TIME'],
];

/**
 * @param {HTMLElement} root
 * @param {{id?: string}} data the variant
 */
export default async function show(root, { id }) {
  const variant = id || 'classic';
  const variants = h('nav.tabs', { 'aria-label': 'Variants' });
  const tabs = windows.map(([name, text]) => tab(`#${name}`, text));
  const times = h('nav.tabs', { 'aria-label': 'Time' }, tabs);
  const board = h('div.stack', { 'aria-live': 'polite' });
  root.append(h('div.stack.narrow', h('h1', 'Best scores'), variants, times, board));
  /** The window that the page shows. */
  let now = windows[2];
  const draw = () => {
    const asked = windows.find(([name]) => `#${name}` === location.hash) ?? windows[2];
    now = asked;
    tabs.forEach((a, i) => {
      if (windows[i] === now) a.setAttribute('aria-current', 'page');
      else a.removeAttribute('aria-current');
    });
    list(variant, asked[2]).then(
      (parts) => asked === now && board.replaceChildren(...parts),
      (e) => {
        if (asked !== now) return;
        if (e.reason !== 'VARIANT_NOT_FOUND') return failed(board, e);
        board.replaceChildren(h('p', `There is no variant ${variant}. Choose another one above.`));
      },
    );
  };
  addEventListener('hashchange', draw);
  draw();
  const known = await look('ListVariants').catch(() => ({ variants: [] })); // list says why
  variants.append(
    ...known.variants.map((/** @type {Variant} */ v) =>
      tab(`/top/${v.id}`, v.id, v.id === variant),
    ),
  );
}

/**
 * Lists the first entries of a leaderboard, and the player's own entry with its neighbors.
 * @param {string} variant
 * @param {Window} window
 */
async function list(variant, window) {
  const playerId = account()?.id;
  const top = await look('ListScores', { variant, window });
  /** @type {Entry[]} */
  const entries = top.entries ?? [];
  const own = entries.some((e) => e.player.id === playerId);
  const mine =
    playerId && !own && top.total > entries.length
      ? await rankOf({ variant, window, playerId, neighbors: 2 }).catch(() => undefined)
      : undefined;
  const around = mine
    ? [...(mine.neighbors ?? []), mine.entry].filter((e) => e.rank > entries.length)
    : [];
  around.sort((a, b) => a.rank - b.rank);
  const podium = entries
    .slice(0, 3)
    .map((e) => h('li', h('small', ordinal(e.rank)), h('b.cut', link(e)), h('span', scoreLink(e))));
  for (let rank = podium.length + 1; rank <= 3; rank++) {
    const take = h('a', { href: `/play/${variant}` }, 'Take it');
    podium.push(h('li.free', h('small', ordinal(rank)), take));
  }
  const rows = [...entries.slice(3), ...around];
  return [
    h('ol.podium', podium),
    rows.length && ranking(rows, { Score: scoreLink, When: (e) => ago(e.time) }),
    h(
      'p.dim',
      plural(top.total, 'player'),
      playerId && !own && !mine && '; you have no score here yet',
      `. Races${dailyLink ? ' and daily games' : ''} do not count here.`,
      dailyLink && [' ', h('a', { href: '/daily' }, "Today's daily ranking")],
    ),
  ].filter(Boolean);
}
