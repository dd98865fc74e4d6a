// The curve of the scores in a game, below the slider of its replay.
import { h, svg } from './dom.js';
import { comma, largestTile } from './game-state.js';

const width = 300; // points of a curve, at most
const height = 40;
const firstMark = 512; // the smallest tile that is marked
const apart = 8; // least distance of marks, in percent

/**
 * Draws the curve of each seat, with marks at the moves that made 512, 1024, 2048 …
 * @param {any[]} events all events of the game
 * @param {(version: number) => void} seek shows the version that the viewer clicks
 */
export function createCurve(events, seek) {
  const last = Math.max(events.length - 1, 1);
  const percent = (/** @type {number} */ i) => (100 * i) / last;
  const scores = events.map((e) => e.position?.scores || []);
  const most = Math.max(1, ...scores.flat());
  const step = Math.max(last / width, 1);
  const lines = scores[0].map((/** @type {any} */ _, /** @type {number} */ seat) => {
    const points = [];
    for (let i = 0; i <= last; i += step) {
      const score = scores[Math.round(i)]?.[seat] || 0;
      points.push(`${percent(i).toFixed(1)},${(height * (1 - score / most)).toFixed(1)}`);
    }
    const name = scores[0].length > 1 ? `owner-${seat}` : '';
    return svg('polyline', { points: points.join(' '), class: name });
  });
  const picture = svg(
    'svg',
    { viewBox: `0 0 100 ${height}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    lines,
  );
  const marks = [];
  let largest = firstMark / 2;
  let free = 0;
  for (const [i, e] of events.entries()) {
    const tile = largestTile(e.position);
    if (tile <= largest) continue;
    largest = tile;
    if (percent(i) < free) marks.pop()?.remove();
    free = percent(i) + apart;
    const label = `Move ${comma(e.position.moveCount)}: ${comma(tile)}`;
    const mark = h('button', { onclick: () => seek(e.version), title: label }, tile);
    mark.setAttribute('aria-label', label);
    mark.style.left = `${percent(i)}%`;
    marks.push(mark);
  }
  picture.onclick = (/** @type {MouseEvent} */ e) => {
    const { left, width } = picture.getBoundingClientRect();
    seek(1 + Math.round((last * (e.clientX - left)) / width));
  };
  return h('div.curve', picture, marks);
}
