// Reminders of the player's races on every other page of the tab, until their results were shown there.
import { attempt, isMine, watch } from './api.js';
import { announce, h, reminders } from './dom.js';
import { clock, sync, until } from './game-state.js';

/** @import { Challenge, WatchChallengeResponse } from '../types' */

const key = 'gridstand.race';
const most = 3; // races that a tab remembers, because each reminder has a stream
const shown = 6e4; // milliseconds for which a result is offered
const late = 3e5; // milliseconds after the end of a race until its result is no longer offered

/** Returns the ids of the races that the tab remembers. @returns {string[]} */
export const remembered = () =>
  attempt(() => sessionStorage.getItem(key)?.split(' ').filter(Boolean)) || [];

/** Forgets a race, or remembers it as the latest. @param {string} id @param {boolean} [keep] */
function mark(id, keep) {
  const ids = remembered().filter((other) => other !== id);
  if (keep) ids.push(id);
  attempt(() => sessionStorage.setItem(key, ids.slice(-most).join(' ')));
}

/** Remembers the player's race, or forgets it if it is closed or the player has left. @param {Challenge} c */
export const remember = (c) => mark(c.id, !c.status.endsWith('CLOSED') && c.entrants?.some(isMine));

/** Says what the race does. @param {Challenge} c */
function says({ status, startTime, closeTime }) {
  if (status.endsWith('CLOSED')) return ['Your race is over', 'see the result'];
  if (status.endsWith('OPEN')) return ['Your race is running', `${clock(closeTime || '')} left`];
  if (status.endsWith('SCHEDULED') || startTime)
    return ['Your race starts', startTime ? `in ${clock(startTime)}` : 'now'];
  return ['Your race waits for others', 'return'];
}

/** Shows links to the races that the tab remembers. */
export function remind() {
  for (const id of remembered()) if (location.pathname !== `/c/${id}`) remindOf(id);
}

/** Shows a link to a race. @param {string} id */
function remindOf(id) {
  const link = h('a.button.primary.reminder', { href: `/c/${id}`, hidden: true });
  reminders.append(link);
  /** @type {Challenge | undefined} */
  let race;
  let told = '';
  function draw() {
    link.hidden = !race;
    if (!race) return;
    const [what, when] = says(race);
    link.textContent = `${what}: ${when}`;
    if (what !== told) announce(what, 0);
    told = what;
  }
  function end() {
    mark(id);
    clearInterval(timer);
    link.remove();
    close();
  }
  const timer = setInterval(draw, 1000);
  const close = watch(`c/${id}`, {
    onUpdate(/** @type {WatchChallengeResponse} */ { challenge, now }) {
      sync(now);
      race = challenge;
      const over = race.status.endsWith('CLOSED');
      if (!race.entrants?.some(isMine) || (over && until(race.closeTime || '') < -late))
        return end();
      draw();
      if (!over) return;
      clearInterval(timer);
      close();
      setTimeout(() => {
        if (!document.hidden) return end();
        const seen = () => setTimeout(end, shown);
        document.addEventListener('visibilitychange', seen, { once: true });
      }, shown);
    },
    onError: end, // A race that never started is deleted.
  });
}
