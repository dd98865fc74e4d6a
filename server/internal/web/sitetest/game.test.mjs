// Tests the page of a game.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element, settle } from './dom.mjs';
import { ada, Writer } from './testgame.mjs';

const { default: show } = await import('../site/game-view.js');

globalThis.BroadcastChannel = undefined; // It would keep the test running.
globalThis.requestAnimationFrame = setImmediate;

test('the buttons of reactions go when the game ends', async (t) => {
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
  assert.match(root.textContent, /finished.*Verify again/, 'the history was not sent');
  assert.equal(row.hidden, true);
});

test('an attempt is refused if the challenge that the server shows is not that of the game', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  t.mock.method(performance, 'now', () => 0); // so that the verifier never pauses
  const verified = /Verified in this browser/;
  const refused = /not valid: version 1, the challenge is not that of the game/;
  const attempts = [
    [{}, verified],
    [{ challengeId: 'c' }, refused],
    [{ challengeId: 'c' }, verified, {}],
    [{ challengeId: 'c' }, refused, { seedCommitment: 'AAAA' }],
    [{ challengeId: 'c' }, refused, { variant: 'twos' }],
  ];
  for (const [fields, verdict, changed] of attempts) {
    const { events } = new Writer([ada], 0, fields).move().abandon();
    const { version, position, result } = events.at(-1);
    const { seats, variant } = events[0].created;
    const status = 'GAME_STATUS_FINISHED';
    const game = { id: events[0].gameId, variant, seats, version, position, status, result };
    if (changed) game.challengeId = 'c';
    const { seedCommitment } = events[0].created;
    const challenge = { id: 'c', variant, seedCommitment, seed: events.at(-1).seed, ...changed };
    globalThis.fetch = async (url) => {
      const updates = url.includes('preview') ? events.map((event) => ({ event })) : [{ game }];
      const texts = updates.map((u) => `data: ${JSON.stringify(u)}\n\n`);
      const body = ReadableStream.from(texts).pipeThrough(new TextEncoderStream());
      const got = changed ? { challenge } : {};
      return { ok: true, status: 200, headers: new Headers(), body, json: async () => got };
    };
    const root = element();
    document.body.append(root);
    show(root, { id: game.id });
    await settle();
    assert.match(root.textContent, verdict);
  }
});
