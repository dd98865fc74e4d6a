// Tests the streams of events.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dispatch, mockTime, settle } from './dom.mjs';

test('a browser that denies storage, and with it channels to other windows, follows a game', async () => {
  globalThis.BroadcastChannel = class {
    constructor() {
      throw new DOMException('The operation is insecure.', 'SecurityError');
    }
  };
  const { watch } = await import('../site/api.js');
  const body = new Blob(['data: {"audience":4}\n\n', 'event: end\ndata: {}\n\n']).stream();
  globalThis.fetch = async () => ({ ok: true, status: 200, headers: new Headers(), body });
  const got = [];
  await new Promise((onEnd) => watch('g/g', { onUpdate: (u) => got.push(u) && undefined, onEnd }));
  await settle();
  assert.deepEqual(got, [{ audience: 4 }]);
});

test('a page without a network leaves connections for when it returns', async (t) => {
  mockTime(t);
  let made = 0; // connections that the browser still tries to make: for two minutes, also after an abort
  globalThis.fetch = (_, { signal }) => {
    made++;
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  };
  const { watch } = await import('../site/api.js');
  const { persist } = await import('../site/persist.js');
  const close = watch('g/g', { onUpdate: () => undefined });
  persist('Move', {}, { onWait: () => {} });
  for (let time = 0; time < 120; time++) {
    await settle();
    t.mock.timers.tick(1000);
  }
  close();
  assert.ok(made > 2, 'both try again');
  assert.ok(made < 7, `${made} connections`);
});

/** Watches a game whose stream is open and silent. Returns its states, and what ends the watch. */
async function watchSilence(t) {
  mockTime(t);
  globalThis.fetch = async (_, { signal }) => {
    const body = new ReadableStream({
      start: (c) => signal.addEventListener('abort', () => c.error(signal.reason)),
    });
    return { ok: true, status: 200, headers: new Headers(), body };
  };
  const { watch } = await import('../site/api.js');
  const states = [];
  const close = watch('g/g', { onUpdate: () => undefined, onState: (s) => states.push(s) });
  await settle();
  return { states, close };
}

test('a page that has lost its network is not live', async (t) => {
  const { states, close } = await watchSilence(t);
  dispatch('offline');
  await settle();
  assert.deepEqual(states, ['connecting', 'live', 'offline']);
  close();
});

test('a page reconnects when it hears nothing for longer than the server is ever silent', async (t) => {
  const { states, close } = await watchSilence(t);
  t.mock.timers.tick(20e3);
  await settle();
  assert.deepEqual(states, ['connecting', 'live']);
  t.mock.timers.tick(5e3);
  await settle();
  assert.deepEqual(states, ['connecting', 'live', 'offline']);
  close();
});
