// The result of a game that is not an attempt at a challenge, and its ranks.
import { account } from './api.js';
import { h, reveal, share, site } from './dom.js';
import { comma, largestTile, plural } from './game-state.js';
import { askName } from './naming.js';
import { rankOf } from './panel.js';
import { eventually, persist } from './persist.js';
import { rematch, showPlaces } from './places.js';

/** @import { Game, Window } from '../types' */

/** @type {[Window, string][]} */
const windows = [
  ['WINDOW_DAY', 'today'],
  ['WINDOW_ALL_TIME', 'all time'],
];

/**
 * What the page shows during and after such a game.
 * @param {Game} first the current game
 * @param {number} seat the player's seat
 * @returns {import('./own.js').Kind}
 */
export function createResult({ id, variant, position: { twenty48 } }, seat) {
  /** The player's best score on the leaderboard. */
  let record = 0;
  const note = h('div.dim', { role: 'status' });

  /** Shows the player's ranks. Fails if the leaderboards do not have the result yet. @param {number} score */
  async function rank(score) {
    const place = async (/** @type {[Window, string]} */ [window, name]) => {
      const [board, { entry, neighbors = [] }] = await Promise.all([
        persist('ListScores', { variant, window, pageSize: 1 }),
        persist('GetRank', { variant, window, playerId: 'me', neighbors: 1 }),
      ]);
      if (entry.score < score) throw Error('not there yet');
      const best = entry.gameId === id ? '' : `best ${comma(entry.score)}: `;
      const above = neighbors.find((e) => e.rank < entry.rank && e.score > entry.score);
      const next =
        above && ` (${plural(above.score - entry.score, 'point')} behind ${above.player.name})`;
      const total = comma(Math.max(board.total || 0, entry.rank));
      return `${best}#${comma(entry.rank)} of ${total} ${name}${next || ''}`;
    };
    const places = await Promise.all(windows.map(place));
    note.replaceChildren(...places.map((text) => h('p', text)));
  }

  return {
    aim: () => ['best'],
    record: () => record,
    best: ({ ranked, position }) => Math.max(record, ranked ? position.scores[seat] : 0),
    async begin() {
      const ranked = await rankOf({ variant, playerId: account()?.id || '' }).catch(() => null);
      record = ranked?.entry.score ?? 0;
      return !!ranked;
    },
    finish(element, { position, ranked }, again) {
      const score = position.scores[seat];
      const tile = twenty48 ? `best tile ${comma(largestTile(position))}, ` : '';
      const points = plural(score, 'point');
      const moves = plural(position.moveCount ?? 0, 'move');
      const href = `/g/${id}`;
      const text = `${variant}: ${points}, ${tile}${moves}; ${site}${href}`;
      const more = h(
        'div.row',
        h('button.primary', { onclick: again }, 'Play again'),
        h('button.plain', { onclick: () => share(text) }, 'Share'),
        h('a', { href }, 'Replay'),
        twenty48 && rematch(id, 'button.plain'),
      );
      const places = h('div.stack', { hidden: true });
      element.className = 'stack card';
      element.replaceChildren(h('h2', points), note, more, places);
      showPlaces(places, 2);
      reveal(element);
      if (ranked && score) eventually(() => rank(score));
      if (ranked && (largestTile(position) >= 512 || (record && score > record))) askName(element);
    },
  };
}
