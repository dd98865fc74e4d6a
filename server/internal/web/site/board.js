// The boards: tiles that slide, and the cells of Tribolo.
import { announce, h, svg } from './dom.js';
import { cellName, owners, plural } from './game-state.js';
import { slide } from './twenty48.js';

/** @typedef {{animate?: boolean, legal?: boolean}} ShowOptions */
/** @typedef {{element: any, show: (position: any, event?: any, options?: ShowOptions) => void}} Board */

/** @param {any} position @returns {"twenty48" | "tribolo"} */
export const kindOf = (position) => (position?.tribolo ? 'tribolo' : 'twenty48');

/**
 * Makes a board. Show draws a position, in motion if the event led from the position before
 * to it. With onCell, clicks and keys choose a cell of Tribolo.
 * @param {"twenty48" | "tribolo"} kind
 * @param {(cell: {x: number, y: number}) => void} [onCell]
 */
export const createBoard = (kind, onCell) => ({
  kind,
  ...(kind === 'tribolo' ? tribolo(onCell) : twenty48()),
});

/** Sets a custom property. @param {any} element @param {string} name @param {number} value */
const set = (element, name, value) => element.style.setProperty(`--${name}`, value);

/** @returns {Board} */
function twenty48() {
  const element = h('div.b48', { role: 'img' });
  /** The tile of each cell. @type {any[]} */
  let cells = [];
  /** Tiles that merged, below the new ones. @type {any[]} */
  let merged = [];
  let rows = 0;
  let columns = 0;

  /** @param {number} r @param {number} c */
  function resize(r, c) {
    if (r === rows && c === columns) return;
    [rows, columns] = [r, c];
    cells = Array(r * c).fill(null);
    set(element, 'n', c);
    set(element, 'm', r);
    element.replaceChildren(...cells.map((_, i) => place(h('i', h('b')), i)));
  }
  /** @param {any} tile @param {number} i */
  function place(tile, i) {
    set(tile, 'x', i % columns);
    set(tile, 'y', (i / columns) | 0);
    return tile;
  }
  /** @param {any} tile @param {number} value */
  function paint(tile, value) {
    if (tile.value === value) return;
    const face = tile.firstChild;
    const color = Math.min(value, 131072);
    tile.value = face.textContent = value;
    set(tile, 'd', Math.max(`${value}`.length, 2));
    face.style.background = `var(--tile-${color})`;
    face.style.color = `var(--ink-${color})`;
  }
  /** @param {number} i @param {number} value @param {string} motion */
  function add(i, value, motion) {
    const tile = place(h('i', { class: `tile ${motion}` }, h('b')), i);
    paint(tile, value);
    element.append(tile);
    return tile;
  }
  /**
   * Moves the tiles as the event did.
   * @param {number[]} next
   * @param {any} moved
   */
  function move(next, moved) {
    const before = cells.map((tile) => tile?.value || 0);
    const slid = moved.direction
      ? slide(before, rows, columns, moved.direction)
      : { tiles: before, moves: [] };
    const spawn = moved.spawned ? moved.spawned.index || 0 : -1;
    // Another position than the one before the event is shown as it is.
    if (slid.tiles[spawn]) return;
    slid.tiles[spawn] = moved.spawned?.value;
    if (next.some((value, i) => value !== slid.tiles[i])) return;
    const to = new Map(slid.moves.map((m) => [m.from, m.to]));
    /** @type {any[]} */
    const after = Array(cells.length).fill(null);
    cells.forEach((tile, from) => {
      if (!tile) return;
      const i = to.get(from) ?? from;
      place(tile, i);
      if (after[i]) {
        merged.push(tile, after[i]);
        after[i] = add(i, next[i], 'merged');
      } else after[i] = tile;
    });
    if (spawn >= 0) after[spawn] = add(spawn, next[spawn], 'new');
    cells = after;
  }

  return {
    element,
    show(position, event, { animate = true } = {}) {
      const board = position?.twenty48 || {};
      const next = board.tiles || [];
      resize(board.rows || 4, board.columns || 4);
      if (!event?.moved || event.moved.direction) {
        for (const tile of merged) tile.remove();
        merged = [];
      }
      if (animate && event?.moved) move(next, event.moved);
      for (let i = 0; i < cells.length; i++) {
        if (next[i]) {
          cells[i] ||= add(i, next[i], '');
          paint(cells[i], next[i]);
        } else {
          cells[i]?.remove();
          cells[i] = null;
        }
      }
      const text = next.map(
        (/** @type {number} */ t, /** @type {number} */ i) =>
          (i % columns ? ' ' : `; row ${i / columns + 1}: `) + (t || 'empty'),
      );
      element.setAttribute('aria-label', text.join('').slice(2) || 'Empty board');
    },
  };
}

