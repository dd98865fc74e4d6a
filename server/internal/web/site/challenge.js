// The page of a challenge: the daily game, a race, a link, or a rematch.
import { account, call, isMine, watch } from './api.js';
import { createBoard } from './board.js';
import * as words from './challenge-words.js';
import { placeOn, showDistribution } from './daily-more.js';
import {
  announce,
  copy,
  dailyLink,
  facts,
  h,
  keys,
  reveal,
  shareRow,
  share as sheet,
  site,
  tab,
  toast,
} from './dom.js';
import { failed } from './failed.js';
import { clock, largestTile, plural, sync, until } from './game-state.js';
import showGame from './game-view.js';
import { celebrate, soundKey } from './moments.js';
import { names } from './names.js';
import { askName } from './naming.js';
import { ownSeat } from './own.js';
import { eventually, explain, persist } from './persist.js';
import { action, address, join, showAround, showPlaces } from './places.js';
import { remember } from './reminder.js';
import { createRivals } from './rivals.js';
import { createRoster, entrant, nameField } from './roster.js';
import { createBoards, createLines } from './standings.js';
import { variants } from './twenty48.js';
import * as table from './words.js';

/** @import { Game, GetChallengeResponse, Standing, WatchChallengeResponse } from '../types' */

/** The description of each kind of challenge. @type {Record<string, string>} */
const kinds = {
  DAILY: 'The same tiles for everyone, until midnight UTC.',
  RACE: 'All play the same tiles at the same time. The highest score wins.',
  LINK: 'New tiles, the same for everyone with the link.',
  REMATCH: 'The tiles of a finished game. Its seed is public, so the ranking proves nothing.',
};

/** Shows bytes in hexadecimal, like the terminal. @param {string} base64 */
const hex = (base64) =>
  h('code', ...[...atob(base64)].map((c) => c.charCodeAt(0).toString(16).padStart(2, '0')));

const calm = 3e3; // least milliseconds between two notes about places in a race
const lastTime = 10e3; // milliseconds before the end of a race that are announced

/** @param {HTMLElement} root @param {{id?: string}} data */
export default (root, { id }) => open(root, { challengeId: id });

/**
 * Shows a challenge.
 * @param {HTMLElement} root
 * @param {object} request of GetChallenge
 */
export async function open(root, request) {
  try {
    show(root, await call('GetChallenge', request));
  } catch (e) {
    failed(root, e);
  }
}

