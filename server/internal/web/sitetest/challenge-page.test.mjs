// Tests the page of a challenge.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { element, serve, settle } from './dom.mjs';

document.querySelector = (selector) => (selector.includes('/daily') ? element('a') : null); // in the header
const { setAccount } = await import('../site/api.js');
const { open } = await import('../site/challenge.js');

const created = '2026-11-20T12:00:00Z';
const ada = { player: { id: 'ada', name: 'ada' }, gameId: 'g' };
const race = {
  id: 'c',
  kind: 'CHALLENGE_KIND_RACE',
  variant: 'classic',
  limit: '180s',
  status: 'CHALLENGE_STATUS_WAITING',
  seedCommitment: '',
  createTime: created,
  startTime: '2026-11-20T12:01:00Z',
  creator: { id: 'ada', name: 'ada' },
  entrants: [ada],
};
/** Opens a page as the player me. answer gets the calls, and stream the requests for a stream. */
async function show(t, answer, stream = () => new Promise(() => {}), me = ada.player) {
  globalThis.BroadcastChannel = undefined; // It would keep the test running.
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const opened = performance.now();
  t.mock.method(performance, 'now', () => opened); // Time passes only by pass.
  setAccount({ ...me, token: 'a.b' });
  serve(answer);
  const { fetch } = globalThis;
  globalThis.fetch = (url, options) =>
    url.includes('/events') ? stream(url) : fetch(url, options);
  const root = element();
  document.body.append(root);
  await open(root, { challengeId: 'c' });
  await settle();
  return root;
}
/** Lets time pass on the page. */
function pass(t, ms) {
  const now = performance.now() + ms;
  t.mock.method(performance, 'now', () => now);
  t.mock.timers.tick(ms);
}
beforeEach(() => document.body.replaceChildren());

test("the player's own action does not set the clock back", async (t) => {
  const root = await show(t, (method) => {
    if (method === 'GetChallenge') return { challenge: race, now: created };
    if (method === 'JoinChallenge')
      return { challenge: { ...race, entrants: [{ ...ada, ready: true }] } };
    return { variants: [] };
  });
  assert.match(root.textContent, /It starts in 1:00/);
  pass(t, 30e3);
  assert.match(root.textContent, /It starts in 0:30/);
  root.find('button', 'Ready').click();
  await settle();
  assert.match(root.textContent, /✓ ready/);
  assert.match(root.textContent, /It starts in 0:30/);
});

test("a race's roster marks the player's own place", async (t) => {
  const bob = { player: { id: 'bob', name: 'bob' }, gameId: 'h' };
  const challenge = { ...race, entrants: [ada, bob] };
  const root = await show(t, (method) =>
    method === 'GetChallenge' ? { challenge, now: created } : { variants: [] },
  );
  const cards = root.all().filter((e) => e.className === 'card');
  assert.deepEqual(
    cards.map((card) => card.textContent),
    ['ada(you)not ready', 'bobnot ready'],
  );
});

test('what a waiting player reads about others does not move the buttons', async (t) => {
  const root = await show(t, (method) => {
    if (method === 'GetChallenge') return { challenge: race, now: created };
    return method === 'ListGames' ? { games: [] } : { variants: [] };
  });
  assert.match(root.textContent, /Leave.*Nobody else plays right now.*Copy link/);
});

test('a watcher of a race sees who takes the lead above all boards', async (t) => {
  globalThis.requestAnimationFrame = setImmediate;
  const bob = { player: { id: 'bob', name: 'bob' }, gameId: 'h' };
  const challenge = { ...race, status: 'CHALLENGE_STATUS_OPEN', entrants: [ada, bob] };
  challenge.closeTime = '2026-11-20T12:03:00Z';
  const scores = (a, b) => [
    { ...a, rank: 1, score: 8 },
    { ...b, rank: 2, score: 4 },
  ];
  let send;
  const body = new ReadableStream({
    start(controller) {
      const text = new TextEncoder();
      send = (standings) =>
        controller.enqueue(
          text.encode(`data: ${JSON.stringify({ challenge, standings, etag: '1' })}\n\n`),
        );
    },
  });
  const never = new Promise(() => {});
  const root = await show(
    t,
    (method) => (method === 'GetChallenge' ? { challenge, now: created } : never),
    (url) =>
      url.includes('c/c') ? { ok: true, status: 200, headers: new Headers(), body } : never,
    { id: 'eve', name: 'eve' },
  );
  send(scores(ada, bob));
  await settle();
  const wall = root.all().find((e) => e.className === 'wall');
  t.mock.method(document, 'querySelector', (selector) =>
    selector === ':has(> .wall)' ? wall.parent : null,
  );
  send(scores(bob, ada));
  await settle();
  assert.match(wall.parent.textContent, /bob takes the lead/);
});