/**
 * @param {((cell: {x: number, y: number}) => void) | undefined} onCell
 * @returns {Board}
 */
function tribolo(onCell) {
  const columns = 16;
  const rows = 11;
  const element = svg('svg', {
    class: 'tri',
    viewBox: '-6 -6 167 117',
    role: onCell ? 'application' : 'img',
    tabindex: onCell ? 0 : null,
  });
  /** @param {number} x @param {number} y @param {any} text @param {string} [name] */
  const label = (x, y, text, name) => svg('text', { x, y, class: name }, text);
  element.append(
    svg('rect', { x: -0.5, y: -0.5, width: 161, height: 111, rx: 2.5, class: 'ground' }),
  );
  for (let x = 0; x < columns; x++) element.append(label(10 * x + 5, -2, x.toString(36)));
  for (let y = 0; y < rows; y++) element.append(label(-3, 10 * y + 6.4, y));
  /** @type {any[]} */
  const rects = [];
  /** @type {any[]} */
  const letters = [];
  for (let i = 0; i < columns * rows; i++) {
    const [x, y] = [10 * (i % columns), 10 * ((i / columns) | 0)];
    rects.push(svg('rect', { x: x + 0.5, y: y + 0.5, width: 9, height: 9, rx: 1.8 }));
    letters.push(label(x + 5, y + 6.8, '', 'letter'));
  }
  element.append(...rects, ...letters);

  /** Index of a cell. @param {{x?: number, y?: number}} c */
  const at = (c) => (c.y || 0) * columns + (c.x || 0);
  /** @type {Map<number, any[]>} */
  let legal = new Map();
  let cursor = -1;
  /** @param {number} i */
  function point(i) {
    cursor = i;
    const taken = new Set(legal.get(i)?.map(at));
    rects.forEach((r, k) => {
      r.classList.toggle('cursor', k === i);
      r.classList.toggle('taken', taken.has(k));
    });
  }
  if (onCell) {
    /** @param {number} i */
    const choose = (i) => {
      if (i >= 0) onCell({ x: i % columns, y: (i / columns) | 0 });
    };
    element.onpointermove = (/** @type {any} */ e) => {
      if (e.pointerType === 'mouse') point(rects.indexOf(e.target));
    };
    element.onpointerleave = () => point(-1);
    element.onclick = (/** @type {any} */ e) => choose(rects.indexOf(e.target));
    element.onkeydown = (/** @type {KeyboardEvent} */ e) => {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[
        e.key
      ];
      if (!step && e.key !== 'Enter' && e.key !== ' ') return;
      e.preventDefault();
      e.stopPropagation();
      if (!step) return choose(cursor);
      const from = cursor < 0 ? at({ x: 7, y: 5 }) : cursor;
      const x = ((from % columns) + step[0] + columns) % columns;
      const y = (((from / columns) | 0) + step[1] + rows) % rows;
      point(at({ x, y }));
      const takes = legal.get(cursor);
      announce(
        `${cellName({ x, y })} ${takes ? `takes ${plural(takes.length, 'cell')}` : letters[cursor].textContent}`,
        0,
      );
    };
  }

  return {
    element,
    show(position, event, options = {}) {
      const board = position?.tribolo || {};
      const cell = event?.moved?.cell;
      const fresh = new Set(cell ? [...(event.moved.taken || []), cell].map(at) : []);
      legal = new Map(
        options.legal
          ? (board.legalMoves || []).map((/** @type {any} */ m) => [
              at(m.cell || {}),
              m.taken || [],
            ])
          : [],
      );
      rects.forEach((rect, i) => {
        const state = (board.cells?.[i] || '').slice(11);
        const owner = owners.indexOf(state.toLowerCase());
        let name = owner < 0 ? state : `owner-${owner}`;
        if (fresh.has(i)) name += ' fresh';
        if (cell && i === at(cell)) name += ' to';
        if (legal.has(i)) name += ' legal';
        if (rect.getAttribute('class') !== name) rect.setAttribute('class', name);
        const letter = owner < 0 ? '' : state[0];
        if (letters[i].textContent !== letter) letters[i].textContent = letter;
        letters[i].classList.toggle('fresh', fresh.has(i));
      });
      point(cursor);
      element.setAttribute(
        'aria-label',
        'Tribolo: ' +
          owners.map((o, i) => `${o} ${position?.scores?.[i] || 0}`).join(', ') +
          (cell ? `; last jump to ${cellName(cell)}` : ''),
      );
    },
  };
}
