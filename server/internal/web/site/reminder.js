// The reminder of the player's race on every other page of the tab, until its result was shown there.
import { attempt, isMine, raceKey, watch } from './api.js';
import { announce, h } from './dom.js';
import { clock, sync } from './game-state.js';

/** @import { Challenge, WatchChallengeResponse } from '../types' */

/** Remembers the player's race, or forgets it if it is closed or the player has left. @param {Challenge} c */
export function remember(c) {
  const current = !c.status.endsWith('CLOSED') && c.entrants?.some(isMine);
  attempt(() =>
    current ? sessionStorage.setItem(raceKey, c.id) : sessionStorage.removeItem(raceKey),
  );
  return current;
}

/** Says what the race does. @param {Challenge} c */
function says({ status, startTime, closeTime }) {
  if (status.endsWith('CLOSED')) return ['Your race is over', 'see the result'];
  if (status.endsWith('OPEN')) return ['Your race is running', `${clock(closeTime || '')} left`];
  if (status.endsWith('SCHEDULED') || startTime)
    return ['Your race starts', startTime ? `in ${clock(startTime)}` : 'now'];
  return ['Your race waits for others', 'return'];
}

/** Shows a link to the race that the tab remembers. */
export function remind() {
  const id = attempt(() => sessionStorage.getItem(raceKey));
  const href = `/c/${id}`;
  if (!id || location.pathname === href) return;
  const link = h('a.button.primary.reminder', { href, hidden: true });
  document.body.append(link);
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
    clearInterval(timer);
    link.remove();
    close();
  }
  const timer = setInterval(draw, 1000);
  const close = watch(`c/${id}`, {
    onUpdate(/** @type {WatchChallengeResponse} */ { challenge, now }) {
      sync(now);
      race = challenge;
      if (remember(challenge)) return draw();
      if (!challenge.entrants?.some(isMine)) return end();
      clearInterval(timer);
      close();
      draw();
    },
    // A race that never started is deleted.
    onError() {
      attempt(() => sessionStorage.removeItem(raceKey));
      end();
    },
  });
}
