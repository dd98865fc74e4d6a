// Tests the start page.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element, serve, settle } from './dom.mjs';

document.querySelector = (selector) => (selector.includes('/daily') ? element('a') : null); // in the header
const { hear } = await import('../site/game-state.js');
const { default: show, gameRow } = await import('../site/tv.js');

const at = (time) => new Date(Date.parse('2026-11-20T12:00:00Z') + time);

/**
 * Shows the page at a time with two games whose last moves were at the time 0. The server does not answer calls whose
 * address contains silent.
 */
function open(t, now, silent = '/events') {
  globalThis.BroadcastChannel = undefined; // It would keep the test running.
  globalThis.requestAnimationFrame = () => 1;
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const times = { createTime: at(0).toISOString(), updateTime: at(0).toISOString() };
  const position = { moveCount: 1, scores: [4], twenty48: { rows: 4, columns: 4, tiles: [4] } };
  const game = { variant: 'classic', seats: [{ bot: 'greedy' }], version: 1, position, ...times };
  const games = ['a', 'b'].map((id) => ({ id, ...game }));
  serve((method) => {
    if (method === 'GetChallenge') return { code: 'not_found' };
    return method === 'ListGames' ? { games } : { challenges: [] };
  });
  const { fetch } = globalThis;
  globalThis.fetch = (url, options) =>
    url.includes(silent) || url.includes('/events') ? new Promise(() => {}) : fetch(url, options);
  hear(at(now).toUTCString());
  const root = element();
  show(root);
  return root;
}

test('a game without moves for minutes is not called live', async (t) => {
  const root = open(t, 600e3);
  await settle();
  assert.match(root.textContent, /a game in progress/);
  assert.doesNotMatch(root.textContent, /best live/);
});

test('what is below the board appears at once, and late if the server is slow', async (t) => {
  const part = (root) => root.children[0].children[2];
  const quick = part(open(t, 10e3));
  assert.equal(quick.hidden, true);
  await settle();
  assert.equal(quick.hidden, false);
  for (const silent of ['/', '/ListChallenges', '/GetChallenge']) {
    t.mock.timers.reset();
    const slow = part(open(t, 10e3, silent));
    await settle();
    t.mock.timers.tick(999);
    await settle();
    assert.equal(slow.hidden, true, silent);
    t.mock.timers.tick(1);
    await settle();
    assert.equal(slow.hidden, false, silent);
  }
});

test('the title of the wall follows the games on it', async (t) => {
  const root = open(t, 10e3);
  for (const [time, title] of [
    [11e3, 'Live now'],
    [60e3, 'Games in progress'],
  ]) {
    hear(at(time).toUTCString());
    for (let i = 0; i < 20; i++) {
      t.mock.timers.tick(1000);
      await settle();
    }
    assert.equal(
      root
        .all()
        .filter((e) => e.name === 'h2')
        .at(-1).textContent,
      title,
    );
  }
});

test('the card of the daily game counts down, and shows the next one after midnight', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  let now = 0;
  let away = false;
  const calls = serve(() => {
    if (away) return { code: 'unavailable' };
    const day = now < 60e3 ? 1 : 2;
    const kind = 'CHALLENGE_KIND_DAILY';
    const closeTime = at(day * 60e3).toISOString();
    const challenge = { id: 'c', kind, variant: 'classic', closeTime, createTime: '' };
    return { challenge, now: at(now).toISOString() };
  });
  const { createDaily } = await import('../site/daily-card.js');
  hear(at(0).toUTCString());
  const { element: card } = createDaily();
  await settle();
  const begin = performance.now();
  const pass = async (ms) => {
    now = ms;
    t.mock.method(performance, 'now', () => begin + ms);
    t.mock.timers.tick(1000);
    await settle();
  };
  assert.match(card.textContent, /everyone · 1:00 left/);
  await pass(20e3);
  assert.match(card.textContent, /everyone · 0:40 left/);
  const before = calls.length;
  away = true;
  for (const ms of [63e3, 64e3, 65e3]) await pass(ms);
  assert.equal(calls.length, before + 2, 'with the token, and without');
  away = false;
  await pass(90e3);
  assert.match(card.textContent, /everyone · 0:30 left/);
});

test('the facts of a card break only between them', () => {
  const position = { moveCount: 1, scores: [192], twenty48: { rows: 4, columns: 4, tiles: [4] } };
  const game = { variant: 'classic', seats: [{ bot: 'greedy' }], position, watchers: 1 };
  hear(at(0).toUTCString());
  const { element: card } = gameRow({ ...game, updateTime: at(-61e3).toISOString() });
  const texts = ['classic', ' · 192', ' · ○ idle 1 min', ' · ◉ 1'];
  const about = card.find('small');
  assert.deepEqual(
    about.children.map((fact) => fact.textContent),
    texts,
  );
});
