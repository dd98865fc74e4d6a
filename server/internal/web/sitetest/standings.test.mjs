// Tests the boards of a race.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { settle } from './dom.mjs';

const { createBoards } = await import('../site/standings.js');

test('a board is read if its stream began before the server opened the race', async () => {
  const calls = [];
  const position = { moveCount: 1, scores: [4], twenty48: { rows: 4, columns: 4, tiles: [4] } };
  globalThis.fetch = async (url) => {
    calls.push(url);
    const early = url.includes('/events');
    const game = { id: 'g', version: 2, position };
    return {
      ok: !early,
      status: early ? 400 : 200,
      headers: new Headers(),
      json: async () => (early ? { code: 'failed_precondition', message: 'not open' } : { game }),
    };
  };
  const boards = createBoards({});
  const challenge = { status: 'CHALLENGE_STATUS_OPEN', entrants: [{ bot: 'greedy', gameId: 'g' }] };
  boards.show({ challenge });
  await settle();
  const standings = [{ bot: 'greedy', gameId: 'g', score: 4, moveCount: 1 }];
  boards.show({ challenge, standings });
  await settle();
  assert.equal(calls.at(-1), '/gridstand.v1.GameService/GetGame');
  const labels = boards.element.all().map((e) => e.getAttribute('aria-label') ?? '');
  assert.ok(
    labels.some((label) => label.startsWith('row 1: 4')),
    labels.join(),
  );
});

test('boards without moves are read once, and do not keep other boards from being read', async () => {
  const calls = [];
  globalThis.fetch = async (_, { body = '{}' } = {}) => {
    const { gameId } = JSON.parse(body);
    calls.push(gameId);
    const position = { scores: [0], twenty48: { rows: 4, columns: 4, tiles: [2] } };
    const game = { id: gameId, version: 1, position };
    return {
      ok: !!gameId,
      status: gameId ? 200 : 400,
      headers: new Headers(),
      json: async () => (gameId ? { game } : { code: 'failed_precondition' }),
    };
  };
  const boards = createBoards({});
  const entrants = ['a', 'b', 'c', 'd'].map((gameId) => ({ bot: 'greedy', gameId }));
  boards.show({ challenge: { status: 'CHALLENGE_STATUS_OPEN', entrants }, standings: entrants });
  while (!calls.includes('d')) {
    assert.ok(calls.length < 10, calls.join());
    await pause(10);
  }
  assert.deepEqual(calls.filter(Boolean).sort(), ['a', 'b', 'c', 'd']);
});

test('a board shows a place once its player has points or has finished', () => {
  globalThis.fetch = () => new Promise(() => {});
  const boards = createBoards({});
  const challenge = {
    status: 'CHALLENGE_STATUS_SCHEDULED',
    entrants: [{ bot: 'rote', gameId: 'g' }],
  };
  const standing = { bot: 'rote', gameId: 'g', rank: 1 };
  boards.show({ challenge, standings: [standing] });
  assert.match(boards.element.textContent, /rote0 points$/);
  boards.show({ challenge, standings: [{ ...standing, score: 4 }] });
  assert.match(boards.element.textContent, /rote1st · 4 points$/);
  boards.show({ challenge, standings: [{ ...standing, finished: true }] });
  assert.match(boards.element.textContent, /rote1st · 0 points · finished$/);
});
