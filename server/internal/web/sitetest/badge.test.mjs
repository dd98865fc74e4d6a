// Tests the label for the state of a game.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { badge, rank, sync } from '../site/game-state.js';

test('a race without moves is not called idle', () => {
  const now = Date.parse('2026-11-20T12:00:00Z');
  sync(new Date(now).toISOString());
  const updateTime = new Date(now - 61e3).toISOString();
  for (const [game, want] of [
    [{ updateTime, challengeId: 'c' }, '○ no moves yet'],
    [{ updateTime, challengeId: 'c', position: { moveCount: 1 } }, '○ idle 1 min'],
    [{ updateTime }, '○ idle 1 min'],
    [{ updateTime: new Date(now).toISOString(), challengeId: 'c' }, '● live'],
  ]) {
    assert.equal(badge({ game, over: false }, 'live')[0], want);
  }
});

test('TV prefers watched games in motion, and takes a game without moves last', () => {
  const now = Date.parse('2026-11-20T12:00:00Z');
  sync(new Date(now).toISOString());
  const ago = (ms) => new Date(now - ms).toISOString();
  const position = { moveCount: 1 };
  const order = [
    { position, updateTime: ago(9e3), watchers: 1 },
    { position, updateTime: ago(0) },
    { position, updateTime: ago(0), watchers: 9, exhibition: true },
    { position, updateTime: ago(11e3), watchers: 9 },
    { position: {}, updateTime: ago(0), watchers: 9 },
  ];
  assert.deepEqual(order.map(rank), [0, 1, 2, 3, 4]);
});
