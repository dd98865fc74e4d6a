// Open places: races and games that wait for players, and the button that finds a race.
import { isMine, look } from './api.js';
import { limit } from './challenge-words.js';
import { h, toast } from './dom.js';
import { ago, clock, plural, seatName } from './game-state.js';
import { explain, persist, signIn } from './persist.js';

/** @import { Challenge, Game } from '../types' */

/**
 * Makes a row with a link for a player who is there already, or else a button that joins.
 * @param {string} href
 * @param {string} who
 * @param {string} what
 * @param {false | (() => Promise<any>)} join
 */
const place = (href, who, what, join) =>
  h(
    'li.card.row',
    h('span', h('b.cut', join ? who : 'Your place'), h('small.cut', what)),
    join
      ? action('button', `Join ${who}`, 'Join', async () => {
          await join();
          return href;
        })
      : h('a.button', { href }, 'Return'),
  );

/**
 * Makes a button that signs the player in and opens the page whose address go returns.
 * @param {string} tag @param {string} label @param {string} text @param {() => Promise<string>} go
 */
function action(tag, label, text, go) {
  const onclick = async () => {
    button.disabled = true;
    try {
      await signIn();
      location.assign(await go());
    } catch (e) {
      button.disabled = false;
      toast(explain(e));
    }
  };
  const button = h(tag, { 'aria-label': label, onclick }, text);
  return button;
}

/** @param {Challenge} c */
const address = (c) => `/c/${c.id}`;

/** @param {Challenge} c */
function racePlace(c) {
  const names = (c.entrants || []).flatMap((e) => e.player?.name || []);
  const when = c.closeTime ? `${clock(c.closeTime)} left` : ago(c.createTime);
  const what = `${limit(c.limit)} race, ${c.variant} · ${when}`;
  const join = () => persist('JoinChallenge', { challengeId: c.id });
  return place(address(c), names.join(', '), what, !c.entrants?.some(isMine) && join);
}

/** Keeps a list of places on the page up to date. @param {any} element @param {number} most */
export function showPlaces(element, most) {
  const list = () => document.hidden || listPlaces(element, most).catch(() => {});
  list();
  const timer = setInterval(() => (element.isConnected ? list() : clearInterval(timer)), 5000);
}

/** Returns the address at which a player takes a seat. @param {Game} g */
export const seatLink = (g) => `/play/${g.variant}?game=${g.id}`;

/** @param {Game} g */
function seatPlace(g) {
  const names = g.seats.filter((s) => !s.open).map(seatName);
  const open = g.seats.length - names.length;
  const what = `${g.variant}, ${plural(open, 'seat')} free · ${ago(g.createTime)}`;
  const join = () => persist('JoinGame', { gameId: g.id });
  return place(seatLink(g), names.join(', '), what, !g.seats.some(isMine) && join);
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
  const waiting = challenges.filter(
    (/** @type {Challenge} */ c) =>
      c.status.endsWith('WAITING') ||
      (!c.status.endsWith('CLOSED') &&
        c.entrants?.some(isMine) &&
        address(c) !== location.pathname),
  );
  const items = [...waiting.map(racePlace), ...games.map(seatPlace)].slice(0, most);
  element.hidden = !items.length;
  element.replaceChildren(...(items.length ? [h('h2', 'Open places'), h('ul.places', items)] : []));
}

const nowText = 'Race somebody now';
/** Makes the button that enters the player into a race with others. @param {string} [tag] */
export const raceNow = (tag = 'button.large') =>
  action(tag, nowText, nowText, async () => address((await persist('RaceNow', {})).challenge));
