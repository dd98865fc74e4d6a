// The rules of 2048, as docs/verify.md describes them.

/** @import { Board, Direction, Draw, Slide, Twenty48Rules } from '../types' */

const classic = { side: 4, start: 2, startFours: 10, fours: 10 };

/** @type {Record<string, Twenty48Rules>} */
export const variants = {
  classic,
  '3x3': { ...classic, side: 3 },
  '5x5': { ...classic, side: 5 },
  '6x6': { ...classic, side: 6 },
  twos: { ...classic, start: 0, startFours: 0, fours: 0, ends: true, half: true },
  restless: { ...classic, startFours: 0, fours: 5, ends: true, lastTile: true, idle: true },
  vt100: { ...classic, startFours: 6, fours: 6, ends: true, lastTile: true },
};
export const seats = 1;

/** @type {Direction[]} */
const directions = ['DIRECTION_UP', 'DIRECTION_DOWN', 'DIRECTION_LEFT', 'DIRECTION_RIGHT'];

/** @type {Slide} */
export function slide(tiles, rows, columns, direction, variant = '') {
  const way = directions.indexOf(direction);
  const [lines, length] = way < 2 ? [columns, rows] : [rows, columns];
  const slid = tiles.map(() => 0);
  /** @type {ReturnType<Slide>['moves']} */
  const moves = [];
  let gained = 0;
  for (let line = 0; line < lines; line++) {
    const cell = (/** @type {number} */ i) => {
      const at = way % 2 ? length - 1 - i : i;
      return way < 2 ? at * columns + line : line * columns + at;
    };
    let filled = 0;
    let last = -1; // cell of the last tile if it can still merge
    for (let i = 0; i < length; i++) {
      const from = cell(i);
      if (!tiles[from]) continue;
      const merged = slid[last] === tiles[from];
      const to = merged ? last : cell(filled++);
      last = merged ? -1 : to;
      slid[to] += tiles[from];
      if (merged) gained += slid[to];
      moves.push({ from, to, merged });
    }
  }
  return { tiles: slid, gained: variants[variant]?.half ? gained / 2 : gained, moves };
}

/**
 * @param {number[]} tiles @param {number} rows @param {number} columns @param {string} [variant]
 */
function legalMoves(tiles, rows, columns, variant = '') {
  const idle = variants[variant]?.idle && tiles.includes(0);
  return directions.filter(
    (way) => idle || slide(tiles, rows, columns, way).moves.some(({ from, to }) => from !== to),
  );
}

/** @param {number[]} tiles @param {number} fours @param {Draw} draw */
function spawn(tiles, fours, draw) {
  const empty = [...tiles.keys()].filter((cell) => !tiles[cell]);
  const index = empty[Number(draw(empty.length))];
  tiles[index] = fours && draw(fours) === 0n ? 4 : 2;
  return { index, value: tiles[index] };
}

/** @param {string} variant @param {Draw} draw */
export function start(variant, draw) {
  const { side, start, startFours } = variants[variant];
  const tiles = Array(side * side).fill(0);
  for (let i = 0; i < start; i++) spawn(tiles, startFours, draw);
  if (!start) tiles[2 * side + 2] = 2;
  return board(variant, tiles, 0, 0);
}

/**
 * @param {string} variant @param {number[]} tiles @param {number} score @param {number} moveCount
 * @returns {Board}
 */
function board(variant, tiles, score, moveCount) {
  const { side, ends, lastTile, fours } = variants[variant];
  const legal = legalMoves(tiles, side, side, variant);
  const goalReached = Math.max(...tiles) >= 2048;
  /** @type {Board} */
  const self = {
    turn: 0,
    ended: goalReached && ends ? 'REASON_GOAL_REACHED' : legal[0] ? undefined : 'REASON_NO_MOVES',
    winners: () => (goalReached ? [0] : []),
    resign: () => self,
    position: (active) => ({
      moveCount,
      scores: [score],
      twenty48: { rows: side, columns: side, tiles, legalMoves: active ? legal : [], goalReached },
    }),
    move(_, { direction }, draw) {
      if (!direction || !legal.includes(direction)) return undefined;
      const { tiles: slid, gained } = slide(tiles, side, side, direction, variant);
      const last = ends && !lastTile && Math.max(...slid) >= 2048;
      const spawned = last ? undefined : spawn(slid, fours, draw);
      return {
        board: board(variant, slid, score + gained, moveCount + 1),
        moved: { direction, gained, spawned },
      };
    },
  };
  return self;
}
