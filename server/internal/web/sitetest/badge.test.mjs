// Tests the label for the state of a game.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { badge, sync } from '../site/game-state.js';

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
