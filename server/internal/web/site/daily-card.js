// The card for the daily game on the start page.
import { account, call, look } from './api.js';
import { dayBefore, summary } from './challenge-words.js';
import { ownStanding, placeOn, streakNow } from './daily-more.js';
import { facts, h } from './dom.js';
import { clock, isOver, plural, sync, until } from './game-state.js';

/** @import { GetChallengeResponse } from '../types' */

/** Makes the card, which shows the daily game, if there is one, and the player's result. */
export function createDaily() {
  const about = h('small');
  const time = h('span');
  const go = h('a.button', { href: '/daily' });
  const what = h('span', h('b', 'Daily game'), about);
  const element = h('div.card.row', { hidden: true }, what, go);
  const request = { daily: {} };
  let close = ''; // when the daily game closes
  let again = 0; // when the card may be loaded again
  let draw = () => {};
  async function load() {
    /** @type {GetChallengeResponse} */
    const got = await call('GetChallenge', request).catch(() => look('GetChallenge', request));
    const { challenge: c, attempt } = got;
    sync(got.now);
    let said = 'The same tiles for everyone';
    const over = attempt && isOver(attempt);
    if (attempt) {
      const { standings, total } = over ? await ownStanding(c.id).catch(() => ({})) : {};
      // The streak below is that of all daily games.
      said = summary({ ...attempt, challenge: c, dayStreak: 0, rank: standings?.[0].rank, total });
    }
    let run = '';
    draw = () => {
      const left = clock(c.closeTime || '');
      time.textContent = (over ? `next in ${left}` : `${left} left`) + run;
    };
    draw();
    close = c.closeTime || '';
    go.textContent = over ? 'Result' : attempt ? 'Continue' : 'Play';
    const day = dayBefore(c);
    const yesterday = day && h('a', { href: `/daily?date=${day}` }, 'Yesterday');
    const others = (got.dailyVariants || []).filter((v) => v !== c.variant);
    const links = others.map((v) => h('a', { href: `/daily/${v}` }, `Daily ${v}`));
    facts(about, said, time, yesterday, ...links);
    element.hidden = false;
    if (!account()) return;
    const days = await streakNow();
    if (days > (over ? 1 : 0)) run = `, ${plural(days, 'day')} in a row`;
    draw();
    if (day) yesterday.textContent += ` ${await placeOn(c.variant, day)}`;
  }
  const loaded = load().catch(() => {});
  setInterval(() => {
    if (document.hidden) return;
    draw();
    if (!(until(close) < 0) || until(again) > 0) return;
    again = 15e3 - until(0);
    load().catch(() => {});
  }, 1000);
  return { element, loaded };
}
