// Tests the page of a game.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element, settle } from './dom.mjs';

const { default: show } = await import('../site/game.js');

test('the buttons of reactions go when the game ends', async (t) => {
  globalThis.BroadcastChannel = undefined; // It would keep the test running.
  globalThis.requestAnimationFrame = setImmediate;
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const twenty48 = { rows: 4, columns: 4, tiles: Array(16).fill(2) };
  const position = { moveCount: 1, scores: [4], twenty48 };
  const status = 'GAME_STATUS_ACTIVE';
  const seats = [{ bot: 'greedy' }];
  const game = { id: 'g', variant: 'classic', seats, version: 2, position, status };
  const result = { reason: 'REASON_ABANDONED', scores: [4] };
  const event = { version: 3, abandoned: {}, position, result };
  let send;
  const end = new Promise((resolve) => {
    send = () => resolve(`data: ${JSON.stringify({ event })}\n\nevent: end\ndata: {}\n\n`);
  });
  let streams = 0;
  globalThis.fetch = async (url) => {
    const text = new TextEncoder();
    const body = new ReadableStream({
      async start(controller) {
        controller.enqueue(text.encode(`data: ${JSON.stringify({ game })}\n\n`));
        controller.enqueue(text.encode(await end));
        controller.close();
      },
    });
    const live = url.includes('/events') && !streams++;
    const json = async () => ({ reactions: true });
    return { ok: true, status: live ? 200 : 204, headers: new Headers(), body, json };
  };
  const root = element();
  document.body.append(root);
  show(root, { id: 'g' });
  await settle();
  const row = root.all().find((e) => e.className === 'react');
  assert.equal(row.children.length, 6);
  assert.equal(row.hidden, false);
  send();
  await settle();
  assert.match(root.textContent, /finished/);
  assert.equal(row.hidden, true);
});
