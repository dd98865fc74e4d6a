// The panel beside the board of a game: the seats with their scores, and the moves.
import { account, isMine, look } from './api.js';
import { h } from './dom.js';
import { comma, happened, highest, keptEvents, largestTile } from './game-state.js';
import { link } from './names.js';
import { showSeats } from './tribolo-board.js';

/** @import { State } from './game-state.js' */
/** @import { Entry, Window } from '../types' */

/** Makes the score of an entry, with a link to its game. @param {any} entry */
export const scoreLink = ({ gameId, score }) => h('a', { href: `/g/${gameId}` }, comma(score));

/**
 * Makes the table of a leaderboard, or of a challenge's standings.
 * @param {any[]} entries
 * @param {Record<string, (entry: any) => any>} more makes what further columns show, by their headings
 */
export const ranking = (entries, more) =>
  h(
    'table',
    h(
      'thead',
      h(
        'tr',
        ['Rank', 'Player', ...Object.keys(more)].map((text) => h('th', { scope: 'col' }, text)),
      ),
    ),
    h(
      'tbody',
      entries.map((e) => {
        const cells = Object.values(more).map((cell) => cell(e));
        return h(
          'tr',
          { class: isMine(e) && 'me' },
          [e.rank ? comma(e.rank) : '–', link(e), ...cells].map((cell) => h('td', cell)),
        );
      }),
    ),
  );

/**
 * Returns a player's entry on a leaderboard and its neighbors, or nothing if the player has no score of
 * the variant: the browser would log the failed request.
 * @param {{playerId: string, variant: string, window?: Window, neighbors?: number}} of
 * @returns {Promise<{entry: Entry, neighbors?: Entry[]} | undefined>}
 */
export async function rankOf(of) {
  const { variants = [] } = await look('GetProfile', { playerId: of.playerId });
  const { bestScore } = variants.find((/** @type {any} */ v) => v.variant === of.variant) || {};
  return bestScore ? look('GetRank', of) : undefined;
}

/**
 * Makes the scores. Its show takes the seats and the position to show.
 * @param {import('./own.js').OwnSeat} [own] the seat of a player who plays on this page
 */
export function createScores(own) {
  const element = h('div.stack');
  /** The seats for which the rows were made. @type {any} */
  let seated;
  /** @type {(position: any) => void} */
  let fill;

  /** @param {any} seat */
  function solo(seat) {
    const names = ['score', 'tile', 'moves'];
    if (own) names.push('');
    const cells = names.map((name, i) =>
      h('div.card', h(i < 3 ? 'small' : 'small.cut', name), h('b')),
    );
    element.replaceChildren(
      own ? h('h1.mine', account()?.name) : h('h1', link(seat)),
      h('div.cards', ...cells),
    );
    return (/** @type {any} */ p) => {
      const values = [highest(p), largestTile(p), p.moveCount, own?.best()];
      cells.forEach((cell, i) => {
        cell.lastChild.textContent = values[i] < 0 ? '–' : comma(values[i]);
      });
      if (!own) return;
      cells[3].firstChild.replaceChildren(...own.aim());
      cells[0].firstChild.dataset.gain = own.gain();
    };
  }
  return {
    element,
    /** @param {any[]} seats @param {any} position */
    show(seats, position) {
      if (seated !== seats) fill = seats[1] ? showSeats(element, seats) : solo(seats[0]);
      seated = seats;
      fill(position);
    },
  };
}

/**
 * Makes the list of the last moves.
 * @param {State} state
 * @param {(version: number) => void} seek shows the version of a line
 */
export function createMoves(state, seek) {
  const element = h('ol.moves', { 'aria-label': 'Moves' });
  /** The version of the first line. */
  let newest = 0;
  /** @param {any} e */
  function line(e) {
    const gained = e.moved?.gained || e.moved?.taken?.length + 1;
    return h(
      'li',
      h(
        'button',
        { onclick: () => seek(e.version) },
        h('small', comma(e.position?.moveCount)),
        h('span', happened(state.game, e) || 'created'),
        h('small', gained ? `+${comma(gained)}` : ''),
      ),
    );
  }
  return {
    element,
    /** Lists the events up to a version. @param {any[]} events @param {number} version */
    show(events, version) {
      const first = events[0]?.version;
      const focused = [...element.children].findIndex(
        (line) => line.firstChild === document.activeElement,
      );
      const at = focused < 0 ? -1 : version - newest + focused; // where that line will be
      if (version !== newest + 1) element.replaceChildren();
      const from = element.firstChild ? version : Math.max(first, version - keptEvents);
      for (let v = from; v <= version; v++) {
        if (events[v - first]) element.prepend(line(events[v - first]));
      }
      while (element.childElementCount > keptEvents) element.lastChild.remove();
      newest = version;
      element.children[at]?.firstChild.focus({ preventScroll: true });
    },
  };
}
