// The board of Tribolo, and the scores of its seats.
import { isMine } from './api.js';
import { announce, h, svg } from './dom.js';
import { cellName, comma, highest, owners, plural } from './game-state.js';
import { link, names } from './names.js';
import { columns, named, rows } from './tribolo.js';

/** @import { Board } from './board.js' */

/**
 * @param {(cell: {x: number, y: number}) => void} [onCell]
 * @returns {Board}
 */
export function tribolo(onCell) {
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
    const { x, y } = named(i);
    rects.push(svg('rect', { x: 10 * x + 0.5, y: 10 * y + 0.5, width: 9, height: 9, rx: 1.8 }));
    letters.push(label(10 * x + 5, 10 * y + 6.8, '', 'letter'));
  }
  element.append(...rects, ...letters);

  /** Returns the index of a cell. @param {{x?: number, y?: number}} c */
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
      if (i >= 0) onCell(named(i));
    };
    element.onpointermove = (/** @type {any} */ e) => {
      if (e.pointerType === 'mouse') point(rects.indexOf(e.target));
    };
    element.onpointerleave = () => point(-1);
    element.onclick = (/** @type {any} */ e) => choose(rects.indexOf(e.target));
    element.onkeydown = (/** @type {KeyboardEvent} */ e) => {
      const known = [...legal.keys()].sort((a, b) => a - b);
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[
        e.key
      ];
      if (!step && !['Enter', ' ', '.', ','].includes(e.key)) return;
      e.preventDefault();
      e.stopPropagation();
      if (e.key === 'Enter' || e.key === ' ') return choose(cursor);
      // The first key goes to a target. After that, "." and "," go to the next and the previous one.
      let to = known.find((i) => i > cursor) ?? known[0] ?? at({ x: 7, y: 5 });
      if (e.key === ',') to = known.findLast((i) => i < cursor) ?? known[known.length - 1] ?? to;
      if (step && cursor >= 0) {
        const { x, y } = named(cursor);
        to = at({ x: (x + step[0] + columns) % columns, y: (y + step[1] + rows) % rows });
      }
      point(to);
      const takes = legal.get(cursor);
      announce(
        `${cellName(named(to))} ${takes ? `takes ${plural(takes.length, 'cell')}` : letters[cursor].textContent}`,
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
      /** @type {any[]} */
      const moves = (options.legal && board.legalMoves) || [];
      legal = new Map(moves.map((m) => [at(m.cell || {}), m.taken || []]));
      rects.forEach((rect, i) => {
        const state = (board.cells?.[i] || 'CELL_STATE_EMPTY').slice(11);
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

/**
 * Fills an element with the scores of several seats, and returns a function that shows a position.
 * @param {any} element @param {any[]} seats
 */
export function showSeats(element, seats) {
  const rows = seats.map((seat, i) =>
    h(
      'div.seat',
      h(`span.badge.owner-${i}`, 'BRG'[i]),
      h(
        'span',
        link(seat),
        isMine(seat) && ' (you)',
        seat.resigned ? ', gave up' : seat.standIn && `, ${seat.standIn} stands in`,
      ),
      h('b'),
      h(`i.owner-${i}`),
    ),
  );
  element.replaceChildren(h('h1.hidden', names(seats)), ...rows);
  return (/** @type {any} */ p) =>
    rows.forEach((row, i) => {
      const score = p.scores?.[i] || 0;
      row.classList.toggle('turn', p.turn === i);
      row.children[2].textContent = comma(score);
      row.lastChild.style.width = `${(100 * score) / (highest(p) || 1)}%`;
    });
}
