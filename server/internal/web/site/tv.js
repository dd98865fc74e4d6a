// The start page: TV, which shows a game worth watching, ways to play, and other live games.
import { isMine, look, watch } from './api.js';
import { createBoard, createRow, kindOf } from './board.js';
import { createDaily } from './daily-card.js';
import { announce, dailyLink, facts, h, keys } from './dom.js';
import * as words from './game-state.js';
import { celebrate, soundKey } from './moments.js';
import { names } from './names.js';
import { listPlaces, playAddress, raceNow } from './places.js';
import { offer, rise } from './reactions.js';
import { sample, variantCard } from './variant-card.js';
import * as table from './words.js';

// Milliseconds between the first two searches if no game is live; later ones are further apart.
// The first search can make the server start an exhibition within a second, which a later one finds.
const firstWait = 500;
const resultTime = 6e3; // how long a result is shown, in milliseconds
const idleTime = 60e3; // milliseconds without a move before TV switches to a game in motion
const otherTime = 10e3; // milliseconds between two searches for a game in motion
const goal = 2048; // the smallest tile that is celebrated
const wallSize = 6;
const wallTime = 3; // seconds between two reads of the boards on the wall
const restTime = 15; // seconds between two reads of what changes seldom
const placesTime = 10; // seconds between two reads of the open places

/**
 * @param {string} orderBy
 * @param {string} [status]
 * @returns {Promise<any[]>}
 */
async function games(orderBy, status = 'ACTIVE', pageSize = 20) {
  const request = { status: `GAME_STATUS_${status}`, orderBy: `ORDER_BY_${orderBy}`, pageSize };
  return (await look('ListGames', request)).games || [];
}

/** Returns the reason why a game is shown. @param {any} game */
function reasonFor(game) {
  if (game.exhibition) return 'an exhibition: only bots play';
  if (words.rank(game) > 2) return 'a game in progress';
  return words.rank(game) ? `the best live ${game.variant} game` : 'the most watched live game';
}

/**
 * Picks a game of the best class. Among those, it prefers games that were not shown yet, and skips the
 * last one shown unless there is no other.
 * @param {any[]} all the most watched game first @param {string[]} seen
 */
function choose(all, seen) {
  const best = all.toSorted((a, b) => words.rank(a) - words.rank(b));
  const [fresh, other] = [seen, seen.slice(-1)].map((but) => best.find((g) => !but.includes(g.id)));
  if (fresh && words.rank(fresh) <= words.rank(other)) return fresh;
  return other || best[0];
}

/**
 * Makes a row for a list of games, with a small board.
 * @param {any} game @param {boolean} [named] whether it says who plays
 */
export function gameRow(game, named = true) {
  const { element, board, name, about } = createRow(playAddress(game), kindOf(game.position));
  const update = (/** @type {any} */ g) => {
    board.show(g.position);
    const score = words.scoreText(g.position);
    name.replaceChildren(...(named ? names(g.seats) : [score]));
    const over = words.isOver(g);
    const [badge, color] = words.badge({ game: g, over }, 'live');
    facts(
      about,
      !over && g.seats.some(isMine) && 'Continue',
      words.title(g),
      named && score,
      over ? words.ago(g.updateTime) : color !== 'good' && badge,
      g.watchers && `◉ ${g.watchers}`,
    );
  };
  update(game);
  return { element, update };
}

