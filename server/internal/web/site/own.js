// The player's own seat in a game that is shown: keys, swipes, buttons, and the result.

import { call } from './api.js';
import { copy, h, keys } from './dom.js';
import { comma, largestTile, plural } from './game-state.js';
import { Moves } from './moves.js';
import { ask, explain, persist } from './persist.js';
import { slide } from './twenty48.js';

/** @import { Direction, Event, Game, Window } from '../types' */
/** @import { Request } from './moves.js' */

/** @type {[Direction, string[]][]} */
const ARROWS = [
  ['DIRECTION_UP', ['ArrowUp', 'w', 'k']],
  ['DIRECTION_DOWN', ['ArrowDown', 's', 'j']],
  ['DIRECTION_LEFT', ['ArrowLeft', 'a', 'h']],
  ['DIRECTION_RIGHT', ['ArrowRight', 'd', 'l']],
];

/** @param {string} text @param {() => void} onclick @param {string} [style] */
const button = (text, onclick, style) => h('button', { onclick, class: style }, text);

/** OwnSeat is what the page of a game has for the player in one of its seats. */
export class OwnSeat {
  /** @type {Direction|undefined} A slide that is shown before its answer. */
  shown;
  /** What the page of the game offers, once it has a board. @type {any} */
  page = null;
  /** The best score of the account on the leaderboard, 0 for none. */
  record = 0;
  /** What the last move gained, such as "+8". */
  gain = '';

  /**
   * @param {Game} game
   * @param {number} seat
   * @param {(over: Game) => void} next opens the next game
   */
  constructor(game, seat, next) {
    this.first = game;
    this.seat = seat;
    this.next = next;
    this.moves = new Moves({
      ahead: game.position.twenty48 ? 3 : 0,
      game: () => this.game,
      legal: (r) => this.legal(r),
      sent: (r) => this.sent(r),
      update: (u) => this.page.update(u),
      refused: (text) => {
        this.shown = undefined;
        this.page.draw();
        this.say(this.over ? '' : text);
      },
      delayed: (text) => this.say(text),
    });
    this.note = h('p', { class: 'dim', role: 'status' });
    this.undoing = button('Undo', () => this.undo());
    this.element = h(
      'div',
      { class: 'stack' },
      this.note,
      h(
        'div',
        { class: 'row' },
        this.undoing,
        button('New game', () => this.renew()),
        button('Give up', () => this.resign(true, 'Give up')),
      ),
    );
  }

  /**
   * Begins to play, when the page has its board.
   * @param {any} page what show of game.js offers
   */
  open(page) {
    this.page = page;
    keys([
      ['u', 'undo', () => this.undo()],
      ['n', 'new game', () => this.renew()],
    ]);
    const { element } = page.board;
    const go = (/** @type {Direction} */ direction) => this.move({ direction });
    if (this.sliding) {
      this.release = keys(
        ARROWS.flatMap(([direction, names]) =>
          names.map((name, i) => [
            name,
            i ? '' : `slide; also ${names.slice(1).join(' ')}`,
            () => go(direction),
          ]),
        ),
      );
      swipes(element, go);
    } else element.focus();
    this.changed();
    this.lookUpBest();
  }

  /** @returns {Game} */
  get game() {
    return this.page?.state.game ?? this.first;
  }

  get over() {
    return this.game.status === 'GAME_STATUS_FINISHED';
  }

  get sliding() {
    return !!this.game.position.twenty48;
  }

  get score() {
    return this.game.position.scores[this.seat];
  }

  /** The bot that moves for the player, whose time ran out. */
  get standIn() {
    const { standIn, resigned } = this.game.seats[this.seat];
    return this.over || resigned ? '' : standIn;
  }

  get mine() {
    return this.game.position.turn === this.seat && !this.standIn;
  }

  /** Whether no other player has or may take a seat, so that moves can be taken back. */
  get alone() {
    return this.game.seats.every((s, i) => i === this.seat || s.bot);
  }

