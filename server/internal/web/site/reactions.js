// Reactions: six buttons for watchers, and what they show beside the board.
import { ApiError, call, look } from './api.js';
import { h, keys, svg, toast } from './dom.js';
import { explain, signIn } from './persist.js';
import * as words from './words.js';

const pause = 1000; // milliseconds between two reactions of an account
const shown = 2000; // milliseconds for which a reaction is shown
const most = 12; // reactions that rise at the same time
const still = matchMedia('(prefers-reduced-motion: reduce)');

const face = ['circle', { cx: 12, cy: 12, r: 10, fill: '#ffd54a' }];
const ink = { fill: 'none', stroke: '#1c1f26', 'stroke-width': 1.8, 'stroke-linecap': 'round' };
const line = (/** @type {string} */ d) => ['path', { d, ...ink }];
const area = (/** @type {string} */ d, /** @type {string} */ fill) => ['path', { d, fill }];
const hand =
  'M6 12.5V7.2a1.4 1.4 0 0 1 2.8 0V5.4a1.4 1.4 0 0 1 2.8 0v1.2a1.4 1.4 0 0 1 2.8 0v1.8a1.3 1.3 0 0 1 2.6 0V16a6 6 0 0 1-6 6c-3 0-4.3-1.6-5.3-3.5L3.3 14.2a1.4 1.4 0 0 1 2.5-1.3Z';
/** The drawing of each reaction. @type {any[][]} */
const drawings = [
  [
    ['g', { transform: 'rotate(-14 12 12)' }, ['path', { d: hand, fill: '#e0973a' }]],
    [
      'g',
      { transform: 'translate(3.5 1) rotate(8 12 12)' },
      ['path', { d: hand, fill: '#ffc861', stroke: '#8a5514', 'stroke-width': 0.8 }],
    ],
  ],
  [
    face,
    line('M8.5 9v1M15.5 9v1'),
    ['ellipse', { cx: 12, cy: 16, rx: 2.4, ry: 3, fill: '#1c1f26' }],
  ],
  [
    face,
    line('M6.5 10q1.7-2.5 3.4 0M14.1 10q1.7-2.5 3.4 0'),
    area('M6.5 13h11a5.5 5.5 0 0 1-11 0Z', '#1c1f26'),
  ],
  [
    area(
      'M12 21C5 15.5 2.5 12.5 2.5 8.7A5.1 5.1 0 0 1 12 6.2a5.1 5.1 0 0 1 9.5 2.5C21.5 12.5 19 15.5 12 21Z',
      '#e5484d',
    ),
  ],
  [
    area(
      'M12.5 1.5c.5 4 6.5 6.5 6.5 13a7 7 0 0 1-14 0c0-3.5 2-5 2.7-8 1.3.6 2.2 1.7 2.5 3 1.6-2 2.6-4.7 2.3-8Z',
      '#f2711c',
    ),
    area('M12.2 11c.3 2 3 3 3 5.8a3.2 3.2 0 0 1-6.4 0c0-2.3 2.5-3.3 3.4-5.8Z', '#ffd54a'),
  ],
  [
    ['circle', { cx: 12, cy: 12, r: 10, fill: '#8fb8f0' }],
    line('M7 8l3 2-3 2M17 8l-3 2 3 2M7.5 17q1.1-2 2.2 0t2.3 0 2.3 0 2.2 0'),
  ],
];

/** @param {any} drawing @returns {Element} */
const drawn = ([tag, attributes, ...inside]) => svg(tag, attributes, ...inside.map(drawn));

/** Draws a reaction. @param {number} kind its place in the order of the contract, from 0 */
const icon = (kind) =>
  svg('svg', { viewBox: '0 0 24 24', 'aria-hidden': 'true' }, drawings[kind].map(drawn));

/**
 * Fills a row with the buttons for watchers of a game, and binds the keys 1 to 6. The row stays
 * empty if the server has no reactions. A watcher without an account gets a guest account.
 * @param {HTMLElement} row @param {() => string | undefined} game returns the ID of a live game
 */
export async function offer(row, game) {
  if (row.firstChild) return;
  const { reactions } = await look('GetServerInfo').catch(() => ({}));
  if (!reactions || row.firstChild) return;
  let resting = false;
  /** @param {number} kind */
  async function react(kind) {
    const gameId = game();
    if (resting || !gameId) return;
    resting = true;
    const button = row.children[kind];
    button?.classList.add('sent');
    try {
      await signIn();
      await call('React', { gameId, reaction: `REACTION_${words.reactions[kind].toUpperCase()}` });
    } catch (e) {
      if (!(e instanceof ApiError && /RATE_LIMITED|GAME_OVER/.test(e.reason))) toast(explain(e));
    }
    setTimeout(() => {
      resting = false;
      button?.classList.remove('sent');
    }, pause); // from the answer on, because the server counts from the call
  }
  row.append(
    ...words.reactions.map((name, kind) =>
      h(
        'button',
        { 'aria-label': name, title: `${name} (${kind + 1})`, onclick: () => react(kind) },
        icon(kind),
      ),
    ),
  );
  keys(words.reactions.map((name, kind) => [`${kind + 1}`, `react: ${name}`, () => react(kind)]));
}

/** @type {any} */
let counted;
/**
 * Lets reactions rise beside a board, or counts them if the viewer prefers no motion.
 * @param {HTMLElement} board @param {number[]} counts of each reaction
 */
export function rise(board, counts) {
  if (still.matches) {
    counted?.remove();
    const each = counts.flatMap((n, kind) => (n ? [icon(kind), `${n}`] : []));
    counted = h('p.counts', { 'aria-hidden': 'true' }, each);
    board.append(counted);
    setTimeout((/** @type {Element} */ e) => e.remove(), shown, counted);
    return;
  }
  const total = counts.reduce((sum, n) => sum + n, 0);
  const share = Math.min(1, most / total);
  for (const [kind, n] of counts.entries())
    for (let i = 0; i < Math.ceil(n * share); i++) {
      const one = h('i.rising', { 'aria-hidden': 'true' }, icon(kind));
      one.style.setProperty('--late', `${Math.random() * 0.5}s`);
      one.style.setProperty('--aside', `${-Math.random() * 14}px`);
      one.addEventListener('animationend', () => one.remove());
      board.append(one);
    }
}
