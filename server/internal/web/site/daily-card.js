// The card for the daily game on the start page.
import { call, look } from './api.js';
import { dayBefore, summary } from './challenge-words.js';
import { h } from './dom.js';
import { clock, isOver, sync } from './game-state.js';

/** @import { GetChallengeResponse } from '../types' */

/** Makes the card, which shows the daily game, if there is one, and the player's result. */
export function createDaily() {
  const text = h('small');
  const go = h('a.button.primary', { href: '/daily' });
  const element = h('div.card.row', { hidden: true }, h('span', h('b', 'Daily game'), text), go);
  const request = { daily: {} };
  async function load() {
    /** @type {GetChallengeResponse} */
    const got = await call('GetChallenge', request).catch(() => look('GetChallenge', request));
    const { challenge: c, attempt } = got;
    sync(got.now);
    const end = clock(c.closeTime || '');
    let said = `The same tiles for everyone, ${end} left`;
    if (attempt) {
      const asked = { challengeId: c.id, playerId: 'me' };
      const { standings, total } = await call('ListStandings', asked).catch(() => ({}));
      said = summary({ ...attempt, challenge: c, rank: standings?.[0].rank, total });
      said += isOver(attempt) ? ` · next in ${end}` : ` · ${end} left`;
    }
    text.textContent = said;
    go.textContent = !attempt ? 'Play' : isOver(attempt) ? 'Result' : 'Continue';
    const day = dayBefore(c);
    if (day) go.before(h('a', { href: `/daily?date=${day}` }, 'Yesterday'));
    element.hidden = false;
  }
  load().catch(() => {});
  return element;
}