  get best() {
    return Math.max(this.record, this.game.ranked ? this.score : 0);
  }

  /** @param {string} text */
  say(text) {
    this.note.textContent = text;
  }

  /** @param {Request} r */
  move(r) {
    const { replay } = this.page;
    if (replay.at) replay.seek(Infinity);
    else if (this.standIn) this.takeBack();
    else if (this.over) return;
    else if (!this.sliding && !this.mine) this.say('It is not your turn.');
    else if (!this.sliding && !this.legal(r))
      this.say("No jump leads there: it needs a line of one opponent's cells from there to yours.");
    else this.moves.push(r);
  }

  /** @param {Request} r */
  legal({ direction, cell }) {
    const { twenty48, tribolo } = this.game.position;
    if (direction) return !!twenty48?.legalMoves?.includes(direction);
    return !!tribolo?.legalMoves?.some(
      (m) => (m.cell.x ?? 0) === cell?.x && (m.cell.y ?? 0) === cell?.y,
    );
  }

  /** Shows a slide at once; the new tile comes with the answer. @param {Request} r */
  sent({ direction }) {
    const board = this.game.position.twenty48;
    if (!direction || !board) return;
    this.shown = direction;
    const { tiles } = slide(board.tiles, board.rows, board.columns, direction, this.game.variant);
    this.page.board.show({ twenty48: { ...board, tiles } }, { moved: { direction } });
  }

  /** What is left to show of an event. @param {Event} [e] */
  rest(e) {
    const { shown } = this;
    this.gain = e?.moved?.gained ? `+${comma(e.moved.gained)}` : '';
    this.shown = undefined;
    if (!shown) return e;
    return e?.moved?.direction === shown ? { moved: { spawned: e.moved.spawned } } : undefined;
  }

  /** Follows a change of the game, by an event if that is known. @param {Event} [e] */
  changed(e) {
    this.undoing.hidden = !this.alone;
    this.say(
      this.standIn
        ? `Your time ran out: ${this.standIn} moves for you. Any move takes your seat back.`
        : '',
    );
    if (this.over) this.finish();
    this.moves.changed(e);
  }

  async lookUpBest() {
    const request = { variant: this.game.variant, playerId: 'me' };
    const rank = await call('LeaderboardService', 'GetRank', request).catch(() => null);
    this.record = rank?.entry.score ?? 0;
    this.page.draw();
    if (rank || (this.game.position.moveCount ?? 0) > 2) return;
    this.say(
      this.sliding
        ? 'Arrow keys or swipes slide all tiles. Two equal tiles that meet become one. Build a 2048.'
        : 'Go to a marked cell: the cells that you jump over become yours.',
    );
  }

  async undo() {
    if (this.over || !this.alone) return;
    const text = 'The game is then unranked.';
    if (this.game.ranked && !(await ask('Undo the last move?', text, 'Undo it'))) return;
    this.moves.push({ undo: true });
  }

  /** Takes the seat back from its stand-in. */
  takeBack() {
    persist('JoinGame', { gameId: this.game.id, seat: this.seat }).then(this.page.update, (e) =>
      this.say(explain(e)),
    );
  }

  /** Opens the next game, and gives this one up. */
  async renew() {
    if (this.over || (await this.resign(!!this.game.position.moveCount, 'Give up, new game')))
      this.next(this.game);
  }

  /** Gives the game up, and reports whether it did. @param {boolean} asking @param {string} yes */
  async resign(asking, yes) {
    if (asking && !(await ask('Give this game up?', this.loss(), yes))) return false;
    this.moves.waiting = [];
    try {
      this.page.update(await persist('Resign', { gameId: this.game.id, seat: this.seat }));
    } catch (/** @type {any} */ e) {
      if (/GAME_OVER|NOT_SEATED|GAME_NOT_FOUND|GAME_DAMAGED/.test(e.reason)) return true;
      this.say(explain(e));
      return false;
    }
    return true;
  }

