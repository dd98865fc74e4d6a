// The page of a player: what they have achieved, and their active and finished games.
import { account, look } from './api.js';
import { dailyLink, h } from './dom.js';
import { failed } from './failed.js';
import { isOver } from './game-state.js';
import { names } from './names.js';
import { showProfile } from './profile.js';
import { gameRow } from './tv.js';

/** @import { Game, GetProfileResponse } from '../types' */

/** Says what a player without games can do. @param {boolean} own @param {string} name */
function empty(own, name) {
  const [href, text] = own && dailyLink ? ['/daily', 'Daily game'] : ['/race', 'Race somebody'];
  return h(
    'div.empty',
    h('p', own ? 'You have not played yet.' : `${name} has not played yet.`),
    h(
      'p.row',
      h('a.button.primary', { href: own ? '/play/classic' : '/' }, own ? 'Play' : 'Watch others'),
      h('a.button', { href }, text),
    ),
  );
}

/**
 * @param {HTMLElement} root
 * @param {{id?: string}} data the name of the player
 */
export default async function show(root, { id: name = '' }) {
  const page = h('div.stack', h('h1', name));
  root.append(page);
  try {
    /** @type {[GetProfileResponse, {games?: Game[]}]} */
    const [profile, { games = [] }] = await Promise.all([
      look('GetProfile', { name }),
      look('ListGames', { playerName: name, pageSize: 30 }),
    ]);
    const { player } = profile;
    page.firstChild.replaceChildren(...names([{ player }]));
    if (player.name !== name)
      history.replaceState(null, '', `/p/${encodeURIComponent(player.name)}`);
    const since = h('span', `Joined ${(player.createTime || '').slice(0, 10)}`);
    const parts = showProfile(profile);
    const own = player.id === account()?.id;
    page.append(
      h('p.row.dim', since, own && h('a', { href: '/account' }, 'Name and devices')),
      ...parts,
    );
    const now = games.filter((g) => !isOver(g));
    const rows = [...now, ...games.filter(isOver)].map((g) => gameRow(g, false).element);
    const title = now.length ? `Games, ${now.length} live` : 'Games';
    if (rows.length) page.append(h('h2', title), h('ul.wall.recent', rows));
    if (!games.length && !parts.length) page.append(empty(own, player.name));
  } catch (e) {
    failed(root, e);
  }
}
