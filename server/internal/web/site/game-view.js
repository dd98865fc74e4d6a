// The page of a game: live, its replay, and its verification after it has ended.
import { isMine, watch } from './api.js';
import { createBoard, kindOf } from './board.js';
import { announce, copy, h, keys, reveal, shareRow, site, toast } from './dom.js';
import { failed } from './failed.js';
import * as words from './game-state.js';
import { celebrate, sound, soundKey } from './moments.js';
import { createMoves, createScores, rankOf } from './panel.js';
import { persist } from './persist.js';
import { placeIn, rematch } from './places.js';
import { offer, rise } from './reactions.js';
import { createReplay } from './replay.js';
import { verifyInSlices } from './verify.js';
import * as table from './words.js';

const verifyLimit = 8000; // maximum number of events that are verified automatically
const goal = 2048; // the smallest tile that is celebrated
const hurry = 10e3; // remaining time in milliseconds below which the clock is red

/**
 * @param {HTMLElement} root
 * @param {{id?: string}} data
 * @param {import('./own.js').OwnSeat} [own] the seat of a player who plays on this page
 */
export default function show(root, { id = '' }, own) {
  const state = new words.State();
  /** @type {any} */
  let board = null;
  /** The event since the last frame, or null if there were several. @type {any} */
  let latest = null;
  let drawn = 0;
  let frame = 0;
  let connection = 'connecting';
  let checked = false;
  /** The largest tile so far. */
  let largest = 0;
  /** The challenge of an attempt, once the game is over. @type {any} */
  let challenge = null;

  const badge = h('span');
  const clock = h('b');
  const facts = h('span.dim.cut');
  const scores = createScores(own);
  const stage = h('div.board');
  const outcome = h('b');
  const sit = h('a.button.primary', { hidden: true });
  const verdict = h('p.verdict', { role: 'status' });
  const address = () => {
    const past = replay.at && !replay.playing && replay.past[replay.at - 1];
    const move = past ? `#${past.position.moveCount || 0}` : '';
    return site + (own?.link || `/g/${id}${move}`);
  };
  const links = h('div.links.stack', shareRow(address));
  const replay = createReplay(state, showPast, status);
  const moves = createMoves(state, replay.seek);
  const react = h('div.react');
  const head = h('div.row.head', badge, clock, facts);
  const view = h(own ? 'div.game.own' : 'div.game', h('section.stack', head, scores.element));
  const play = h('section.play.stack', stage, !own && replay.element);
  const aside = h(
    'section.stack',
    !own && react,
    outcome,
    sit,
    own?.element,
    verdict,
    links,
    moves.element,
  );
  root.append(view);

  /** Handles an update of the stream, or the response to a move. @param {any} update */
  function take(update) {
    const before = state.game;
    const changed = state.apply(update);
    const { event, reactions } = update;
    if (reactions) rise(stage, reactions);
    if (changed) {
      if (before && event) celebrateMove(before, event);
      latest = event?.version === drawn + 1 ? event : null;
      replay.update(event);
      if (event) speak(event);
      if (state.over) finished();
    }
    if (own && state.version > drawn) {
      draw();
      own.changed(event);
    } else if (!frame && !own) frame = requestAnimationFrame(draw);
    // The last of the events before the page was opened completes the list of moves.
    if (own && event?.version === own.first.version) panel(state.game.position);
    if (own && changed === undefined) own.refresh().catch(toast);
    return !!own || changed !== undefined;
  }
  /** Shows what is special about a move. @param {any} before @param {any} event */
  function celebrateMove(before, { moved, position }) {
    sound(moved?.gained || moved?.taken?.length);
    const tile = words.largestTile(position);
    largest = Math.max(largest, words.largestTile(before.position));
    const record = own ? own.record?.() || 0 : best;
    const score = words.highest(position);
    if (tile > largest && tile >= goal) celebrate(table.newTile(`${tile}`));
    else if (record && score > record && words.highest(before.position) <= record)
      celebrate(own ? table.newBest : table.newBestOf(words.players(before)));
  }
  /** The best score of the earlier games of the player whom the viewer watches. */
  let best = 0;
  /** @param {any} game */
  async function findBest({ ranked, seats, variant }) {
    const [{ player }] = seats;
    if (own || state.over || !ranked || seats[1] || !player) return;
    best = (await rankOf({ playerId: player.id, variant }))?.entry.score || 0;
  }
  if (own) state.apply({ game: own.first });
  replay.update();
  const stop = watch(`g/${id}`, {
    after: own && Math.max(own.first.version - words.keptEvents, 0),
    everyEvent: !!own,
    onUpdate: take,
    onState(now, wait = 0) {
      connection = now === 'offline' ? `reconnecting (${Math.ceil(wait)} s)` : now;
      status();
    },
    onEnd: status,
    onError(e) {
      clearInterval(timer);
      failed(root, e);
    },
  });
  const timer = setInterval(() => {
    // The best score comes from the server, and rivals change the score to beat.
    if (own && !replay.at) scores.show(state.game.seats, state.game.position);
    status();
  }, 1000);

  /** Draws the changes since the last frame. */
  function draw() {
    frame = 0;
    const { game } = state;
    if (!game?.position) return;
    const kind = kindOf(game.position);
    if (board?.kind !== kind) {
      board = createBoard(kind, own && ((cell) => own.move({ cell })));
      stage.replaceChildren(board.element);
      document.title = `${words.players(game)} – Gridstand`;
      if (!own) command();
      view.classList.toggle('past', state.over && !own);
      view.append(play, aside); // together with the board, so that the layout does not shift
      reveal(stage);
      findBest(game).catch(() => {});
      if (!own && !state.over) offer(react, () => (state.over ? '' : id));
      if (!own) openLinked();
    }
    if (!replay.at) showNow(latest);
    latest = null;
    drawn = state.version;
  }
  /** Shows the newest version. @param {any} event the event that led to it, to animate it */
  function showNow(event) {
    const { position } = state.game;
    const last = event || state.events.at(-1) || replay.past.at(-1);
    board.show(position, own ? own.rest(last) : last, { animate: !!event, legal: own?.mine() });
    panel(position);
  }
  /** @param {any} event null for the newest version @param {boolean} next */
  function showPast(event, next) {
    if (!board) return;
    if (!event) return showNow(null);
    board.show(event.position, event, { animate: next });
    panel(event.position);
  }
  /** Describes how the game ended for the viewer. */
  const ending = () => words.outcome(state.game, seat());
  /** The viewer's seat, or -1. */
  const seat = () => state.game.seats.findIndex(isMine);
  /** @param {any} position */
  function panel(position) {
    const { game, version } = state;
    scores.show(game.seats, position);
    const open = game.seats.filter((/** @type {any} */ s) => s.open).length;
    const mine = seat() >= 0;
    let text = open ? `Waiting for ${words.plural(open, 'player')}` : '';
    let color = '';
    // The result of an attempt is its place, which its page says.
    if (state.over && !replay.at)
      [text, color] = own?.attempt ? [words.ending(game), ''] : ending();
    else if (position.turn !== undefined && position.tribolo)
      text = own?.mine() && !replay.at ? 'Your turn' : `${words.owners[position.turn]} to move`;
    outcome.textContent = text;
    outcome.className = color;
    sit.hidden = own || state.over || !(open || mine);
    sit.textContent = mine ? 'Continue' : 'Take a seat';
    sit.href = placeIn(game);
    moves.show(replay.past.length >= version ? replay.past : state.events, replay.at || version);
    status();
  }

  function status() {
    const { game } = state;
    const [text, color] = replay.at
      ? [`${replay.playing ? '▶' : '❚❚'} replay`, 'dim']
      : words.badge(state, connection);
    badge.textContent = text;
    badge.className = color;
    if (!game) return;
    const deadline = !state.over && (own?.deadline() || game.position?.turnDeadline);
    clock.textContent = deadline ? `${words.clock(deadline)} left` : '';
    clock.className = deadline && words.until(deadline) < hurry ? 'bad' : '';
    const texts = [
      words.title(game),
      state.over ? words.ago(game.updateTime) : words.present(state),
    ];
    if (!game.ranked) texts.push(game.private ? 'private' : 'unranked');
    facts.textContent = texts.join(' · ');
  }
  /** @param {any} event */
  function speak(event) {
    const text = `${words.happened(state.game, event)}, ${words.plural(words.highest(event.position), 'point')}`;
    announce(state.over ? ending()[0] : text);
  }
  function command() {
    const { protocol, hostname, port } = new URL(site);
    const secure = protocol === 'https:';
    const host = `${hostname}:${port || (secure ? 443 : 80)}`;
    const { challengeId } = state.game;
    const game = state.game.private ? id : id.slice(0, 8);
    const text = `gridstand watch ${game} --server ${host}${secure ? ' --tls' : ''}`;
    links.append(h('p.dim', 'In a terminal:', h('code', text)));
    if (challengeId)
      links.firstChild.prepend(h('a.button', { href: `/c/${challengeId}` }, 'Challenge'));
  }

  function finished() {
    if (checked) return;
    checked = true;
    react.hidden = true;
    const { game } = state;
    if (game.challengeId) awaitSeed(game);
    else offerVerification();
    if (game.position.twenty48 && !game.challengeId && !own) links.firstChild.prepend(rematch(id));
  }
  /** Shows the position after the move in the address, if there is one. */
  async function openLinked() {
    if (!/^#\d+$/.test(location.hash)) return;
    const move = Number(location.hash.slice(1));
    await replay.load();
    const found = replay.past.findLast((e) => (e.position.moveCount || 0) === move);
    if (found) replay.seek(found.version);
    else history.replaceState(null, '', location.pathname);
  }
  function offerVerification() {
    // Without its history, a game cannot be verified.
    const check = () =>
      verify().catch(() => verdict.replaceChildren(h('a.button', { href: '' }, 'Verify again')));
    if (state.version > verifyLimit)
      verdict.append(h('button', { onclick: check }, 'Verify in this browser'));
    else check();
  }
  /** Verifies an attempt once its challenge has closed. @param {any} game */
  async function awaitSeed({ challengeId }) {
    const asked = persist('GetChallenge', { challengeId }, { anonymous: true });
    const got = await asked.catch(() => null);
    if (!got) return;
    challenge = got.challenge;
    words.sync(got.now);
    verdict.textContent = '';
    if (challenge.seed) return offerVerification();
    const wait = words.until(challenge.closeTime);
    verdict.textContent = 'This game can be verified when its challenge has closed.';
    setTimeout(awaitSeed, Math.min(Math.max(wait, 0) + 2e3, 2e9), { challengeId });
  }
  async function verify() {
    verdict.textContent = 'Verifying in this browser …';
    await replay.load();
    panel(state.game.position);
    const [first, last] = [replay.past[0], replay.past.at(-1)];
    // The last event has no seed if it was sent before the challenge was closed.
    const events = replay.past.with(-1, { ...last, seed: last.seed || challenge?.seed });
    let result = await verifyInSlices(events);
    const { challengeId, seedCommitment, variant } = first.created || {};
    // Otherwise a server that hides the challenge would prevent that the commitments are compared.
    if (
      challengeId !== challenge?.id ||
      (challenge && seedCommitment !== challenge.seedCommitment) ||
      (challenge && variant !== challenge.variant)
    )
      result = { ok: false, version: 1, problem: 'the challenge is not that of the game' };
    verdict.classList.add(result.ok ? 'good' : 'bad');
    if (result.ok) {
      const { tiles, moves } = result.checks;
      const right = tiles ? words.plural(tiles, 'tile') : words.plural(moves, 'move');
      verdict.textContent = `✓ Verified in this browser: seed, ${right} and the score are correct`;
    } else {
      const title = result.unknown ? 'Not verified' : 'This game is not valid';
      verdict.textContent = `✗ ${title}: version ${result.version}, ${result.problem}`;
    }
  }

  // A link to another move of the same game does not load the page again.
  if (!own) {
    addEventListener('hashchange', openLinked);
    replay.bind();
  }
  keys([
    ['f', 'full screen', () => play.requestFullscreen?.()],
    ['c', 'copy the link', () => copy(address())],
    soundKey,
  ]);
  if (own) {
    draw();
    const close = () => {
      stop();
      clearInterval(timer);
    };
    own.open({ state, replay, board, update: take, draw, close });
  }
}
