// Tests the page's clock.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sync, until } from '../site/game-state.js';

test("the server's first exact time sets a clock that is fast, and a late one does not set it back", (t) => {
  let passed = 0;
  t.mock.method(performance, 'now', () => passed);
  const now = performance.timeOrigin - 1500; // by the server's clock
  sync(new Date(now).toISOString());
  assert.equal(Math.abs(until(now)), 0);
  passed = 1000;
  sync(new Date(now).toISOString()); // has taken a second
  assert.equal(until(now), -1000);
});
