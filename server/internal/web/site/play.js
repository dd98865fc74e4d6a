// The page for playing: the variants, the start, and the game.

import { account, call, isMine, look } from './api.js';
import { createBoard, kindOf } from './board.js';
import { h, keys, reveal } from './dom.js';
import { failed } from './failed.js';
import showGame from './game-view.js';
import { names } from './names.js';
import { ownSeat } from './own.js';
import { draw, persist, signIn } from './persist.js';
import { seatLink, showPlaces } from './places.js';
import { createResult } from './result.js';
import { createTable, createWaiting } from './table.js';
import { variantCard } from './variant-card.js';

/** @import { Game, SeatRequest, Variant } from '../types' */

/**
 * @param {HTMLElement} root
 * @param {{id?: string}} data the variant, or empty to let the user choose one
 */
export default async function show(root, { id }) {
  const fail = (/** @type {any} */ e) => failed(root, e);
  /** Plays a game and the games after it. @param {Game} game */
  async function play(game) {
    const seat = seatIn(game);
    const kind = createResult(game, seat);
    // Friends get the address: it leads to this game, in which they take a seat or watch.
    history.replaceState(null, '', seatLink(game));
    if (game.status.endsWith('WAITING')) {
      const { element, show: changed } = createWaiting();
      Object.assign(kind, { element, changed, link: seatLink(game) });
    }
    root.replaceChildren();
    showGame(
      root,
      { id: game.id },
      ownSeat(game, seat, kind, (over) => next(over).then(play).catch(fail)),
    );
  }
  /**
   * Shows an empty board with a button that opens a game. A player without an account gets one.
   * @param {Variant} v
   * @param {string} text
   * @param {() => Promise<Game>} open
   * @param {HTMLElement} [seats] who has the other seats, or fields for it
   */
  function offer({ id, kind, summary, rules, rows, columns }, text, open, seats) {
    const go = () => {
      if (start.disabled) return;
      start.disabled = true;
      signIn().then(open).then(play).catch(fail);
    };
    const start = h('button.primary.large', { onclick: go }, text);
    keys(['Enter', 'ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight'].map((key) => [key, '', go]));
    const empty = kind === 'KIND_TRIBOLO' ? { tribolo: {} } : { twenty48: { rows, columns } };
    const board = createBoard(kindOf(empty));
    board.show(empty);
    const own = h('a', { href: '/account' }, 'Choose a name');
    const guest = h('p.dim', 'You play as a guest. ', own);
    root.replaceChildren(
      h(
        'div.game.own',
        h('section.stack', h('h1', id), h('p', summary), !account() && guest),
        h('section.play', h('div.board.offer', board.element, start)),
        h('section.stack', seats, h('p.dim', rules), h('a', { href: '/play' }, 'Other variants')),
      ),
    );
    reveal(board.element);
  }

  try {
    /** @type {Variant[]} */
    const variants = (await look('ListVariants')).variants;
    const variant = variants.find((v) => v.id === id);
    const gameId = new URLSearchParams(location.search).get('game');
    if (!variant) return choose(root, variants, await openGames(), id);
    if (!gameId) {
      const [game] = await openGames(variant.id);
      if (game) return await play(game);
      const table = variant.seats > 1 ? createTable(variant) : undefined;
      const request = () => ({ variant: variant.id, ...table?.request() });
      return offer(variant, 'Start', () => create(request()), table?.element);
    }
    /** @type {Game} */
    const game = (await call('GetGame', { gameId })).game;
    if (game.challengeId) location.replace(`/c/${game.challengeId}`);
    else if (seatIn(game) >= 0) await play(game);
    else if (game.seats.some((s) => s.open))
      offer(
        variant,
        'Take a seat',
        async () => (await persist('JoinGame', { gameId })).game,
        h('p', 'Here: ', names(game.seats.filter((s) => !s.open))),
      );
    else location.replace(`/g/${gameId}`);
  } catch (e) {
    fail(e);
  }
}

/** Returns the player's seat in a game, or -1. @param {Game} g */
const seatIn = (g) => g.seats.findIndex(isMine);

/**
 * Returns the player's games that are not over, except attempts at challenges.
 * @param {string} [variant]
 * @returns {Promise<Game[]>}
 */
async function openGames(variant) {
  if (!account()) return [];
  const lists = ['ACTIVE', 'WAITING'].map((status) =>
    call('ListGames', { playerId: 'me', status: `GAME_STATUS_${status}`, variant }),
  );
  /** @type {Game[]} */
  const games = (await Promise.all(lists)).flatMap((list) => list.games || []);
  return games.filter((g) => seatIn(g) >= 0 && !g.challengeId);
}

/**
 * @param {{variant: string, seats?: SeatRequest[], private?: boolean, turnLimit?: string}} request
 */
const create = async (request) =>
  (await persist('CreateGame', { ...request, requestId: draw() })).game;

/**
 * Opens a game with the same seats as the previous one, or takes a seat in the one that another of its
 * players has opened already.
 * @param {Game} g
 */
async function next(g) {
  const { variant, turnLimit } = g;
  const others = g.seats.flatMap((s) => (s.player && !isMine(s) ? s.player.id : []));
  if (others[0]) {
    const { games = [] } = await persist(
      'ListGames',
      { status: 'GAME_STATUS_WAITING', variant },
      { anonymous: true },
    );
    const open = games.find((/** @type {Game} */ { seats }) =>
      seats.some(({ player }) => player && others.includes(player.id)),
    );
    const joined = open && (await persist('JoinGame', { gameId: open.id }).catch(() => null));
    if (joined) return joined.game;
  }
  const seats = g.seats.map((s, i) =>
    s.bot ? { bot: s.bot } : i === seatIn(g) ? { caller: {} } : { open: {} },
  );
  return create({ variant, seats, turnLimit, private: g.private });
}

/**
 * Shows the variants to choose from.
 * @param {HTMLElement} root
 * @param {Variant[]} variants
 * @param {Game[]} games the player's games that are not over
 * @param {string} [unknown] what the address names in place of a variant
 */
function choose(root, variants, games, unknown) {
  const cards = variants.map((v, i) => {
    const game = games.find((g) => g.variant === v.id);
    return variantCard(v, i, { game, points: game?.position.scores[seatIn(game)] });
  });
  const places = h('div.stack', { hidden: true });
  const heading = unknown ? `There is no variant ${unknown}.` : 'Play';
  root.replaceChildren(h('div.stack', h('h1', heading), h('div.choice', cards), places));
  showPlaces(places, 6);
}
