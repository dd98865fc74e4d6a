// The results of the player's races against the others in a race.
import { account, call } from './api.js';
import { h } from './dom.js';

/** @import { Entrant, RaceRecord } from '../types' */

/** Makes a line with the results: "Races won: you 2, zoe 1". */
export function createRivals() {
  const element = h('p');
  /** @type {RaceRecord} */
  let races = {};
  /** @type {Entrant[]} */
  let entrants = [];

  function draw() {
    const here = (races.rivals || []).filter((r) =>
      entrants.some((e) => e.player?.id === r.player.id),
    );
    const texts = here.map((r) => `you ${r.won || 0}, ${r.player.name} ${r.lost || 0}`);
    element.textContent = texts[0] ? `Races won: ${texts.join('; ')}` : '';
  }
  /** Reads the results. Fails if they have not changed. */
  async function count() {
    if (!account()) return;
    const got = (await call('GetProfile', { playerId: 'me' })).races;
    if (!got || JSON.stringify(got) === JSON.stringify(races)) throw Error('not counted yet');
    races = got;
    draw();
  }
  return {
    element,
    count,
    /** @param {Entrant[]} [present] the entrants of the race */
    show(present = []) {
      entrants = present;
      draw();
    },
  };
}
