// The page on which one plays: the variants, the start, and the game.

import { account, call, look, setAccount } from './api.js';
import { createBoard, kindOf } from './board.js';
import { h, keys } from './dom.js';
import showGame from './game.js';
import { plural, seatOf } from './game-state.js';
import { ownSeat } from './own.js';
import { createGuest, draw, explain, persist } from './persist.js';

/** @import { Game, SeatRequest, Variant } from '../types' */

/**
 * @param {HTMLElement} root
 * @param {{id?: string}} data the variant, empty for a choice
 */
export default async function show(root, { id }) {
  /** Shows what went wrong, and how to go on. @param {any} e */
  function fail(e) {
    const lost = e.reason === 'BAD_TOKEN';
    const again = () => {
      if (lost) setAccount(null);
      location.reload();
    };
    const button = h('button.primary', { onclick: again }, lost ? 'Go on without it' : 'Try again');
    root.replaceChildren(h('div.empty', h('p', { role: 'alert' }, explain(e)), button));
  }
  /** Plays a game, and those after it. @param {Game} game */
  function play(game) {
    root.replaceChildren();
    showGame(
      root,
      { id: game.id },
      ownSeat(game, seatIn(game), (over) => next(over).then(play, fail)),
    );
  }
  /**
   * Shows an empty board with a button that opens a game. A player without an account gets one.
   * @param {Variant} v
   * @param {string} text
   * @param {() => Promise<Game>} open
   */
  function offer({ kind, title, summary, rules, rows, columns }, text, open) {
    const go = () => {
      if (start.disabled) return;
      start.disabled = true;
      Promise.resolve(account() || createGuest())
        .then(open)
        .then(play)
        .catch(fail);
    };
    const start = h('button.primary.large', { onclick: go }, text);
    keys(['Enter', 'ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight'].map((key) => [key, '', go]));
    const position = kind === 'KIND_TRIBOLO' ? { tribolo: {} } : { twenty48: { rows, columns } };
    const board = createBoard(kindOf(position));
    board.show(position);
    root.replaceChildren(
      h(
        'div.game.own',
        h('section.stack', h('h1', title), h('p', summary)),
        h('section.play', h('div.board.offer', board.element, start)),
        h('section.stack', h('p.dim', rules), h('a', { href: '/play' }, 'Other variants')),
      ),
    );
  }

  try {
    /** @type {Variant[]} */
    const variants = (await look('ListVariants')).variants;
    const variant = variants.find((v) => v.id === id);
    const gameId = new URLSearchParams(location.search).get('game');
    if (!variant) return choose(root, variants, await openGames());
    if (!gameId) {
      const [game] = await openGames(variant.id);
      return game ? play(game) : offer(variant, 'Start', () => create({ variant: variant.id }));
    }
    /** @type {Game} */
    const game = (await call('GetGame', { gameId })).game;
    if (seatIn(game) >= 0) play(game);
    else if (game.seats.some((s) => s.open))
      offer(variant, 'Take a seat', async () => (await persist('JoinGame', { gameId })).game);
    else location.replace(`/g/${gameId}`);
  } catch (e) {
    fail(e);
  }
}

/** The seat of the player in a game, -1 for none. @param {Game} g */
const seatIn = (g) => seatOf(g, account()?.id);

/**
 * Lists the player's games that are being played.
 * @param {string} [variant]
 * @returns {Promise<Game[]>}
 */
async function openGames(variant) {
  if (!account()) return [];
  const request = { playerId: 'me', status: 'GAME_STATUS_ACTIVE', variant };
  const { games = [] } = await call('ListGames', request);
  return games.filter((/** @type {Game} */ g) => seatIn(g) >= 0);
}

/** @param {{variant: string, seats?: SeatRequest[], private?: boolean, turnLimit?: string}} request */
const create = async (request) =>
  (await persist('CreateGame', { ...request, requestId: draw() })).game;

/** Creates a game with the same seats as one before. @param {Game} g */
function next(g) {
  const { variant, turnLimit } = g;
  const seats = g.seats.map((s, i) =>
    s.bot ? { bot: s.bot } : i === seatIn(g) ? { caller: {} } : { open: {} },
  );
  return create({ variant, seats, turnLimit, private: g.private });
}

/**
 * Offers the variants.
 * @param {HTMLElement} root
 * @param {Variant[]} variants
 * @param {Game[]} games that are being played
 */
function choose(root, variants, games) {
  const cards = variants.map((v) => {
    const game = games.find((g) => g.variant === v.id);
    const points =
      game && h('em', `Go on at ${plural(game.position.scores[seatIn(game)], 'point')}`);
    return h('a.card', { href: `/play/${v.id}` }, h('b', v.title), h('span', v.summary), points);
  });
  root.replaceChildren(h('div.stack', h('h1', 'Play'), h('div.choice', cards)));
}
