// A player: the game that they play now, and those before.
import { call } from './api.js';
import { createBoard, kindOf } from './board.js';
import { h } from './dom.js';
import { ago, comma, ending, plural } from './game-state.js';
import { explain } from './persist.js';
import { row, table } from './top.js';

/** @import { Game } from '../types' */

/**
 * @param {HTMLElement} root
 * @param {{id?: string}} data the name of the player
 */
export default async function show(root, { id: name = '' }) {
  const page = h('div', { class: 'stack narrow' }, h('h1', null, name));
  root.append(page);
  try {
    const [{ player }, { games = [] }] = await Promise.all([
      call('PlayerService', 'GetPlayer', { name }, { anonymous: true }),
      call('GameService', 'ListGames', { playerName: name }, { anonymous: true }),
    ]);
    /** @param {Game} g */
    const score = (g) =>
      g.position.scores[
        Math.max(
          g.seats.findIndex((s) => s.player?.id === player.id),
          0,
        )
      ];
    const now = games.find((/** @type {Game} */ g) => g.status === 'GAME_STATUS_ACTIVE');
    const rows = games.map((/** @type {Game} */ g) =>
      row([
        h('a', { href: `/g/${g.id}` }, g.variant),
        comma(score(g)),
        state(g),
        ago(g.updateTime),
      ]),
    );
    page.firstChild.textContent = player.name;
    page.append(
      h(
        'p',
        { class: 'dim' },
        player.bot ? 'A program plays under this name, ' : 'Plays ',
        `since ${player.createTime.slice(0, 10)}`,
      ),
      now ? watching(now, score(now)) : '',
      rows.length
        ? table(['Game', 'Score', 'State', 'Last move'], rows)
        : h('p', null, 'No games yet.'),
    );
  } catch (e) {
    page.append(h('p', { class: 'bad', role: 'alert' }, explain(e)));
  }
}

/** @param {Game} g @param {number} score */
function watching(g, score) {
  const board = createBoard(kindOf(g.position));
  board.show(g.position);
  return h(
    'a',
    { class: 'now card', href: `/g/${g.id}` },
    h('div', { class: 'board' }, board.element),
    h(
      'div',
      null,
      h('strong', null, 'Watch now'),
      h('p', { class: 'dim' }, `${g.variant}, ${plural(score, 'point')}, ${ago(g.updateTime)}`),
    ),
  );
}

/** @param {Game} g */
function state(g) {
  if (g.status === 'GAME_STATUS_FINISHED') return ending(g);
  return g.status === 'GAME_STATUS_ACTIVE' ? 'playing' : 'waiting for players';
}