test('a closed challenge leads to a page that every server has', async (t) => {
  for (const [kind, href] of [
    ['RACE', '/race'],
    ['DAILY', '/daily'],
    ['LINK', '/play/3x3'],
    ['REMATCH', '/play/3x3'],
  ]) {
    const closed = { ...race, kind: `CHALLENGE_KIND_${kind}`, variant: '3x3' };
    closed.status = 'CHALLENGE_STATUS_CLOSED';
    const root = await show(t, () => ({ challenge: closed, now: created }), undefined, null);
    assert.equal(root.find('a', 'Play').href, href);
    t.mock.timers.reset();
  }
});

test('the page says that it has lost its connection, until it has one again', async (t) => {
  let connected = false;
  const root = await show(
    t,
    (method) => (method === 'GetChallenge' ? { challenge: race, now: created } : { variants: [] }),
    async () => {
      if (!connected) throw TypeError('no network');
      return { ok: true, status: 200, headers: new Headers(), body: new ReadableStream() };
    },
  );
  assert.match(root.textContent, /1 of 8 are here · reconnecting/);
  connected = true;
  pass(t, 1e3);
  await settle();
  assert.doesNotMatch(root.textContent, /reconnecting/);
});

const gone = { code: 'not_found', message: 'there is no such challenge' };
const refusal = { ok: false, status: 404, headers: new Headers(), json: async () => gone };

test('the page of a waiting race that has been deleted says so', async (t) => {
  const root = await show(
    t,
    (method) => (method === 'GetChallenge' ? { challenge: race, now: created } : { variants: [] }),
    async () => refusal,
  );
  assert.match(root.textContent, /There is no such challenge/);
  assert.equal(root.find('button', 'Ready'), undefined);
});

/**
 * Opens the page of a challenge with the player's finished game, which ended for the reason. send sends news to it, end ends the
 * stream, and rank sets the player's standing.
 */
async function finished(t, challenge, mine, me = ada.player, reason = 'REASON_RESIGNED') {
  const rank = (standing) => {
    mine = standing;
  };
  globalThis.requestAnimationFrame = setImmediate;
  const twenty48 = { rows: 4, columns: 4, tiles: Array(16).fill(2) };
  const position = { moveCount: 1, scores: [4], twenty48 };
  const result = { reason, scores: [4] };
  const status = 'GAME_STATUS_FINISHED';
  const seats = [{ player: me }];
  const game = { id: 'g', variant: 'classic', seats, version: 2, position, status, result };
  let send;
  let end;
  let ended = false;
  const body = new ReadableStream({
    start(controller) {
      const text = new TextEncoder();
      end = () => {
        ended = true;
        controller.close();
      };
      send = (news) =>
        controller.enqueue(
          text.encode(`data: ${JSON.stringify({ challenge, etag: '1', ...news })}\n\n`),
        );
    },
  });
  const root = await show(
    t,
    (method) => {
      if (method === 'GetGame') return { game };
      if (method === 'GetChallenge') return { challenge, now: created, attempt: { gameId: 'g' } };
      return method === 'ListStandings' ? { standings: mine && [mine], total: 9 } : {};
    },
    async (url) => {
      if (ended) return refusal;
      const status = url.includes('c/c') ? 200 : 204;
      return { ok: true, status, headers: new Headers(), body };
    },
    me,
  );
  return { root, send, end, rank };
}