/** @param {HTMLElement} root @param {GetChallengeResponse} got */
function show(root, { challenge, next, attempt, now, dailyVariants = [] }) {
  sync(now);
  let c = challenge;
  const race = words.is(c, 'RACE');
  const daily = words.is(c, 'DAILY');
  const once = daily || words.is(c, 'LINK'); // whether a player has one attempt
  const path = address(c);
  /** The player's game. @type {{id?: string, game?: Game}} */
  const own = { id: attempt?.gameId };
  /** @type {WatchChallengeResponse & {mine?: Standing & {total?: number}}} */
  let news = { challenge: c, now, etag: '' };
  /** The status of the challenge that the page shows, or "GAME" if it shows the player's game. */
  let stage = '';
  let lost = false; // whether there is no connection
  let hurried = false; // whether the player knows that the race ends
  let running = !c.status.endsWith('CLOSED'); // whether the player does not know who won

  const roster = createRoster((changed) => take({ ...news, now: '', challenge: changed }));
  const lines = race ? createBoards(own) : createLines();
  const result = h('div.stack.card', { hidden: true });
  const points = h('h2');
  const place = h('p');
  const places = h('div.stack', { hidden: true });
  const foot = h('p.dim');
  const seed = h('p');
  const proof = h(
    'details.dim',
    h('summary', 'Fairness'),
    h('p', 'SHA-256 of the seed', hex(c.seedCommitment)),
    seed,
    next && h('p', 'SHA-256 of tomorrow', hex(next.seedCommitment)),
  );
  const day = words.dayBefore(c);
  const before = day && h('a', { href: `/daily/${c.variant}?date=${day}` }, `Results of ${day}`);
  const spread = h('div.stack');
  const aside = h('div.stack', result, lines.element, spread, foot, before, proof);
  const board = createBoard('twenty48');
  const counter = h('b.counter', { role: 'timer' });
  const about = h('p');
  const rival = h('a', { hidden: true });
  const begins = h('p');
  const around = h('p.dim.around');
  const rivals = createRivals();
  const share = shareRow(() => site + path);
  document.title = `${words.title(c)} – Gridstand`;

  const links = dailyVariants.map((v) => tab(`/daily/${v}`, v, v === c.variant));
  const tabs = links[1] && h('nav.tabs', { 'aria-label': 'Variants' }, links);
  const heading = () => [
    h('h1', words.title(c)),
    tabs,
    h('p', kinds[c.kind.slice(15)], /OPEN/.test(c.status) && once && ' You have one attempt.'),
    about,
  ];
  /** Shows an empty board with an element on top. @param {any} above */
  function offer(above) {
    const rows = variants[c.variant]?.side;
    board.show({ twenty48: { rows, columns: rows } });
    root.replaceChildren(
      h(
        'div.game',
        h('section.stack', heading()),
        h('section.play.stack', h('div.board.offer', board.element, above), share),
        h('section.stack', aside),
      ),
    );
    reveal(board.element);
  }

  /** @param {WatchChallengeResponse} update */
  function take(update) {
    if (update.now) sync(update.now);
    c = update.challenge;
    if (race) {
      own.id = entrant(c)?.gameId;
      remember(c);
    }
    if (race && /OPEN|GAME/.test(stage)) noticePlaces(news.standings, update.standings);
    const mine = update.standings?.find((s) => s.gameId === own.id);
    news = { ...update, mine: mine ? { ...mine, total: update.total } : news.mine };
    enter();
    draw();
  }
  /** Returns the selector for what moments are shown on: all boards, unless the player has one. */
  const onBoards = () => (own.id ? undefined : ':has(> .wall)');
  let noticed = -Infinity;
  /** Celebrates a change of places. @param {Standing[]} [before] @param {Standing[]} [after] */
  function noticePlaces(before, after) {
    const text = words.overtaking(before, after, own.id);
    if (!text || performance.now() - noticed < calm) return;
    noticed = performance.now();
    celebrate(text, onBoards());
  }
  /** Shows the view for the status of the challenge. */
  function enter() {
    const now = c.status.slice(17);
    if (now === 'WAITING') roster.show(c);
    if (now === stage || stage === 'GAME') return;
    stage = now;
    if (now === 'WAITING') {
      const view = [...heading(), begins, roster.element, rivals.element, around, share];
      root.replaceChildren(h('div.stack.narrow', view));
      if (!c.private) showAround(around, () => stage === 'WAITING' && c);
    } else if (now === 'SCHEDULED') offer(counter);
    else if (own.id) play(own.id);
    else if (now === 'OPEN' && !race) start();
    else {
      const href = race ? '/race' : daily && dailyLink ? '/daily' : `/play/${c.variant}`;
      const go = now === 'CLOSED' && h('p', h('a.button.primary', { href }, 'Play'));
      const page = `div.stack${race ? '' : '.narrow'}`;
      root.replaceChildren(h(page, heading(), aside, go, share));
    }
  }
  /** Offers to start an attempt. */
  function start() {
    const field = nameField();
    const button = h('button.primary.large', 'Start');
    const onsubmit = async (/** @type {Event} */ e) => {
      e.preventDefault();
      if (button.disabled) return;
      button.disabled = true;
      release();
      await field
        .signIn()
        .then(() => play())
        .catch((problem) => failed(root, problem));
    };
    const form = h('form.card', { onsubmit }, field.label, button);
    const release = keys([['Enter', 'start', () => form.requestSubmit()]]);
    offer(form);
  }
  /** Shows the player's attempt, creating it if necessary. @param {string} [gameId] */
  async function play(gameId) {
    stage = 'GAME';
    try {
      const game = gameId
        ? await opened(gameId)
        : (await persist('CreateGame', { challengeId: c.id })).game;
      Object.assign(own, { id: game.id, game });
      root.replaceChildren();
      if (tabs) aside.append(tabs);
      const seat = ownSeat(game, 0, {
        attempt: true,
        aim: () => (race && leader() ? names([leader()]) : ['to beat']),
        best: () => (leader() ? leader()?.score || 0 : -Infinity),
        deadline,
        link: path,
        element: aside,
        changed,
        finish: (element) => element.replaceChildren(aside),
      });
      showGame(root, { id: game.id }, seat);
      draw();
    } catch (e) {
      failed(root, e);
    }
  }
  /**
   * Reads the player's game as soon as the challenge is open.
   * @param {string} gameId @returns {Promise<Game>}
   */
  async function opened(gameId) {
    for (;;) {
      try {
        return (await persist('GetGame', { gameId })).game;
      } catch (/** @type {any} */ e) {
        if (e.reason !== 'CHALLENGE_NOT_OPEN') throw e;
        await new Promise((resume) => setTimeout(resume, 100));
      }
    }
  }
  /**
   * Returns the result to beat, if there is one yet.
   * @returns {Pick<Standing, 'player' | 'bot' | 'score' | 'gameId' | 'finished'> | undefined}
   */
  function leader() {
    if (c.target) return c.target;
    const rivals = news.standings?.filter((s) => s.gameId !== own.id) || [];
    return rivals.toSorted((a, b) => (b.score || 0) - (a.score || 0))[0];
  }
  /**
   * Returns the latest possible end of the player's game, in milliseconds.
   * @param {Game} game
   */
  function deadline({ createTime }) {
    const end = Date.parse(c.closeTime || '');
    if (race || !c.limit) return end;
    return Math.min(end, Date.parse(createTime) + 1e3 * Number.parseFloat(c.limit));
  }
  /** Handles a change of the player's game. @param {Game} game */
  function changed(game) {
    own.game = game;
    if (!game.result || !result.hidden) return;
    const {
      scores: [score],
      twenty48,
    } = game.position;
    const shared = { challenge: c, score, tiles: twenty48?.tiles, link: site + path };
    const pass = () => sheet(words.share({ ...facing(), ...shared }));
    result.hidden = false;
    result.replaceChildren(
      points,
      ...(c.target ? [h('p', words.margin(score, c.target))] : []),
      place,
      ...(race ? [rivals.element] : []),
      h(
        'p.row',
        race && action('button.primary', 'Race again', raceAgain),
        h(race ? 'button.plain' : 'button.primary', { onclick: pass }, 'Share'),
        daily && h('a', { href: '/race' }, 'Race somebody'),
        h('a', { href: `/g/${own.id}` }, 'Replay'),
        rival,
      ),
    );
    if (daily) result.append(foot);
    else {
      result.append(places);
      showPlaces(places, 2);
    }
    draw();
    reveal(result);
    if (!race) setTimeout(eventually, 300, rank);
  }
  /** Returns the rank of the player's game. */
  const facing = () => ({
    rank: news.mine?.rank,
    total: news.mine?.total ?? news.total, // of the same time as the rank
    dayStreak: attempt?.dayStreak,
  });
  /** Reads the player's rank. Fails if the standings do not have the result yet. */
  async function rank() {
    const challengeId = c.id;
    ({ attempt } = await persist('GetChallenge', { challengeId }));
    const { standings, total } = await persist('ListStandings', {
      challengeId,
      playerId: 'me',
    });
    const [mine] = /** @type {Standing[]} */ (standings); // fails if there is none yet
    news = { ...news, mine: { ...mine, total }, total };
    draw();
    more();
  }
  /** Shows how the results of a daily game are distributed. */
  async function more() {
    if (!daily) return;
    try {
      spread.replaceChildren(...(await showDistribution(c.id, news.mine?.score)));
    } catch {}
  }
  /** Enters the next race, which all entrants of this one share, and returns its address. */
  async function raceAgain() {
    const request = { kind: c.kind, previousChallengeId: c.id };
    const { challenge } = await persist('CreateChallenge', request);
    if (challenge.status.endsWith('WAITING') && !entrant(challenge)) await join(challenge);
    return `${address(challenge)}#again`;
  }

  /**
   * Reports whether the player is on the podium of a race or daily game, with points and not the last,
   * or made a large tile, and did not give up.
   */
  function isGood() {
    if (own.game?.result?.reason === 'REASON_RESIGNED') return false;
    const { rank = 9, score } = news.mine || {};
    const podium = score && (rank === 1 || (rank <= 3 && rank < (news.total || 0)));
    return (podium && (race || daily)) || largestTile(own.game?.position) >= 512;
  }

  function draw() {
    const closed = c.status.endsWith('CLOSED');
    // The player may have taken another name since the last news.
    for (const s of [news.mine, ...(news.standings || [])])
      if (s?.player && isMine(s)) s.player.name = account()?.name || '';
    if (race || news.etag) lines.show(news, closed || words.is(c, 'REMATCH') || !!own.game?.result);
    let state = '';
    if (closed) state = 'closed';
    else if (stage === 'WAITING') state = `${c.entrants?.length || 0} of 8 are here`;
    else if (/OPEN|GAME/.test(stage)) state = `${clock(c.closeTime || '')} left`;
    facts(about, c.variant, state, race && stage === 'OPEN' && 'you watch', lost && 'reconnecting');
    begins.textContent = words.begins(c);
    if (location.hash === '#again')
      begins.textContent += ' "Race again" leads the others of the last race here.';
    around.hidden = !own.id || (c.entrants || []).filter((e) => e.player).length > 1;
    // With several daily games, a streak without a name is that of all; foot names this one's.
    const text = words.standing({ ...facing(), ...(tabs && { dayStreak: 0 }) });
    place.textContent = text;
    if (text && race && !closed) place.textContent += ` so far, ${clock(c.closeTime || '')} left`;
    const [first, second] = news.standings || [];
    const { rank, score = 0 } = news.mine || {};
    if (text && race && closed && second) {
      const rival = rank === 1 ? second : first;
      place.textContent += `, ${words.margin(score, rival)}`;
      if (score && score === rival.score) place.textContent += `. ${table.tie}`;
    }
    const won = race && closed && rank === 1 && score && table.youWin;
    points.textContent =
      (won ? `${won}: ` : '') + plural(own.game?.position.scores[0] || 0, 'point');
    if (text && !result.hidden) {
      if (isGood()) askName(result);
      if (race && closed && running) {
        running = false;
        celebrate(won || text);
        reveal(result);
        eventually(rivals.count);
      }
    }
    rivals.show(c.entrants);
    const ahead = race && !closed && leader();
    rival.hidden = !ahead || ahead.finished;
    if (ahead) {
      rival.href = `/g/${ahead.gameId}`;
      rival.replaceChildren('Watch ', ...names([ahead]));
    }
    foot.hidden = !closed && !own.game?.result; // Above the board there is the time left.
    if (next && !closed) {
      const it = tabs ? c.variant : 'it';
      const days = attempt?.dayStreak;
      const then = days ? `: play ${it} for ${days + 1} days in a row` : '';
      foot.textContent = `The next daily game begins in ${clock(next.openTime || '')}${then}.`;
    } else if (c.date && dailyLink && !foot.firstElementChild)
      foot.replaceChildren(h('a', { href: '/daily' }, "Play today's game"));
    if (c.seed && !seed.firstChild) seed.append('Seed', hex(c.seed));
    if (stage === 'SCHEDULED') count();
    const left = until(c.closeTime || '');
    if (race && /OPEN|GAME/.test(stage) && left > 0 && left <= lastTime && !hurried) {
      hurried = true;
      celebrate(table.secondsLeft(`${Math.ceil(left / 1e3)}`), onBoards());
    }
  }
  /** Counts down to the opening of a race. */
  function count() {
    const wait = until(c.openTime || '');
    const left = Math.ceil(wait / 1e3);
    if (left <= 0)
      return take({ ...news, now: '', challenge: { ...c, status: 'CHALLENGE_STATUS_OPEN' } });
    if (counter.textContent === `${left}`) return;
    counter.textContent = `${left}`;
    announce(counter.textContent, 0);
    setTimeout(draw, (wait % 1e3) + 1);
  }

  /** Adds the player's place on the day before to the link to its results. */
  async function placeBefore() {
    before.textContent += `: you were ${await placeOn(c.variant, day || '')}`;
  }

  take(news);
  more();
  if (before && account()) placeBefore().catch(() => {});
  if (race) rivals.count().catch(() => {});
  // The player's game goes on, and says itself what fails.
  const onError = (/** @type {any} */ e) =>
    stage === 'GAME' ? toast(explain(e)) : failed(root, e);
  watch(`c/${c.id}`, {
    onUpdate: take,
    onError,
    onState(now) {
      if (now !== 'connecting') lost = now === 'offline';
      draw();
    },
  });
  setInterval(draw, 1000);
  keys([
    ['c', 'copy the link', () => copy(site + path)],
    soundKey,
    ['r', '', () => stage === 'WAITING' && roster.toggle()],
  ]);
}
