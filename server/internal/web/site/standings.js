// The standings of a challenge: the boards of all entrants of a race, or the first attempts at
// other challenges.
import { look, watch } from './api.js';
import { createRow } from './board.js';
import { ordinal } from './challenge-words.js';
import { facts, h } from './dom.js';
import { comma, plural, State } from './game-state.js';
import { names } from './names.js';
import { ranking, scoreLink } from './panel.js';

/** @import { Challenge, Entrant, Standing } from '../types' */
/**
 * @typedef {{challenge: Challenge, standings?: Standing[], total?: number, mine?: Standing}} News
 */

// Over HTTP/1.1, a browser opens at most six connections to a server. The other boards are
// therefore not streamed, but reread when the standings show that they have changed.
const streams = 2;
const pause = 150; // milliseconds between two reads of a board

/** Makes the table of a challenge's standings. */
export function createLines() {
  const element = h('div.stack');
  let shown = '';
  return {
    element,
    /** @param {News} news @param {boolean} readable whether the player may watch its games */
    show({ challenge, standings = [], total = 0, mine }, readable) {
      const closed = challenge.status.endsWith('CLOSED');
      const now = JSON.stringify([standings, total, mine, readable, closed]);
      if (now === shown) return;
      shown = now;
      const below = mine && !standings.some((s) => s.gameId === mine.gameId);
      const rows = below ? [...standings, mine] : standings;
      if (!rows.length) {
        const free = 'No results yet: the first place is free.';
        return element.replaceChildren(h('p.dim', closed ? 'Nobody has played it.' : free));
      }
      element.replaceChildren(
        ranking(rows, { Score: readable ? scoreLink : (s) => comma(s.score) }),
        ...(total > rows.length ? [h('p.dim', plural(total, 'result'))] : []),
      );
    },
  };
}

/**
 * Makes the list of a race's entrants with their boards, which are live once the race opens.
 * @param {{id?: string, game?: any}} own the player's game, which the page already shows
 */
export function createBoards(own) {
  const element = h('ol.wall');
  /** @type {Map<string, ReturnType<typeof row>>} */
  const rows = new Map();
  let live = false;
  let asking = false;

  /** @param {Entrant} entrant */
  function row(entrant) {
    const id = entrant.gameId;
    const state = new State();
    const { element: item, board, name, about } = createRow(`/g/${id}`, 'twenty48');
    name.append(...names([entrant]));
    board.show({});
    /** @type {Standing | undefined} */
    let standing;
    let streamed = false;
    /** @param {any} update */
    const take = (update) => {
      const changed = state.apply(update);
      if (changed) board.show(state.game.position, update.event);
      return changed !== undefined;
    };
    return {
      item,
      rank: () => standing?.rank || 99,
      /** Starts to show the board. The first boards are followed as streams. @param {number} i */
      begin(i) {
        streamed = i >= 0 && i < streams;
        const onError = () => {
          streamed = false; // The race may not be open yet for the server.
        };
        if (streamed) watch(`g/${id}`, { preview: !!own.id, onUpdate: take, onError });
      },
      /** Shows the player's own board. */
      reflect: () => board.show(own.game.position),
      /** @param {Standing} s */
      update(s) {
        standing = s;
        name.replaceChildren(...names([s])); // A player may take another name during the race.
        facts(
          about,
          (s.score || s.finished) && s.rank && ordinal(s.rank),
          plural(s.score || 0, 'point'),
          s.largestTile && `tile ${s.largestTile}`,
          s.finished && 'finished',
        );
      },
      stale: () =>
        // A game without moves is at version 1. No move of an attempt is undone.
        !streamed && own.id !== id && state.version <= (standing?.moveCount || 0),
      ask: async () => take(await look('GetGame', { gameId: id })),
    };
  }

  /** Rereads the boards that have changed, one after another. */
  async function ask() {
    if (asking) return;
    asking = true;
    const next = () => [...rows.values()].find((r) => r.stale());
    for (let r = next(); r; r = next()) {
      if (document.hidden || !(await r.ask().catch(() => false))) break;
      await new Promise((resume) => setTimeout(resume, pause));
    }
    asking = false;
  }

  return {
    element,
    /** @param {News} news */
    show({ challenge, standings = [] }) {
      // The page shows the player's finished game beside the list, and its place above.
      const entrants = (challenge.entrants || []).filter(
        (e) => !own.game?.result || e.gameId !== own.id,
      );
      for (const e of entrants) if (!rows.has(e.gameId)) rows.set(e.gameId, row(e));
      for (const id of rows.keys()) if (!entrants.some((e) => e.gameId === id)) rows.delete(id);
      for (const s of standings) rows.get(s.gameId)?.update(s);
      if (own.game) rows.get(own.id || '')?.reflect();
      const sorted = [...rows.values()].sort((a, b) => a.rank() - b.rank());
      const { children } = element;
      if (children.length !== sorted.length || sorted.some((r, i) => children[i] !== r.item))
        element.replaceChildren(...sorted.map((r) => r.item));
      if (!/OPEN|CLOSED/.test(challenge.status)) return;
      const others = entrants.filter((e) => e.gameId !== own.id);
      if (!live) for (const [id, r] of rows) r.begin(others.findIndex((e) => e.gameId === id));
      live = true;
      ask();
    },
  };
}