test('a rank that the standings do not have yet is read again', async (t) => {
  const link = { ...race, kind: 'CHALLENGE_KIND_LINK', status: 'CHALLENGE_STATUS_OPEN' };
  const { root, rank } = await finished(t, link);
  pass(t, 300);
  await settle();
  assert.doesNotMatch(root.textContent, /9th/);
  rank({ ...ada, rank: 9, score: 4, finished: true });
  pass(t, 500);
  await settle();
  assert.match(root.textContent, /9th of 9/);
  assert.equal(root.find('a', 'Replay').href, '/g/g');
});

test('the rank of a player whom others push out of the first lines keeps its total', async (t) => {
  const link = { ...race, kind: 'CHALLENGE_KIND_LINK', status: 'CHALLENGE_STATUS_OPEN' };
  const mine = { ...ada, rank: 9, score: 4, finished: true };
  const { root, send, end } = await finished(t, link, mine);
  send({ standings: [mine], total: 9 });
  await settle();
  assert.match(root.textContent, /9th of 9/);
  send({ standings: [{ gameId: 'h', rank: 1, score: 8, bot: 'greedy' }], total: 500 });
  await settle();
  assert.match(root.textContent, /9th of 9/);
  end(); // The player's game stays.
  await settle();
  pass(t, 60e3);
  await settle();
  assert.match(root.textContent, /9th of 9/);
});

test('the result of a race with equal scores says why one of the players wins', async (t) => {
  const closed = {
    ...race,
    status: 'CHALLENGE_STATUS_CLOSED',
    openTime: created,
    closeTime: created,
  };
  const mine = { ...ada, rank: 1, score: 4, finished: true };
  const { root, send } = await finished(t, closed, mine);
  const other = { gameId: 'h', rank: 2, score: 4, bot: 'greedy', finished: true };
  send({ standings: [mine, other], total: 2 });
  await settle();
  assert.match(
    root.textContent,
    /You win: .*1st of 2, level with greedy\. A tie: the earlier one wins/,
  );
  mine.score = other.score = 0;
  send({ standings: [mine, other], total: 2 });
  await settle();
  assert.doesNotMatch(root.textContent, /win/);
  const third = { gameId: 'i', rank: 2, score: 8, bot: 'minimax', finished: true };
  Object.assign(other, { rank: 1, score: 8 });
  Object.assign(mine, { rank: 3, score: 4 });
  send({ standings: [other, third, mine], total: 3 });
  await settle();
  assert.match(root.textContent, /3rd of 3/);
  assert.doesNotMatch(root.textContent, /tie/);
});

test('a race asks a guest for a name only after a result with points', async (t) => {
  const closed = { ...race, status: 'CHALLENGE_STATUS_CLOSED', closeTime: created };
  const guest = { id: 'ada', name: 'guest-abc234' };
  const mine = { ...ada, player: guest, rank: 1, score: 0, finished: true };
  const { root, send } = await finished(t, closed, mine, guest, 'REASON_TIMED_OUT');
  send({ standings: [mine], total: 2 });
  await settle();
  assert.match(root.textContent, /1st of 2/);
  assert.doesNotMatch(root.textContent, /A good result/);
  mine.score = 4;
  send({ standings: [mine], total: 2 });
  await settle();
  assert.match(root.textContent, /A good result/);
});

test("the standings have the player's new name as soon as it is chosen", async (t) => {
  const link = { ...race, kind: 'CHALLENGE_KIND_LINK', status: 'CHALLENGE_STATUS_CLOSED' };
  const player = { id: 'ada', name: 'guest-abc234' };
  const mine = { player, gameId: 'g', rank: 9, score: 4, finished: true };
  const { root, send } = await finished(t, link, mine, player, 'REASON_TIMED_OUT');
  send({ standings: [mine], total: 9 });
  await settle();
  assert.match(root.textContent, /9guest-abc2344/);
  setAccount({ id: 'ada', name: 'ada', token: 'a.b' });
  pass(t, 1e3);
  await settle();
  assert.match(root.textContent, /9ada4/);
});
