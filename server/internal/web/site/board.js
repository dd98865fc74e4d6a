// The boards. This module draws that of 2048, with sliding tiles, and tribolo-board.js that of Tribolo.
import { h } from './dom.js';
import { tribolo } from './tribolo-board.js';
import { slide } from './twenty48.js';

/** @typedef {{animate?: boolean, legal?: boolean}} ShowOptions */
/**
 *
 * @typedef {{element: any, show: (position: any, event?: any, options?: ShowOptions) => void}} Board
 */

/** @param {any} position @returns {"twenty48" | "tribolo"} */
export const kindOf = (position) => (position?.tribolo ? 'tribolo' : 'twenty48');

/**
 * Makes a board. Its show draws a position. It animates the event if it led from the previous
 * position to this one. With onCell, the player can choose cells of Tribolo with clicks and keys.
 * @param {"twenty48" | "tribolo"} kind
 * @param {(cell: {x: number, y: number}) => void} [onCell]
 */
export const createBoard = (kind, onCell) => ({
  kind,
  ...(kind === 'tribolo' ? tribolo(onCell) : twenty48()),
});

/** Makes the frame of a small board that others describe. @param {Board} board */
export const mini = (board) => h('div.board.mini', { 'aria-hidden': 'true' }, board.element);

/**
 * Makes an item for a list of games: a link with a small board, a name, and facts about the game.
 * @param {string} href @param {"twenty48" | "tribolo"} kind
 */
export function createRow(href, kind) {
  const board = createBoard(kind);
  const name = h('b');
  const about = h('small');
  const element = h('li', h('a.gamerow', { href }, mini(board), h('span', name, about)));
  return { element, board, name, about };
}

/** Sets a custom property. @param {any} element @param {string} name @param {number} value */
const set = (element, name, value) => element.style.setProperty(`--${name}`, value);

/** @returns {Board} */
function twenty48() {
  const element = h('div.b48', { role: 'img' });
  /** The tile of each cell. @type {any[]} */
  let cells = [];
  /** Tiles that have merged, below the resulting ones. @type {any[]} */
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
    const color = Math.min(Math.log2(value), 17);
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
   * Moves the tiles according to the event.
   * @param {number[]} next
   * @param {any} moved
   */
  function move(next, moved) {
    const before = cells.map((tile) => tile?.value || 0);
    const slid = moved.direction
      ? slide(before, rows, columns, moved.direction)
      : { tiles: before, moves: [] };
    const spawn = moved.spawned ? moved.spawned.index || 0 : -1;
    // If the board does not show the position before the event, show draws the new position
    // without animation.
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
