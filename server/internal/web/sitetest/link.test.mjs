// Tests the page of a link that opens a session.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element, serve, settle } from './dom.mjs';

const { account, setAccount } = await import('../site/api.js');
const { default: show } = await import('../site/link.js');

test('a link opens its session although an answer is lost, and ends the former one', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  setAccount({ id: 'bob', name: 'bob', token: 'c.d', session: true });
  location.hash = '#code';
  let tries = 0;
  let stored;
  const calls = serve((method) => {
    if (method === 'EndSession') {
      stored = account()?.token;
      return {};
    }
    if (!tries++) throw new SyntaxError('the answer was cut off');
    return { player: { id: 'ada', name: 'ada' }, token: 'a.b' };
  });
  const root = element();
  show(root);
  root.find('button', 'Play here').click();
  await settle();
  assert.match(document.body.textContent, /cannot be reached\. Retrying …/);
  t.mock.timers.tick(10_000);
  await settle();
  assert.equal(calls.length, 3);
  assert.equal(calls[0].request.secret, calls[1].request.secret);
  assert.equal(calls[2].token, 'c.d');
  assert.equal(stored, 'a.b');
});
