// A game: live, its past, and after its end whether it is what its seed and moves make.
import { account, watch } from './api.js';
import { createBoard, kindOf } from './board.js';
import { announce, copy, h, keys, toast } from './dom.js';
import * as words from './game-state.js';
import { createMoves, createScores } from './panel.js';
import { createReplay } from './replay.js';

const { plural } = words;
const verifyLimit = 8000; // the events of a game that is verified without a click
const hurry = 10e3; // milliseconds left from which on the clock is red

/** What a page says instead of a game. @type {Record<string, string>} */
const titles = { not_found: 'No such game', data_loss: 'This game is damaged' };

/** @param {HTMLElement} root @param {string} title @param {string} text */
function problem(root, title, text) {
  const back = h('a.button.primary', { href: '/' }, 'Watch what is on');
  root.replaceChildren(h('div.empty', h('h1', title), h('p', text), back));
}

/**
 * @param {HTMLElement} root
 * @param {{id?: string}} data
 * @param {import('./own.js').OwnSeat} [own] the seat of a player who plays here
 */
export default function show(root, { id = '' }, own) {
  if (!/^[a-z2-7]{26}$/.test(id))
    return problem(root, titles.not_found, 'This is not the id of a game.');

  const state = new words.State();
  /** @type {any} */
  let board = null;
  /** The event that came since the last drawing, null if there were several. @type {any} */
  let latest = null;
  let drawn = 0;
  let frame = 0;
  let connection = 'connecting';
  let checked = false;

  const badge = h('span');
  const clock = h('b');
  const facts = h('span.dim');
  const scores = createScores(own);
  const stage = h('div.board');
  const outcome = h('b');
  const sit = h('a.button', { hidden: true });
  const verdict = h('p.verdict', { role: 'status' });
  const share = () => copy(`${location.origin}/g/${id}`);
  const links = h('div.stack', h('button', { onclick: share }, 'Copy link'));
  const replay = createReplay(state, showPast);
  const moves = createMoves(state, replay.seek);
  const head = h('div.row', badge, clock, facts);
  const view = h(own ? 'div.game.own' : 'div.game', h('section.stack', head, scores.element));
  const play = h('section.play.stack', stage, replay.element);
  // These come with the board, so that nothing moves when it does.
  const rest = [
    play,
    h('section.stack', outcome, sit, own?.element, verdict, moves.element, links),
  ];
  root.append(view);

  /** Takes an update of the stream, or the answer to a move. @param {any} update */
  function take(update) {
    const changed = state.apply(update);
    const { event } = update;
    if (changed) {
      latest = event?.version === drawn + 1 ? event : null;
      replay.update(event);
      if (event) speak(event);
      if (state.over) finished();
    }
    if (own && state.version > drawn) {
      draw();
      own.changed(event);
    } else if (!frame && !own) frame = requestAnimationFrame(draw);
    if (own && changed === undefined) own.refresh().catch(toast);
    return !!own || changed !== undefined;
  }
  if (own) state.apply({ game: own.first });
  const stop = watch(id, {
    after: own?.first.version,
    everyEvent: !!own,
    onUpdate: take,
    onState(now, wait = 0) {
      connection = now === 'offline' ? `reconnecting (${Math.ceil(wait)} s)` : now;
      status();
    },
    onEnd: status,
    onError(err) {
      problem(root, titles[err.code] || 'This game cannot be shown', err.message);
    },
  });
  const timer = setInterval(status, 1000);

  /** Draws what came since the last frame. */
  function draw() {
    frame = 0;
    const { game } = state;
    if (!game?.position) return;
    const kind = kindOf(game.position);
    if (board?.kind !== kind) {
      board = createBoard(kind, own && ((cell) => own.move({ cell })));
      stage.replaceChildren(board.element);
      document.title = `${words.players(game)} – Gridstand`;
      command();
      view.append(...rest);
    }
    if (!replay.at) showNow(latest);
    latest = null;
    drawn = state.version;
  }
  /** Shows the newest version. @param {any} event that led to it, if it is to be animated */
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
  /** @param {any} position */
  function panel(position) {
    const { game, version } = state;
    scores.show(game.seats, position);
    const open = game.seats.filter((/** @type {any} */ s) => s.open).length;
    let text = open ? `Waiting for ${plural(open, 'player')}` : '';
    if (state.over && !replay.at) text = words.outcome(game);
    else if (position.turn !== undefined && position.tribolo)
      text = own?.mine() && !replay.at ? 'Your turn' : `${words.owners[position.turn]} to move`;
    outcome.textContent = text;
    const mine = words.seatOf(game, account()?.id) >= 0;
    sit.hidden = own || state.over || !(open || mine);
    sit.textContent = mine ? 'Play on' : 'Take a seat';
    sit.href = `/play/${game.variant}?game=${id}`;
    moves.show(replay.past.length >= version ? replay.past : state.events, replay.at || version);
    status();
  }

  function status() {
    const { game } = state;
    const [text, color] = replay.at ? ['❚❚ replay', 'dim'] : words.badge(state, connection);
    badge.textContent = text;
    badge.className = color;
    if (!game) return;
    const deadline = !state.over && game.position?.turnDeadline;
    clock.textContent = deadline ? `${words.clock(deadline)} left` : '';
    clock.className = deadline && Date.parse(deadline) - Date.now() < hurry ? 'bad' : '';
    const texts = [
      words.title(game),
      state.over ? words.ago(game.updateTime) : words.watching(state),
    ];
    if (!game.ranked) texts.push(game.private ? 'private' : 'unranked');
    facts.textContent = texts.join(' · ');
  }
  /** @param {any} event */
  function speak(event) {
    const text = `${words.happened(state.game, event)}, ${plural(words.highest(event.position), 'point')}`;
    announce(state.over ? words.ending(state.game) : text);
  }
  function command() {
    const secure = location.protocol === 'https:';
    const host = `${location.hostname}:${location.port || (secure ? 443 : 80)}`;
    const game = state.game.private ? id : id.slice(0, 8);
    const text = `gridstand watch ${game} --server ${host}${secure ? ' --tls' : ''}`;
    links.append(h('p.dim', 'In a terminal:', h('code', text)));
  }

  function finished() {
    if (checked) return;
    checked = true;
    if (state.version > verifyLimit)
      verdict.append(h('button', { onclick: verify }, 'Verify in this browser'));
    else verify().catch(() => verdict.replaceChildren());
  }
  async function verify() {
    verdict.textContent = 'Verifying in this browser …';
    const { verifyInSlices } = await import('./verify.js');
    await replay.load();
    panel(state.game.position);
    const result = await verifyInSlices(replay.past);
    verdict.classList.add(result.ok ? 'good' : 'bad');
    if (result.ok) {
      const { tiles, moves } = result.checks;
      const right = tiles ? plural(tiles, 'tile') : plural(moves, 'move');
      verdict.textContent = `✓ Verified in this browser: seed, ${right} and the score are right`;
    } else {
      const title = result.unknown ? 'Not verified' : 'This game is not right';
      verdict.textContent = `✗ ${title}: version ${result.version}, ${result.problem}`;
    }
  }

  keys([
    ['f', 'full screen', () => play.requestFullscreen?.()],
    ['c', 'copy the link', share],
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
