// The rules of Tribolo, as docs/verify.md describes them. Cells are numbered row by row.

/** @import { Board, CellState, Draw } from '../types' */

export const columns = 16;
export const rows = 11;
export const seats = 3;
export const variants = { tribolo: {} };

/** @type {CellState[]} The cell state of each seat. */
export const owners = ['CELL_STATE_BLUE', 'CELL_STATE_RED', 'CELL_STATE_GREEN'];

/** Returns the coordinates of a cell. @param {number} cell */
export const named = (cell) => ({ x: cell % columns, y: Math.floor(cell / columns) });

const ways = [-1, 0, 1].flatMap((dx) => [-1, 0, 1].map((dy) => ({ dx, dy })));

/** The lines of cells that lead away from each cell. */
const lines = Array.from({ length: rows * columns }, (_, cell) =>
  ways.map(({ dx, dy }) => {
    const line = [];
    let { x, y } = named(cell);
    while (dx || dy) {
      x += dx;
      y += dy;
      if (x < 0 || x >= columns || y < 0 || y >= rows) break;
      line.push(y * columns + x);
    }
    return line;
  }),
);

/**
 * Returns the cells that a seat jumps over in a move to a cell. It is empty if the move is
 * illegal.
 * @param {CellState[]} cells @param {number} seat @param {number} to
 */
function jumps(cells, seat, to) {
  /** @type {number[]} */
  const taken = [];
  if (cells[to] !== 'CELL_STATE_EMPTY') return taken;
  for (const line of lines[to]) {
    const over = cells[line[0]];
    if (over === owners[seat] || !owners.includes(over)) continue;
    const end = line.findIndex((cell) => cells[cell] !== over);
    if (cells[line[end]] === owners[seat]) taken.push(...line.slice(0, end));
  }
  return taken;
}

/** @param {string} _ @param {Draw} draw */
export function start(_, draw) {
  /** @type {CellState[]} */
  const cells = Array(rows * columns).fill('CELL_STATE_EMPTY');
  const all = cells.map((_, i) => (i % rows) * columns + Math.floor(i / rows)); // x outermost
  for (let i = 0; i < 48; i++) {
    const j = i + Number(draw(all.length - i));
    [all[i], all[j]] = [all[j], all[i]];
    cells[all[i]] = owners[Math.floor(i / 12)] ?? 'CELL_STATE_WALL';
  }
  return board(cells, Number(draw(3)) + 2, [], 0);
}

/**
 * Returns the board after a move by mover.
 * @param {CellState[]} cells @param {number} mover @param {number[]} resigned
 * @param {number} moveCount @returns {Board}
 */
function board(cells, mover, resigned, moveCount) {
  const able = [1, 2, 3].map((i) => (mover + i) % 3).filter((seat) => !resigned.includes(seat));
  /** @type {Map<number, number[]>} The cells that each legal move takes. */
  const legal = new Map();
  const turn = able.find((seat) => {
    cells.forEach((_, to) => {
      const taken = jumps(cells, seat, to);
      if (taken.length) legal.set(to, taken);
    });
    return legal.size;
  });
  const scores = owners.map((owner) => cells.filter((cell) => cell === owner).length);
  return {
    turn,
    ended: turn === undefined ? 'REASON_NO_MOVES' : undefined,
    winners(reason) {
      if (reason === 'REASON_ABANDONED') return [];
      const most = Math.max(...able.map((seat) => scores[seat]));
      return able.filter((seat) => scores[seat] === most);
    },
    resign(seat) {
      // board determines whose turn follows the mover's. To keep the turn with another
      // seat, pass the seat before that one as the mover.
      const before = turn === undefined || turn === seat ? seat : turn + 2;
      return board(cells, before, [...resigned, seat], moveCount);
    },
    position: (active) => ({
      moveCount,
      scores,
      tribolo: {
        rows,
        columns,
        cells,
        legalMoves: [...(active ? legal : [])].map(([to, taken]) => ({
          cell: named(to),
          taken: taken.map(named),
        })),
      },
    }),
    move(seat, { cell }) {
      const to = (cell?.y ?? 0) * columns + (cell?.x ?? 0);
      const taken = cell && legal.get(to);
      if (!taken) return undefined;
      const next = cells.map((owner, at) =>
        at === to || taken.includes(at) ? owners[seat] : owner,
      );
      return {
        board: board(next, seat, resigned, moveCount + 1),
        moved: { cell: named(to), taken: taken.map(named) },
      };
    },
  };
}
