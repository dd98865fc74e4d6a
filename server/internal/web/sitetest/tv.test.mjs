// Tests the start page.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element, serve, settle } from './dom.mjs';

const { hear } = await import('../site/game-state.js');
const { default: show } = await import('../site/tv.js');

const at = (time) => new Date(Date.parse('2026-11-20T12:00:00Z') + time);

test('the title of the wall follows the games on it', async (t) => {
  globalThis.BroadcastChannel = undefined; // It would keep the test running.
  globalThis.requestAnimationFrame = () => 1;
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const times = { createTime: at(0).toISOString(), updateTime: at(0).toISOString() };
  const position = { moveCount: 1, scores: [4], twenty48: { rows: 4, columns: 4, tiles: [4] } };
  const game = { variant: 'classic', seats: [{ bot: 'greedy' }], version: 1, position, ...times };
  const games = ['a', 'b'].map((id) => ({ id, ...game }));
  serve((method) => (method === 'ListGames' ? { games } : { challenges: [] }));
  const { fetch } = globalThis;
  globalThis.fetch = (url, options) =>
    url.includes('/events') ? new Promise(() => {}) : fetch(url, options);
  hear(at(10e3).toUTCString());
  const root = element();
  show(root);
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
