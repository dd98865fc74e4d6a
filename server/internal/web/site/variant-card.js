// Cards of variants, each with a drawn board.
import { createBoard, kindOf, mini } from './board.js';
import { h } from './dom.js';
import { plural } from './game-state.js';

/** @import { Game, Variant } from '../types' */

const largest = 2048; // on the board of a card

/** The owners on the board of Tribolo, with the middles of their cells. @type {[string, number, number][]} */
const camps = [
  ['BLUE', 3, 3],
  ['RED', 12, 4],
  ['GREEN', 7, 8],
];

/**
 * Returns the position that a card shows. Of 2048, the larger half of its cells filled in a snake, as good
 * players do.
 * @param {{kind?: string, rows: number, columns: number}} v
 * @param {number} turn cards with other numbers show it turned
 */
export function sample({ kind, rows, columns }, turn) {
  const count = rows * columns;
  if (kind === 'KIND_TRIBOLO') {
    const cells = Array.from({ length: count }, (_, i) => {
      const near = camps.find(
        ([, x, y]) => Math.hypot((i % columns) - x, ((i / columns) | 0) - y) < 3,
      );
      return `CELL_STATE_${near ? near[0] : 'EMPTY'}`;
    });
    return { tribolo: { cells } };
  }
  const first = Math.min(Math.log2(largest), (count >> 1) + 1);
  const tiles = Array.from({ length: count }, (_, i) => {
    const row = turn & 1 ? (i / columns) | 0 : rows - 1 - ((i / columns) | 0);
    const column = turn & 2 ? i % columns : columns - 1 - (i % columns);
    const place = row * columns + (row % 2 ? columns - 1 - column : column);
    return place < first ? 2 ** (first - place) : 0;
  });
  return { twenty48: { rows, columns, tiles } };
}

/**
 * Makes a card that leads to a variant, or to the player's game of it.
 * @param {Variant} v
 * @param {number} index the place of the card among others
 * @param {{game?: Game, points?: number, brief?: boolean}} [options] the player's active game with
 *   its points; brief leaves out the summary
 */
export function variantCard(v, index, { game, points = 0, brief } = {}) {
  const position = game?.position || sample(v, index);
  const board = createBoard(kindOf(position));
  board.show(position);
  return h(
    'a.card',
    { href: `/play/${v.id}` },
    mini(board),
    h('b.cut', v.id),
    !brief && h('span.dim', v.summary),
    game && h('em', `Continue at ${plural(points, 'point')}`),
  );
}
