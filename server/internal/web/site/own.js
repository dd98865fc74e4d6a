// The seat of a player who plays on the page of a game: keys, swipes, buttons, and the result.

import { call } from './api.js';
import { copy, h, keys } from './dom.js';
import { comma, largestTile, plural } from './game-state.js';
import { createMoves, same } from './moves.js';
import { ask, explain, persist } from './persist.js';
import { slide } from './twenty48.js';

/** @import { Direction, Event, Game, Window } from '../types' */
/** @import { Request } from './moves.js' */
/** @typedef {ReturnType<typeof ownSeat>} OwnSeat */

/** The letters of each direction, beside its arrow. */
const letters = { Up: 'wk', Down: 'sj', Left: 'ah', Right: 'dl' };
/** @type {[Window, string][]} */
const windows = [
  ['WINDOW_DAY', 'today'],
  ['WINDOW_ALL_TIME', 'all time'],
];
const keptKeys = 1500; // milliseconds after the end in which keys are still meant as moves

/**
 * @param {Game} first the game as it is
 * @param {number} seat the player's
 * @param {(over: Game) => void} next opens the next game
 */
export function ownSeat(first, seat, next) {
  const { id, variant } = first;
  const sliding = !!first.position.twenty48;
  /** What the page of the game offers. @type {any} */
  let page = { state: { game: first, over: false } };
  /** A slide that is shown before its answer. @type {Direction | undefined} */
  let shown;
  /** The player's best score on the leaderboard. */
  let record = 0;
  let gain = '';
  let reached = first.position.twenty48?.goalReached;
  let release = () => {};

  /** @returns {Game} */
  const game = () => page.state.game;
  const over = () => page.state.over;
  const moveCount = () => game().position.moveCount ?? 0;
  const score = () => game().position.scores[seat];
  /** The bot that moves for the player, whose time ran out. */
  const standIn = () => !over() && !game().seats[seat].resigned && game().seats[seat].standIn;
  const mine = () => game().position.turn === seat && !standIn();
  /** Whether no other player has or may take a seat, so that moves can be taken back. */
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
    // The slide is shown at once; the new tile comes with the answer.
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
  const element = h(
    'div.stack',
    note,
    h(
      'div.row',
      undoing,
      h('button', { onclick: renew }, 'New game'),
      h('button', { onclick: () => resign('Give up') }, 'Give up'),
    ),
  );

  /** @param {string} text */
  function say(text) {
    note.textContent = text;
  }
  /** @param {Request} r */
  function move(r) {
    if (page.replay.at) page.replay.seek(Infinity);
    else if (standIn()) takeBack();
    else if (over()) return;
    else if (sliding) moves.push(r);
    else if (!mine()) say('It is not your turn.');
    else if (legal(r)) moves.push(r);
    else say("No jump leads there: it needs a line of one opponent's cells from there to yours.");
  }
  async function undo() {
    if (over() || !alone()) return;
    const text = 'The game is then unranked.';
    if (!game().ranked || (await ask('Undo the last move?', text, 'Undo it')))
      moves.push({ undo: true });
  }
  /** Shows the game as the server has it. */
  function refresh() {
    return persist('GetGame', { gameId: id }).then(page.update);
  }
  /** Takes the seat back from its stand-in. */
  function takeBack() {
    persist('JoinGame', { gameId: id, seat }).then(page.update, (e) => say(explain(e)));
  }
  async function renew() {
    if (!over() && !(await resign(moveCount() ? 'Give up, new game' : ''))) return;
    page.close();
    next(game());
  }
  /** Gives the game up, and reports whether it did. @param {string} yes the answer to a question, '' to ask none */
  async function resign(yes) {
    if (yes && !(await ask('Give this game up?', loss(), yes))) return false;
    try {
      page.update(await persist('Resign', { gameId: id, seat }));
    } catch (/** @type {any} */ e) {
      say(explain(e));
      return /GAME_OVER|NOT_SEATED|GAME_NOT_FOUND|GAME_DAMAGED/.test(e.reason);
    }
    return true;
  }
  /** What becomes of the game if the player gives it up. */
  function loss() {
    if (!alone()) return 'The others play on without you.';
    if (!sliding) return 'The bots do not play on.';
    return game().ranked ? `Its ${plural(score(), 'point')} count.` : 'It is not ranked.';
  }

  function finish() {
    setTimeout(release, keptKeys);
    const { position, ranked, result } = game();
    const tile = sliding ? `best tile ${comma(largestTile(position))}, ` : '';
    const points = plural(score(), 'point');
    const facts = tile + plural(moveCount(), 'move');
    const link = `/g/${id}`;
    const share = () => copy(`${variant}: ${points}, ${facts}; ${location.origin}${link}`);
    const won = !sliding && `${result?.winners}` === `${seat}`;
    element.closest('.own')?.classList.remove('own');
    element.className = 'stack card';
    element.replaceChildren(
      h('h2', won ? `You win! ${points}` : points),
      h('p', facts),
      note,
      h(
        'div.row',
        h('button.primary', { onclick: renew }, 'Play again'),
        h('a.button', { href: link }, 'Watch replay'),
        h('button', { onclick: share }, 'Copy result'),
      ),
    );
    element.scrollIntoView({ block: 'nearest' });
    if (ranked && score()) rank(1);
  }
  /** Shows the player's ranks. A result just made may not be on the boards yet. @param {number} tries */
  async function rank(tries) {
    const place = async (/** @type {[Window, string]} */ [window, name]) => {
      const [board, { entry }] = await Promise.all([
        call('ListScores', { variant, window, pageSize: 1 }),
        call('GetRank', { variant, window, playerId: 'me' }),
      ]);
      if (entry.score < score()) throw Error('not there yet');
      const best = entry.gameId === id ? '' : `best ${comma(entry.score)}: `;
      return `${best}#${comma(entry.rank)} of ${comma(Math.max(board.total, entry.rank))} ${name}`;
    };
    try {
      say((await Promise.all(windows.map(place))).join(', '));
    } catch {
      if (tries < 6) setTimeout(rank, 500 * 2 ** tries, tries + 1);
    }
  }

  async function begin() {
    const request = { variant, playerId: 'me' };
    const ranked = await call('GetRank', request).catch(() => null);
    record = ranked?.entry.score ?? 0;
    page.draw();
    if (ranked || moveCount() > 2) return;
    say(
      sliding
        ? 'Arrow keys or swipes slide all tiles. Two equal tiles that meet become one. Build a 2048.'
        : 'Go to a marked cell: the cells that you jump over become yours.',
    );
  }

  return {
    first,
    element,
    refresh,
    move,
    mine,
    best: () => Math.max(record, game().ranked ? score() : 0),
    gain: () => gain,
    /** Begins to play on a page that has its board. @param {any} p */
    open(p) {
      page = p;
      const { element: board } = p.board;
      const go = (/** @type {string} */ name) =>
        move({ direction: /** @type {Direction} */ (`DIRECTION_${name.toUpperCase()}`) });
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
              [b, '', slide],
            ];
          }),
        );
        swipes(board, go);
      } else board.focus();
      changed();
      begin();
    },
    /** Returns what is left to show of an event. @param {Event} [e] */
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

  /** Follows a change of the game, by an event if that is known. @param {Event} [e] */
  function changed(e) {
    const bot = standIn();
    undoing.hidden = !alone();
    say(bot ? `Your time ran out: ${bot} moves for you. Any move takes your seat back.` : '');
    if (over()) finish();
    else if (!reached && game().position.twenty48?.goalReached) {
      reached = true;
      say('2048! Play on.');
    }
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