  /** What becomes of the game if the player gives it up. */
  loss() {
    if (this.game.status === 'GAME_STATUS_WAITING') return 'It has not started.';
    if (!this.alone) return 'The others play on without you.';
    if (!this.sliding) return 'The bots do not play on.';
    if (!this.game.ranked) return 'It is not ranked.';
    return this.score ? `Its ${plural(this.score, 'point')} count.` : 'It has no points yet.';
  }

  /** Shows the result. */
  finish() {
    setTimeout(() => this.release?.(), 1500); // until then keys may still be meant as moves
    const { game, score } = this;
    const { result, position } = game;
    const won = result?.winners?.length === 1 && result.winners[0] === this.seat && !this.sliding;
    const points = plural(score, 'point');
    const tile = position.twenty48 ? `best tile ${comma(largestTile(position))}, ` : '';
    const facts = tile + plural(position.moveCount ?? 0, 'move');
    const ranks = h('p', { role: 'status' });
    const text = `${game.variant}: ${points}, ${facts}; ${location.origin}/g/${game.id}`;
    this.element.replaceChildren(
      h('h2', null, won ? `You win! ${points}` : points),
      h('p', null, facts),
      ranks,
      h(
        'div',
        { class: 'row' },
        h('button', { class: 'primary', onclick: () => this.next(game) }, 'Play again'),
        h('a', { class: 'button', href: `/g/${game.id}` }, 'Watch replay'),
        h('button', { onclick: () => copy(text) }, 'Copy result'),
      ),
    );
    this.element.closest('.own')?.classList.remove('own');
    this.element.className = 'stack card';
    this.element.scrollIntoView({ block: 'nearest' });
    if (game.ranked && score) this.rank(ranks, 1);
  }

  /**
   * Shows the ranks of the player. A result just made may not be on the boards yet.
   * @param {HTMLElement} line
   * @param {number} tries
   */
  async rank(line, tries) {
    const { variant, id } = this.game;
    const place = async (/** @type {[Window, string]} */ [window, name]) => {
      const [board, { entry }] = await Promise.all([
        call('LeaderboardService', 'ListScores', { variant, window, pageSize: 1 }),
        call('LeaderboardService', 'GetRank', { variant, window, playerId: 'me' }),
      ]);
      const best = entry.gameId === id ? '' : `best ${comma(entry.score)}: `;
      if (entry.score < this.score) throw Error('not yet');
      return `${best}#${comma(entry.rank)} of ${comma(Math.max(board.total, entry.rank))} ${name}`;
    };
    try {
      const windows = /** @type {[Window, string][]} */ ([
        ['WINDOW_DAY', 'today'],
        ['WINDOW_ALL_TIME', 'all time'],
      ]);
      line.textContent = (await Promise.all(windows.map(place))).join(', ');
    } catch {
      if (tries < 6) setTimeout(() => this.rank(line, tries + 1), 500 * 2 ** tries);
    }
  }
}

/**
 * Calls go for each swipe on an element.
 * @param {HTMLElement} element
 * @param {(direction: Direction) => void} go
 */
function swipes(element, go) {
  /** @type {PointerEvent|null} */
  let from = null;
  element.addEventListener('pointerdown', (e) => {
    from = e.isPrimary ? e : null;
    element.setPointerCapture(e.pointerId);
  });
  element.addEventListener('pointermove', (e) => {
    if (!from || e.pointerId !== from.pointerId) return;
    const x = e.clientX - from.clientX;
    const y = e.clientY - from.clientY;
    if (Math.max(Math.abs(x), Math.abs(y)) < 24) return;
    from = null;
    if (Math.abs(x) > Math.abs(y)) go(x > 0 ? 'DIRECTION_RIGHT' : 'DIRECTION_LEFT');
    else go(y > 0 ? 'DIRECTION_DOWN' : 'DIRECTION_UP');
  });
}