/** @param {HTMLElement} root */
export default function show(root) {
  const stage = h('a.stage.board', { href: '/play/classic' });
  const name = h('h1', 'TV');
  const badge = h('span.dim', '◌ connecting');
  const about = h('p', badge);
  const reason = h('p.dim');
  const score = h('b.score');
  const react = h('div.react');
  const places = h('div.stack', { hidden: true });
  const list = h('ul.wall');
  const listTitle = h('h2', 'Live now');
  const caption = h('div', name, about, reason);
  const view = h('div.caption', caption, score, react);
  const play = h('a.button.primary.large', { href: '/play/classic' }, 'Play');
  const daily = dailyLink && createDaily();
  const below = h('section.stack', { hidden: true }, daily?.element, places, listTitle, list);
  root.append(
    h(
      'div.tv',
      h(
        'section.stack',
        h('p.lead', 'Play 2048. Everyone can watch.'),
        h('div.row.actions', play, raceNow()),
      ),
      h('section.watched.stack', stage, view),
      below,
    ),
  );

  let state = new words.State();
  /** @type {any} */
  let board;
  let close = () => {};
  /** @type {string[]} */
  const seen = [];
  let since = 0;
  let asked = false; // whether the viewer asked for this game
  let next = 0;
  let wait = firstWait;
  let finding = false;
  let frame = 0;
  /** The largest tile so far. */
  let largest = 0;
  /** The number of events since the last frame. */
  let news = 0;
  let connection = 'connecting';

  const running = () => state.game && !state.over;

  /** Shows a game. @param {any} game @param {string} why */
  function tune(game, why) {
    close();
    state = new words.State();
    const mine = !words.isOver(game) && game.seats.some(isMine);
    reason.replaceChildren(mine ? h('a.button', { href: playAddress(game) }, 'Continue') : why);
    largest = words.largestTile(game.position);
    since = performance.now();
    seen.push(game.id);
    seen.splice(0, seen.length - 100);
    stage.href = playAddress(game);
    take({ game });
    if (!running()) return;
    offer(react, () => running() && state.game.id);
    close = watch(`g/${game.id}`, {
      onUpdate: take,
      onState(now) {
        connection = now === 'offline' ? 'reconnecting' : now;
        draw();
      },
      onError() {
        state = new words.State();
      },
    });
  }
  /** @param {any} update */
  function take(update) {
    const changed = state.apply(update);
    const { event, reactions } = update;
    if (reactions) rise(stage, reactions);
    if (changed && event) {
      const tile = words.largestTile(event.position);
      if (tile > largest && tile >= goal) celebrate(table.newTile(`${tile}`), '.stage');
      largest = Math.max(largest, tile);
      if (state.over) reason.textContent = '';
      news++;
      const { game } = state;
      announce(
        `${words.players(game)}: ${words.happened(game, event)}, ${words.scoreText(game.position)}`,
        4000,
      );
    }
    if (changed && state.over) next = performance.now() + resultTime;
    if (!frame) frame = requestAnimationFrame(draw);
    return changed !== undefined;
  }
  /** @param {'twenty48' | 'tribolo'} kind */
  function place(kind) {
    if (board?.kind === kind) return;
    board = createBoard(kind);
    stage.replaceChildren(board.element);
  }
  function draw() {
    frame = 0;
    const { game, over } = state;
    if (!game) return;
    place(kindOf(game.position));
    board.show(game.position, state.events.at(-1), { animate: news === 1 });
    news = 0;
    const [text, color] = over ? words.outcome(game, -1) : words.badge(state, connection);
    badge.textContent = text;
    badge.className = color;
    name.replaceChildren(...names(game.seats));
    score.textContent = words.scoreText(game.position);
    view.classList.toggle('over', over);
    facts(about, badge, game.variant, !over && words.watching(state));
  }

  /** Searches for another game. */
  async function find(byUser = false) {
    if (finding) return;
    finding = true;
    next = performance.now() + (running() ? otherTime : wait);
    wait = Math.min(wait * 2, 15e3);
    try {
      const lists = await Promise.all([games('WATCHERS'), games('SCORE'), games('RECENT')]);
      const found = choose(lists.flat(), seen);
      const better =
        found &&
        found.id !== state.game?.id &&
        (!running() || words.rank(found) < words.rank(state.game));
      if (found && (byUser || better)) {
        wait = firstWait;
        asked = byUser;
        tune(found, reasonFor(found));
      } else if (!state.game) await nothing();
    } catch {
      if (!state.game) badge.textContent = '◌ reconnecting';
    }
    finding = false;
    setTimeout(tick, next - performance.now()); // without waiting for the interval's next tick
  }
  /** Shows the last finished game if none is live. */
  async function nothing() {
    const [game] = await games('RECENT', 'FINISHED', 1);
    if (game) return tune(game, 'No live games: this was the last one.');
    board.show(sample({ rows: 4, columns: 4 }, 0));
    name.textContent = 'No live games';
    badge.textContent = 'Yours can be the first.';
  }

  /** The boards of the wall, and the IDs of their games. @type {any[]} */
  let rows = [];
  /** @type {string | undefined} */
  let listed;
  /** Fills the wall with live games, or else finished ones, or else the variants. */
  async function fillWall() {
    const others = (/** @type {any[]} */ all) =>
      all.filter((g) => g.id !== state.game?.id).slice(0, wallSize);
    let on = others(await games('RECENT', 'ACTIVE', wallSize + 1));
    let title = on.some((g) => words.idle(g) < 30e3) ? 'Live now' : 'Games in progress';
    let variants = [];
    if (!on.length) {
      on = others(await games('RECENT', 'FINISHED', wallSize + 1));
      title = 'Played last';
    }
    if (!on.length) {
      variants = (await look('ListVariants')).variants;
      title = 'Choose a board';
    }
    on.sort((a, b) => Date.parse(b.createTime) - Date.parse(a.createTime));
    listTitle.textContent = title;
    const ids = on.map((game) => game.id).join();
    if (ids === listed)
      return on.forEach((game, i) => {
        rows[i].update(game);
      });
    listed = ids;
    rows = on.map((game) => gameRow(game));
    list.replaceChildren(
      ...rows.map((row) => row.element),
      ...variants.map((/** @type {any} */ v, /** @type {number} */ i) =>
        h('li', variantCard(v, i, { brief: true })),
      ),
    );
  }
  let ticks = 0;
  async function tick() {
    if (document.hidden) return;
    draw();
    const now = performance.now();
    // If the game was already idle when TV chose it, the server may start an exhibition.
    const least = asked ? idleTime : firstWait;
    const dull = () =>
      words.idle(state.game) >= idleTime || [2, 4].includes(words.rank(state.game));
    const due = !running() || (dull() && now - since >= least);
    if (due && now >= next) find();
    const tick = ticks++;
    await Promise.allSettled([
      tick || daily?.loaded,
      tick % placesTime || listPlaces(places, 2),
      tick % (rows.length ? wallTime : restTime) || fillWall(),
    ]);
    if (!tick) below.hidden = false; // with all parts, so that none moves another
  }
  place('twenty48');
  board.show();
  tick();
  setInterval(tick, 1000);
  setTimeout(() => {
    below.hidden = false; // even if the server is slow
  }, 1000);

  keys([['n', 'next game', () => find(true)], soundKey, ['Enter', '', () => play.click()]]);
}
