// The page of a player, with their active and finished games.
import { look } from './api.js';
import { h } from './dom.js';
import { failed } from './failed.js';
import { isOver } from './game-state.js';
import { gameRow } from './tv.js';

/** @import { Game } from '../types' */

/**
 * @param {HTMLElement} root
 * @param {{id?: string}} data the name of the player
 */
export default async function show(root, { id: name = '' }) {
  const page = h('div.stack', h('h1', name));
  root.append(page);
  /** @param {string} title @param {Game[]} games */
  const list = (title, games) => {
    const rows = games.map((g) => gameRow(g).element);
    if (rows.length) page.append(h('h2', title), h('ul.games.wall.all', rows));
  };
  try {
    /** @type {[any, {games?: Game[]}]} */
    const [{ player }, { games = [] }] = await Promise.all([
      look('GetPlayer', { name }),
      look('ListGames', { playerName: name, pageSize: 30 }),
    ]);
    page.firstChild.textContent = player.name;
    if (player.name !== name)
      history.replaceState(null, '', `/p/${encodeURIComponent(player.name)}`);
    const who = player.bot ? "A program's account" : 'Account';
    page.append(h('p.dim', `${who} created on ${player.createTime.slice(0, 10)}`));
    list(
      'Playing',
      games.filter((g) => !isOver(g)),
    );
    list('Played', games.filter(isOver));
    if (!games.length) page.append(h('p', 'No games yet.'));
  } catch (e) {
    failed(root, e);
  }
}
