// Open places: races and games that wait for players, and the button that finds a race.
import { isMine, look } from './api.js';
import { title } from './challenge-words.js';
import { announce, h, reminders, toast } from './dom.js';
import { ago, clock, idle, plural, seatName } from './game-state.js';
import { names } from './names.js';
import { draw, explain, persist, signIn } from './persist.js';
import { remembered } from './reminder.js';

/** @import { Challenge, Game } from '../types' */

const present = 60e3; // milliseconds since the last move of those who are said to play now
const pause = 10e3; // milliseconds between two looks at who plays, and at which races wait

/**
 * Makes a row with a link for a player who is there already, or else a button that joins.
 * @param {string} href
 * @param {any[]} who seats or entrants
 * @param {string} what
 * @param {false | (() => Promise<any>)} join
 */
const place = (href, who, what, join) =>
  h(
    'li.card.row',
    { 'data-key': [href, ...(join ? who.map(seatName) : [])].join() },
    h('span', h('b', join ? names(who) : 'Your place'), h('small', what)),
    join
      ? action(
          'button',
          'Join',
          async () => {
            await join();
            return href;
          },
          `Join ${who.map(seatName).join(', ')}`,
        )
      : h('a.button', { href }, 'Return'),
  );

/**
 * Makes a button that signs the player in and opens the page whose address go returns.
 * @param {string} tag @param {string} text @param {() => Promise<string>} go
 * @param {string} [label] says what the text alone does not
 */
export function action(tag, text, go, label) {
  const enable = () => {
    button.disabled = false;
  };
  const onclick = async () => {
    button.disabled = true;
    try {
      await signIn();
      location.assign(await go());
      addEventListener('pageshow', enable, { once: true }); // The page may return as it is.
    } catch (e) {
      enable();
      toast(explain(e));
    }
  };
  const button = h(tag, { 'aria-label': label, onclick }, text);
  return button;
}

/** @param {Challenge} c */
export const address = (c) => `/c/${c.id}`;

/** Returns the names of the players in a race. @param {Challenge} c */
const players = (c) => (c.entrants || []).flatMap((e) => e.player?.name || []);

/** @param {Challenge} c */
export const join = (c) => persist('JoinChallenge', { challengeId: c.id });

/** @param {Challenge} c */
function racePlace(c) {
  const when = c.closeTime ? `${clock(c.closeTime)} left` : ago(c.createTime);
  const what = `${title(c)} · ${when}`;
  const enter = !c.entrants?.some(isMine) && (() => join(c));
  return place(
    address(c),
    (c.entrants || []).filter((e) => e.player),
    what,
    enter,
  );
}

/** Keeps a list of places on the page up to date. @param {any} element @param {number} most */
export function showPlaces(element, most) {
  const list = () => document.hidden || listPlaces(element, most).catch(() => {});
  list();
  const timer = setInterval(() => (element.isConnected ? list() : clearInterval(timer)), 5000);
}

/** Returns the address at which a player takes a seat. @param {Game} g */
export const seatLink = (g) => `/play/${g.variant}?game=${g.id}`;

/** Returns the address at which a game is played. @param {Game} g */
export const placeIn = (g) => (g.challengeId ? `/c/${g.challengeId}` : seatLink(g));

/** Returns the address of a game: where it is played if it is the player's own. @param {Game} g */
export const playAddress = (g) => (g.seats.some(isMine) ? placeIn(g) : `/g/${g.id}`);

/** @param {Game} g */
function seatPlace(g) {
  const here = g.seats.filter((s) => !s.open);
  const open = g.seats.length - here.length;
  const what = `${g.variant}, ${plural(open, 'seat')} free · ${ago(g.createTime)}`;
  const join = () => persist('JoinGame', { gameId: g.id });
  return place(seatLink(g), here, what, !g.seats.some(isMine) && join);
}

/** @returns {Promise<Challenge[]>} */
const listRaces = async () =>
  (await look('ListChallenges', { kind: 'CHALLENGE_KIND_RACE', pageSize: 20 })).challenges || [];

