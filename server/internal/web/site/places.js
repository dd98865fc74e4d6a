// Open places: races and games that wait for players, and the button that finds a race.
import { account, look } from './api.js';
import { limit } from './challenge-words.js';
import { h, toast } from './dom.js';
import { ago, plural, seatName } from './game-state.js';
import { explain, persist, signIn } from './persist.js';

/** @import { Challenge, Game } from '../types' */

/** @param {string} href @param {string} action @param {string} who @param {string} what */
const place = (href, action, who, what) =>
  h(
    'li.card.row',
    h('span', h('b.cut', who), h('small.cut', what)),
    h('a.button', { href }, action),
  );

/** @param {Challenge} c */
function racePlace(c) {
  const names = (c.entrants || []).flatMap((e) => e.player?.name || []);
  const mine = c.entrants?.some((e) => e.player && e.player.id === account()?.id);
  const what = `${limit(c.limit)} race, ${c.variant} · ${ago(c.createTime)}`;
  return place(`/c/${c.id}`, mine ? 'Return' : 'Join', names.join(', '), what);
}

/** @param {Game} g */
function seatPlace(g) {
  const names = g.seats.filter((s) => !s.open).map(seatName);
  const mine = g.seats.some((s) => s.player && s.player.id === account()?.id);
  const open = g.seats.length - names.length;
  const what = `${g.variant}, ${plural(open, 'seat')} free · ${ago(g.createTime)}`;
  const href = `/play/${g.variant}?game=${g.id}`;
  return place(href, mine ? 'Return' : 'Join', names.join(', '), what);
}

/**
 * Lists the first races and games that wait for players, if any.
 * @param {any} element @param {number} most
 */
export async function listPlaces(element, most) {
  const race = { kind: 'CHALLENGE_KIND_RACE', pageSize: 20 };
  const [{ challenges = [] }, { games = [] }] = await Promise.all([
    look('ListChallenges', race),
    look('ListGames', { status: 'GAME_STATUS_WAITING', pageSize: most }),
  ]);
  const waiting = challenges.filter((/** @type {Challenge} */ c) => c.status.endsWith('WAITING'));
  const items = [...waiting.map(racePlace), ...games.map(seatPlace)].slice(0, most);
  element.replaceChildren(...(items.length ? [h('h2', 'Open places'), h('ul.places', items)] : []));
}

/** Makes the button that enters the player into a race with others. */
export function raceNow() {
  const go = async () => {
    button.disabled = true;
    try {
      await signIn();
      const { challenge } = await persist('RaceNow', {});
      location.assign(`/c/${challenge.id}`);
    } catch (e) {
      button.disabled = false;
      toast(explain(e));
    }
  };
  const button = h('button.large', { onclick: go }, 'Race somebody now');
  return button;
}
