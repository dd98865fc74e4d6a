// Tests the accounts that the page creates.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element, mockTime, serve, settle } from './dom.mjs';

const { account, setAccount } = await import('../site/api.js');
const { persist, signIn } = await import('../site/persist.js');

for (const name of ['zoe', '']) {
  test(`two presses create one account, named "${name}"`, async () => {
    setAccount(null);
    const calls = serve(async (_, { secret, name }) => {
      await settle();
      return { player: { id: secret, name }, token: secret };
    });
    await Promise.all([signIn(name), signIn(name)]);
    assert.equal(calls.length, 1);
    assert.equal(account()?.token, calls[0].request.secret);
  });
}

test('after a name that is taken, another one creates an account', async () => {
  setAccount(null);
  serve((_, { name }) =>
    name === 'zoe'
      ? { code: 'already_exists', message: 'the name is taken' }
      : { player: { id: 'a', name }, token: 'a.b' },
  );
  await assert.rejects(signIn('zoe'), /taken/);
  await signIn('ada');
  assert.equal(account()?.name, 'ada');
});

test('the page of races lists the variants once the server answers', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  setAccount({ id: 'ada', name: 'ada', token: 'a.b' });
  let away = true;
  const calls = serve((method) => {
    if (method !== 'ListVariants') return {};
    if (away) return { code: 'unavailable', message: 'away' };
    return { variants: [{ id: '5x5', kind: 'KIND_TWENTY48' }] };
  });
  const root = element();
  const { default: show } = await import('../site/race.js');
  const shown = show(root);
  await settle();
  away = false;
  t.mock.timers.tick(1000);
  await shown;
  assert.equal(root.find('select').textContent, '5x5');
  assert.equal(calls.find((c) => c.method === 'ListVariants').token, undefined);
});

test('a player learns soon that the server does not answer', async (t) => {
  mockTime(t);
  const said = [];
  const answers = [];
  globalThis.fetch = (_, { signal }) =>
    new Promise((answer, reject) => {
      answers.push(answer);
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  const moved = persist('Move', {}, { onWait: (text) => said.push(text) });
  await settle();
  t.mock.timers.tick(2000);
  assert.deepEqual(said, ['The server does not answer.']);
  t.mock.timers.tick(6000);
  await settle();
  t.mock.timers.tick(1000);
  await settle();
  t.mock.timers.tick(2000);
  assert.deepEqual(said.slice(1), ['The server does not answer. Retrying …']);
  answers[1](Response.json({ event: {} }));
  assert.deepEqual(await moved, { event: {} });
});
