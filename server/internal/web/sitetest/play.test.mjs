// Tests the page for playing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element, serve, settle } from './dom.mjs';

const { default: show } = await import('../site/play.js');

test('the page of an unknown variant says so above the others', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const classic = { id: 'classic', kind: 'KIND_TWENTY48', rows: 4, columns: 4, seats: 1 };
  serve((method) => (method === 'ListVariants' ? { variants: [classic] } : {}));
  for (const [id, heading] of [
    ['nosuch', 'There is no variant nosuch.'],
    ['', 'Play'],
  ]) {
    const root = element();
    await show(root, { id });
    await settle();
    assert.equal(root.all().find((e) => e.name === 'h1').textContent, heading);
    assert.match(root.textContent, /classic/);
  }
});