/** The offer of a race that waits, its id, and the timer that looks for one. @type {any} */
let note;
let shown = '';
let noting = 0;
/**
 * Offers the player of a game to join a race that waits, until the game is over. Does nothing while the
 * player is in a race.
 */
export function noteWaiting() {
  clearInterval(noting);
  noting = setInterval(async () => {
    if (!document.querySelector('.game.own')) {
      clearInterval(noting);
      note?.remove();
      shown = '';
      return;
    }
    if (document.hidden || remembered()[0]) return;
    const races = await listRaces().catch(() => []);
    const race = races.findLast(
      (c) => c.status.endsWith('WAITING') && players(c)[0] && !c.entrants?.some(isMine),
    );
    const id = race?.id || '';
    if (id === shown) return;
    shown = id;
    note?.remove();
    if (!race) return;
    const text = `${players(race)[0]} waits for a race: join`;
    note = action('button.primary.reminder', text, async () => {
      await join(race);
      return address(race);
    });
    reminders.append(note);
    announce(text, 0);
  }, pause);
}

/**
 * Keeps a text up to date that says who plays now and can join a race, as long as the race waits.
 * @param {any} element @param {() => Challenge | false} waiting returns the race while it waits
 */
export async function showAround(element, waiting) {
  const race = waiting();
  if (!race) return;
  if (!document.hidden) element.textContent = await whoPlays(race).catch(() => '');
  setTimeout(showAround, pause, element, waiting);
}

/** Says who plays now and can join a race that waits. @param {Challenge} race */
async function whoPlays(race) {
  const request = { status: 'GAME_STATUS_ACTIVE', orderBy: 'ORDER_BY_RECENT', pageSize: 20 };
  /** @type {Game[]} */
  const games = (await look('ListGames', request)).games || [];
  const seats = games.filter((g) => idle(g) < present).flatMap((g) => g.seats);
  const people = seats.flatMap(({ player }) =>
    player && !player.bot && !isMine({ player }) ? player.name : [],
  );
  const others = [...new Set(people)].filter((name) => !players(race).includes(name));
  if (!others[0]) return 'Nobody else plays right now. Send somebody the link.';
  const more = others.length - 2;
  const who = others.slice(0, 2).join(more > 0 ? ', ' : ' and ');
  const rest = more > 0 ? ` and ${plural(more, 'other')}` : '';
  return `Playing now: ${who}${rest}. Those on this site are told that you wait.`;
}

/**
 * Lists the first races and games that wait for players, if any.
 * @param {any} element @param {number} most
 */
export async function listPlaces(element, most) {
  const [races, { games = [] }] = await Promise.all([
    listRaces(),
    look('ListGames', { status: 'GAME_STATUS_WAITING', pageSize: most }),
  ]);
  const waiting = races.filter(
    (c) =>
      c.status.endsWith('WAITING') ||
      (!c.status.endsWith('CLOSED') &&
        c.entrants?.some(isMine) &&
        address(c) !== location.pathname),
  );
  const items = [...waiting.map(racePlace), ...games.map(seatPlace)].slice(0, most);
  const shown = [...(element.lastChild?.children || [])];
  const key = (/** @type {any[]} */ all) => all.map((i) => i.getAttribute('data-key')).join(' ');
  // New buttons would lose the focus, or a click that has begun.
  if (key(items) === key(shown))
    return items.forEach(({ firstChild: { lastChild } }, i) => {
      shown[i].firstChild.lastChild.textContent = lastChild.textContent;
    });
  element.hidden = !items.length;
  element.replaceChildren(...(items.length ? [h('h2', 'Open places'), h('ul.places', items)] : []));
}

/** Makes the button that opens a new rematch of a game. @param {string} gameId @param {string} [tag] */
export function rematch(gameId, tag = 'button') {
  const requestId = draw();
  return action(tag, 'Beat this score', async () => {
    const kind = 'CHALLENGE_KIND_REMATCH';
    return address((await persist('CreateChallenge', { kind, gameId, requestId })).challenge);
  });
}

/** Makes the button that enters the player into a race with others. @param {string} [tag] */
export const raceNow = (tag = 'button.large') =>
  action(tag, 'Race somebody now', async () => address((await persist('RaceNow', {})).challenge));
