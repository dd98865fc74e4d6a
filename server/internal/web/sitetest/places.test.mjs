// Tests the list of races and games that wait for players.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dispatch, element, serve, settle } from './dom.mjs';

const { setAccount } = await import('../site/api.js');
const { hear } = await import('../site/game-state.js');
const { listPlaces, raceNow } = await import('../site/places.js');
const { default: showRaces } = await import('../site/race.js');

test('a list that is read again keeps the focus, and says how long its players wait', async () => {
  const kind = 'CHALLENGE_KIND_RACE';
  const entrants = [{ player: { id: 'ada', name: 'ada' }, gameId: 'g' }];
  const createTime = '2026-11-20T12:00:00Z';
  const race = { id: 'c', kind, status: 'CHALLENGE_STATUS_WAITING', createTime, entrants };
  serve((method) => (method === 'ListGames' ? {} : { challenges: race.entrants ? [race] : [] }));
  const list = element();
  document.body.append(list);
  const read = async (time) => {
    hear(`Fri, 20 Nov 2026 12:00:${time} GMT`);
    await listPlaces(list, 2);
  };
  await read(10);
  const join = list.find('button', 'Join');
  join.focus();
  assert.match(list.textContent, /10 s ago/);
  await read(15);
  assert.match(list.textContent, /15 s ago/);
  assert.equal(document.activeElement, join);
  entrants.push({ player: { id: 'zoe', name: 'zoe' }, gameId: 'h' });
  await read(20);
  assert.match(list.textContent, /ada, zoe/);
  delete race.entrants;
  await read(25);
  assert.deepEqual([list.textContent, list.hidden], ['', true]);
});

test('a button that has led to another page works again after the back button', async () => {
  setAccount({ id: 'ada', name: 'ada', token: 'a.b' });
  serve(() => ({ challenge: { id: 'c' } }));
  const button = raceNow();
  button.click();
  await settle();
  assert.equal(button.disabled, true);
  dispatch('pageshow');
  assert.equal(button.disabled, false);
});

test('a button says what fails while it waits for the server', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const down = { code: 'unavailable', message: 'the server is restarting' };
  const answers = [down, { challenge: { id: 'c' } }];
  const calls = serve(() => answers.shift());
  const button = raceNow();
  button.click();
  await settle();
  assert.match(document.body.textContent, /The server is restarting\. Retrying …/);
  t.mock.timers.tick(10_000);
  await settle();
  assert.equal(calls.length, 2);
});

test('two presses of "Create race" create one race, until the back button', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  setAccount({ id: 'ada', name: 'ada', token: 'a.b' });
  const calls = serve((method) =>
    method === 'CreateChallenge' ? { challenge: { id: 'c' } } : { variants: [] },
  );
  const root = element();
  await showRaces(root);
  const form = root.find('form');
  const created = () => calls.filter((c) => c.method === 'CreateChallenge').length;
  await Promise.all([form.dispatch('submit'), form.dispatch('submit')]);
  assert.equal(created(), 1);
  dispatch('pageshow');
  await form.dispatch('submit');
  assert.equal(created(), 2);
});
