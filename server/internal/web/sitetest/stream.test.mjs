// Tests the streams of events.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle } from './dom.mjs';

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
