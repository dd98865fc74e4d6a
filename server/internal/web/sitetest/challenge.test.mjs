// Compares the page's wording for challenges and its share line with those of the Go
// programs.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as words from '../site/challenge-words.js';
import { clock, sync, until } from '../site/game-state.js';

const golden = new URL('../../../../internal/describe/testdata/share.json', import.meta.url);
const cases = JSON.parse(readFileSync(golden, 'utf8'));

test('the texts of results match those of the Go programs', () => {
  assert.ok(cases.length > 10);
  for (const { want, ...c } of cases) {
    const said = {
      share: words.share(c),
      summary: words.summary(c),
      place: words.place(c.rank, c.total),
      percentile: words.percentile(c.rank, c.total),
      streak: words.streak(c.dayStreak),
      squares: words.squares(c.tiles),
      challenge: words.title(c.challenge),
      margin: c.challenge.target ? words.margin(c.score, c.challenge.target) : '',
    };
    assert.deepEqual(said, want);
  }
});

test("the remaining time follows the server's clock", (t) => {
  const now = Date.now();
  t.mock.method(Date, 'now', () => now);
  const at = (ms) => new Date(now + ms).toISOString();
  assert.equal(clock(at(61_000)), '1:01');
  sync(at(20_000));
  sync(at(15_000)); // This message took longer to arrive.
  assert.equal(until(at(61_000)), 41_000);
  assert.equal(clock(at(61_000)), '0:41');
});
