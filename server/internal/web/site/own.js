// The player's own seat on the page of a game: keys, swipes, buttons, and the result.

import { h, keys } from './dom.js';
import { comma, plural } from './game-state.js';
import { createMoves, same } from './moves.js';
import { ask, explain, persist } from './persist.js';
import { noteWaiting } from './places.js';
import { slide } from './twenty48.js';
import * as words from './words.js';

/** @import { Direction, Event, Game } from '../types' */
/** @import { Key } from './dom.js' */
/** @import { Request } from './moves.js' */
/** @typedef {ReturnType<typeof ownSeat>} OwnSeat */

/**
 * The differences between games that are played on the page. result.js implements it for most
 * games, and challenge.js for attempts at challenges.
 * @typedef {{
 *   attempt?: boolean,
 *   aim: () => (string | Node)[],
 *   best: (g: Game) => number,
 *   record?: () => number,
 *   deadline?: (g: Game) => number,
 *   link?: string,
 *   element?: HTMLElement,
 *   begin?: () => Promise<boolean>,
 *   changed?: (g: Game) => void,
 *   finish: (element: HTMLElement, g: Game, again: () => void) => void,
 * }} Kind aim is the label of best, record the player's best finished game, link is the link that the page copies, element is below
 *   the board, begin reports whether the player has a ranked result, and finish shows the result
 */

/**
 * The letter keys of each direction, in addition to its arrow key. The first are places, such as
 * ZQSD on French keyboards.
 */
const letters = { Up: 'wk', Down: 'sj', Left: 'ah', Right: 'dl' };

/**
 * @param {Game} first the current game
 * @param {number} seat the player's seat
 * @param {Kind} kind
 * @param {(over: Game) => void} [next] opens the next game
 */
