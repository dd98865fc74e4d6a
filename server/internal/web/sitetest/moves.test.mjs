// Tests the queue of a player's moves, with a server whose answers the test releases.

import assert from 'node:assert/strict';
import { test } from 'node:test';

// The page's elements are not looked at.
const element = new Proxy(() => element, { get: () => element, set: () => true });
globalThis.document = element;
const { createMoves } = await import('../site/moves.js');

test('moves made before the answer wait, and are sent for the version that follows', async (t) => {
  const game = { id: 'g', version: 1 };
  const sent = [];
  let answer;
  t.mock.method(globalThis, 'fetch', async (_, { body }) => {
    sent.push(JSON.parse(body));
    await new Promise((resolve) => {
      answer = resolve;
    });
    return {
      ok: true,
      headers: new Headers(),
      json: async () => ({ event: { version: sent.length + 1 } }),
    };
  });
  const moves = createMoves({
    ahead: 3,
    game: () => game,
    legal: () => true,
    sent() {},
    update: ({ event }) => {
      game.version = event.version;
    },
    refresh: assert.fail,
    refused: assert.fail,
    delayed: assert.fail,
  });
  const directions = ['DIRECTION_UP', 'DIRECTION_LEFT', 'DIRECTION_DOWN', 'DIRECTION_RIGHT'];
  for (const direction of [...directions, 'DIRECTION_UP']) moves.push({ direction }); // One too many.
  for (let n = 1; n <= directions.length; n++) {
    for (let turn = 0; sent.length < n && turn < 1000; turn++) await new Promise(setImmediate);
    assert.equal(sent.length, n, 'one request is in flight');
    answer();
  }
  assert.deepEqual(
    sent,
    directions.map((direction, i) => ({ gameId: 'g', version: i + 1, direction })),
  );
});
