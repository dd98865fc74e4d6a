// The page on which one plays: a choice of variants, the start, and the game.

import { account, call, clearAccount } from './api.js';
import { createBoard, kindOf } from './board.js';
import { h, keys } from './dom.js';
import showGame from './game.js';
import { comma } from './game-state.js';
import { OwnSeat } from './own.js';
import { createGuest, draw, explain, persist } from './persist.js';

/** @import { Game, SeatRequest, Variant } from '../types' */

/**
 * @param {HTMLElement} root
 * @param {{id?: string}} data the variant, none for a choice
 */
export default async function show(root, { id }) {
  try {
    /** @type {Variant[]} */
    const variants = (await call('GameService', 'ListVariants', {}, { anonymous: true })).variants;
    const variant = variants.find((v) => v.id === id);
    const wanted = new URLSearchParams(location.search).get('game');
    if (!variant) choose(root, variants, await openGames());
    else if (wanted) await join(root, variant, wanted);
    else {
      const [game] = await openGames(variant.id);
      if (game) begin(root, variant, game);
      else offer(root, variant, 'Start', () => create(variant.id));
    }
  } catch (e) {
    fail(root, e);
  }
}

/**
 * Says what went wrong, and how to go on.
 * @param {HTMLElement} root
 * @param {any} e
 */
function fail(root, e) {
  const lost = e.reason === 'BAD_TOKEN';
  const onclick = () => {
    if (lost) clearAccount();
    location.reload();
  };
  root.replaceChildren(
    h('p', { class: 'bad', role: 'alert' }, explain(e)),
    h('p', {}, h('button', { class: 'primary', onclick }, lost ? 'Go on without it' : 'Try again')),
  );
}

/**
 * Lists the player's games that are being played.
 * @param {string} [variant]
 * @returns {Promise<Game[]>}
 */
async function openGames(variant) {
  if (!account()) return [];
  const request = { playerId: 'me', status: 'GAME_STATUS_ACTIVE', variant };
  return (await call('GameService', 'ListGames', request)).games ?? [];
}

/** The seat of the player in a game, -1 for none. @param {Game} g */
export const seatIn = (g) => g.seats.findIndex((s) => s.player && s.player.id === account()?.id);

/**
 * Offers the variants.
 * @param {HTMLElement} root
 * @param {Variant[]} variants
 * @param {Game[]} games
 */
function choose(root, variants, games) {
  const cards = variants.map((v) => {
    const game = games.find((g) => g.variant === v.id && seatIn(g) >= 0);
    const points = game && `Go on at ${comma(game.position.scores[seatIn(game)])} points`;
    return h(
      'li',
      {},
      h(
        'a',
        { class: 'card', href: `/play/${v.id}` },
        h('strong', {}, v.title),
        h('span', {}, v.summary),
        points && h('em', {}, points),
      ),
    );
  });
  root.replaceChildren(
    h('div', { class: 'stack' }, h('h1', null, 'Play'), h('ul', { class: 'choice' }, ...cards)),
  );
}

/**
 * Creates a game.
 * @param {string} variant
 * @param {{seats?: SeatRequest[], private?: boolean, turnLimit?: string}} [options]
 */
async function create(variant, options) {
  return (await persist('CreateGame', { variant, ...options, requestId: draw() })).game;
}

/** The next game: with the same seats in a game of several. @param {Game} g */
function next(g) {
  if (g.seats.length === 1) return create(g.variant);
  const me = account()?.id;
  const seats = g.seats.map((s) =>
    s.bot ? { bot: s.bot } : s.player?.id === me ? { caller: {} } : { open: {} },
  );
  return create(g.variant, { seats, private: g.private, turnLimit: g.turnLimit });
}

/**
 * Shows a board with one button, which opens a game. A player without an account gets one.
 * @param {HTMLElement} root
 * @param {Variant} variant
 * @param {string} text
 * @param {() => Promise<Game>} open
 */
function offer(root, variant, text, open) {
  const go = async () => {
    if (start.disabled) return;
    start.disabled = true;
    try {
      if (!account()) await createGuest();
      begin(root, variant, await open());
    } catch (e) {
      fail(root, e);
    }
  };
  const start = h('button', { class: 'primary large', onclick: go }, text);
  keys(['Enter', 'ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight'].map((key) => [key, '', go]));
  const { rows, columns } = variant;
  const position =
    variant.kind === 'KIND_TRIBOLO' ? { tribolo: {} } : { twenty48: { rows, columns } };
  const board = createBoard(kindOf(position));
  board.show(position);
  root.replaceChildren(
    h(
      'div',
      { class: 'game own' },
      h(
        'section',
        { class: 'head stack' },
        h('h1', null, variant.title),
        h('p', null, variant.summary),
      ),
      h('section', { class: 'play' }, h('div', { class: 'board offer' }, board.element, start)),
      h(
        'section',
        { class: 'side stack' },
        h('p', { class: 'dim' }, variant.rules),
        h('p', null, h('a', { href: '/play' }, 'Other variants')),
      ),
    ),
  );
}

/**
 * Takes a seat in a game that waits for players, or goes on in it.
 * @param {HTMLElement} root
 * @param {Variant} variant
 * @param {string} id
 */
async function join(root, variant, id) {
  /** @type {Game} */
  const game = (await call('GameService', 'GetGame', { gameId: id })).game;
  if (seatIn(game) >= 0) begin(root, variant, game);
  else if (!game.seats.some((s) => s.open)) location.replace(`/g/${id}`);
  else
    offer(
      root,
      variant,
      'Take a seat',
      async () => (await persist('JoinGame', { gameId: id })).game,
    );
}

/**
 * Plays a game, and those after it.
 * @param {HTMLElement} root
 * @param {Variant} variant
 * @param {Game} game
 */
function begin(root, variant, game) {
  const own = new OwnSeat(game, seatIn(game), async (over) => {
    own.page?.close();
    try {
      begin(root, variant, await next(over));
    } catch (e) {
      fail(root, e);
    }
  });
  root.replaceChildren();
  showGame(root, { id: game.id }, own);
}