export function ownSeat(first, seat, kind, next) {
  const { id, variant } = first;
  const { attempt } = kind;
  const { twenty48 } = first.position;
  const sliding = !!twenty48;
  /** The interface of the game page. @type {any} */
  let page = { state: { game: first, over: false } };
  /** A slide that is shown before the response. @type {Direction | undefined} */
  let shown;
  let gain = '';
  let reached = twenty48?.goalReached;
  let release = () => {};

  /** @returns {Game} */
  const game = () => page.state.game;
  const over = () => page.state.over;
  const moveCount = () => game().position.moveCount ?? 0;
  const score = () => game().position.scores[seat];
  /** Whether the player has given up; the others may still play. */
  const resigned = () => game().seats[seat].resigned;
  /** The bot that moves for the player after their time ran out. */
  const standIn = () => !over() && !resigned() && game().seats[seat].standIn;
  const mine = () => game().position.turn === seat && !standIn();
  const waits = () => game().status.endsWith('WAITING');
  /** Whether no other player has a seat or can take one, so that moves can be undone. */
  const alone = () => game().seats.every((s, i) => i === seat || s.bot);
  /** @param {Request} r */
  function legal({ direction, cell }) {
    const { twenty48, tribolo } = game().position;
    if (direction) return !!twenty48?.legalMoves?.includes(direction);
    return !!tribolo?.legalMoves?.some((m) => same(m.cell, cell));
  }

  const moves = createMoves({
    ahead: sliding ? 3 : 0,
    game,
    legal,
    // The slide is shown immediately; the new tile appears with the response.
    sent({ direction }) {
      const board = game().position.twenty48;
      if (!direction || !board) return;
      shown = direction;
      const { tiles } = slide(board.tiles, board.rows, board.columns, direction, variant);
      page.board.show({ twenty48: { ...board, tiles } }, { moved: { direction } });
    },
    update: (u) => page.update(u),
    refresh,
    refused(text) {
      shown = undefined;
      page.draw();
      say(over() ? '' : text);
    },
    delayed: say,
  });

  const note = h('p.dim', { role: 'status' });
  const undoing = h('button', { onclick: undo }, 'Undo');
  const resigning = h('button', { onclick: () => resign('Give up') }, 'Give up');
  const element = h(
    'div.stack',
    note,
    h('div.row', undoing, !attempt && h('button', { onclick: renew }, 'New game'), resigning),
    kind.element,
  );

  /** @param {string} text */
  function say(text) {
    note.textContent = text;
  }
  /** @param {Request} r */
  function move(r) {
    if (page.replay.at) page.replay.seek(Infinity);
    else if (standIn()) takeBack();
    else if (over())
      return; // The player still presses keys.
    else if (sliding) moves.push(r);
    else if (!mine()) say('It is not your turn.');
    else if (legal(r)) moves.push(r);
    else say("No jump there: it needs a line of one opponent's cells from there to yours.");
  }
  async function undo() {
    if (over()) return;
    const text = 'This makes the game unranked.';
    if (!game().ranked || !alone() || (await ask('Undo the last move?', text, 'Undo it')))
      moves.push({ undo: true });
  }
  /** Shows the current game from the server. */
  function refresh() {
    return persist('GetGame', { gameId: id }).then(page.update);
  }
  /** Takes the seat back from its stand-in. */
  function takeBack() {
    persist('JoinGame', { gameId: id, seat }).then(page.update, (e) => say(explain(e)));
  }
  async function renew() {
    if (!over() && !(await resign(moveCount() ? 'Give up and start a new game' : ''))) return;
    release();
    page.close();
    next?.(game());
    next = undefined; // A second press opens no other game.
  }
  /**
   * Gives up the game, and reports whether it did.
   * @param {string} yes the button that confirms, '' to skip the question
   */
  async function resign(yes) {
    const title = `Give up this ${attempt ? 'attempt' : 'game'}?`;
    if (yes && !resigned() && !(await ask(title, loss(), yes))) return false;
    try {
      page.update(await persist('Resign', { gameId: id, seat }));
    } catch (/** @type {any} */ e) {
      say(explain(e));
      return /GAME_OVER|GAME_NOT_STARTED|NOT_SEATED|GAME_NOT_FOUND|GAME_DAMAGED/.test(e.reason);
    }
    return true;
  }
  /** Describes what happens to the game if the player gives up. */
  function loss() {
    if (waits()) return 'If you created the game, it is canceled.';
    if (attempt) return words.kept(plural(score(), 'point'));
    if (!alone()) return 'The other players continue without you.';
    if (!sliding) return 'The bots stop playing, and your cells do not count.';
    return game().ranked ? `Its ${plural(score(), 'point')} count.` : 'It is not ranked.';
  }

  async function begin() {
    noteWaiting();
    const known = await kind.begin?.();
    if (known || moveCount() > 2) return;
    const goal = twenty48?.tiles[9] === undefined ? '' : ' Build a 2048.'; // It needs ten cells.
    if (waits()) return;
    say(
      sliding
        ? `Arrow keys or swipes slide all tiles. Equal tiles that meet merge.${goal}`
        : 'Go to a marked cell: the cells that you jump over become yours.',
    );
  }
  function finish() {
    element.closest('.own')?.classList.replace('own', 'done');
    if (page.replay.at) page.replay.seek(Infinity);
    // The player still presses keys; after that, they scroll the page. Other games begin again by keys.
    if (attempt) setTimeout(release, 1500);
    kind.finish(element, game(), renew);
  }

  return {
    ...kind,
    first,
    element,
    refresh,
    move,
    mine,
    best: () => kind.best(game()),
    deadline: () => kind.deadline?.(game()),
    gain: () => gain,
    /** Starts to play, once the page has its board. @param {any} p */
    open(p) {
      page = p;
      const { element: board } = p.board;
      const go = (/** @type {string} */ name) =>
        move({ direction: /** @type {Direction} */ (`DIRECTION_${name.toUpperCase()}`) });
      if (!attempt)
        keys([
          ['u', 'undo', undo],
          ['n', 'new game', renew],
        ]);
      if (sliding) {
        release = keys(
          Object.entries(letters).flatMap(([name, [a, b]]) => {
            const slide = () => go(name);
            return [
              [`Arrow${name}`, `slide; also ${a} ${b}`, slide],
              [a, '', slide],
              [`Key${a.toUpperCase()}`, '', slide],
              [b, '', slide],
            ];
          }),
        );
        swipes(board, go);
      } else {
        const steer = (/** @type {KeyboardEvent} */ e) => {
          board.focus();
          board.onkeydown(e);
        };
        keys([
          ...Object.keys(letters).map(
            (name) => /** @type {Key} */ ([`Arrow${name}`, 'move', steer]),
          ),
          ['.', 'next jump', steer],
          [',', '', steer],
          ['Enter', 'jump', steer],
        ]);
        board.focus();
      }
      changed();
      begin();
    },
    /** Returns the part of an event that is not shown yet. @param {Event} [e] */
    rest(e) {
      const before = shown;
      const moved = e?.moved;
      shown = undefined;
      gain = moved?.gained ? `+${comma(moved.gained)}` : '';
      if (!before) return e;
      return moved?.direction === before ? { moved: { spawned: moved.spawned } } : undefined;
    },
    changed,
  };

  /** Handles a change of the game, with its event if known. @param {Event} [e] */
  function changed(e) {
    const bot = standIn();
    undoing.hidden = !alone() || attempt;
    resigning.hidden = resigned();
    say(bot ? `Your time ran out: ${bot} moves for you. Any move takes your seat back.` : '');
    if (over()) finish();
    else if (!reached && game().position.twenty48?.goalReached) {
      reached = true;
      say('You can keep playing.');
    }
    kind.changed?.(game());
    moves.changed(e);
  }
}

/**
 * Calls go for each swipe on an element.
 * @param {HTMLElement} element
 * @param {(name: string) => void} go
 */
function swipes(element, go) {
  /** @type {PointerEvent|null} */
  let from = null;
  element.onpointerdown = (e) => {
    from = e.isPrimary ? e : null;
    element.setPointerCapture(e.pointerId);
  };
  element.onpointermove = (e) => {
    if (!from || e.pointerId !== from.pointerId) return;
    const x = e.clientX - from.clientX;
    const y = e.clientY - from.clientY;
    if (Math.max(Math.abs(x), Math.abs(y)) < 24) return;
    from = null;
    if (Math.abs(x) > Math.abs(y)) go(x > 0 ? 'Right' : 'Left');
    else go(y > 0 ? 'Down' : 'Up');
  };
}
