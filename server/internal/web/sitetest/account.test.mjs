// Tests the account page.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element, serve, settle } from './dom.mjs';

const { account, setAccount } = await import('../site/api.js');
const { default: show } = await import('../site/account.js');

test('the browser keeps its account until the server has accepted a pasted token', async () => {
  const token = `${'a'.repeat(26)}.${'b'.repeat(26)}`;
  setAccount(null);
  let answer;
  const calls = serve(
    () =>
      new Promise((resolve) => {
        answer = resolve;
      }),
  );
  const root = element();
  show(root);
  const form = root.all().filter((e) => e.name === 'form')[1];
  form.find('input').value = token;
  form.dispatch('submit');
  await settle();
  assert.equal(calls[0].token, token);
  assert.equal(account(), null, 'the page may be closed before the answer');
  answer({ player: { id: 'ada', name: 'ada' } });
  await settle();
  assert.deepEqual(account(), { id: 'ada', name: 'ada', token });
});

test('the page shows the account that another tab has stored', async () => {
  setAccount({ id: 'ada', name: 'ada', token: 'a.b' });
  serve(() => ({ player: { id: 'zoe', name: 'zoe' } }));
  const root = element();
  show(root);
  assert.equal(root.find('h1').textContent, 'ada');
  setAccount({ id: 'zoe', name: 'zoe', token: 'c.d' });
  globalThis.onstorage();
  await settle();
  assert.equal(root.find('h1').textContent, 'zoe');
});
