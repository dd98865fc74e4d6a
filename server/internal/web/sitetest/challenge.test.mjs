// Compares the page's wording for challenges and its share line with those of the Go
// programs.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as words from '../site/challenge-words.js';
import { ago, clock, hear, sync, until } from '../site/game-state.js';

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

test('a race with one entrant says what it needs, and any other one when it starts', () => {
  const [ada, bob] = [{ player: { name: 'ada' } }, { player: { name: 'bob' } }];
  const need = 'It needs a second player or a bot to start.';
  assert.equal(words.begins({ entrants: [ada] }), need);
  assert.equal(words.begins({ entrants: [{ ...ada, ready: true }] }), need);
  assert.match(words.begins({ entrants: [ada, bob] }), /^It starts when everyone is ready/);
});

test("times follow the server's clock, whatever the viewer's clock does", (t) => {
  let passed = performance.now();
  t.mock.method(performance, 'now', () => passed);
  const jump = (ms) => t.mock.method(Date, 'now', () => ms);
  const start = Date.parse('2026-11-20T12:00:00Z');
  const at = (ms) => new Date(start + ms).toISOString();
  hear(new Date(start).toUTCString());
  for (const ms of [0, 6e5, 1e13]) {
    jump(ms);
    assert.equal(clock(at(60_999)), '1:01');
    assert.equal(ago(at(-60e3)), '1 min ago');
  }
  hear(new Date(start + 1000).toUTCString()); // A whole second later, by rounding.
  assert.equal(until(at(61_000)), 61_000);
  sync(at(20_000));
  sync(at(19_000)); // This message took longer to arrive.
  assert.equal(until(at(61_000)), 41_000);
  passed += 5000;
  assert.equal(clock(at(61_000)), '0:36');
  hear(new Date(start + 3600e3).toUTCString()); // The computer slept.
  assert.equal(ago(at(0)), '1 h ago');
});

test('who overtakes whom', () => {
  const list = (...names) =>
    names.map((name, i) => ({ gameId: name, player: { name }, score: 9 - i }));
  const { overtaking } = words;
  assert.equal(overtaking(list('zoe', 'ada'), list('ada', 'zoe'), 'zoe'), 'ada overtakes you');
  assert.equal(overtaking(list('ada', 'zoe'), list('zoe', 'ada'), 'zoe'), 'You overtake ada');
  assert.equal(overtaking(list('zoe', 'ada'), list('ada', 'zoe')), 'ada takes the lead');
  assert.equal(
    overtaking(list('bob', 'zoe', 'ada'), list('zoe', 'ada', 'bob'), 'ada'),
    'You overtake bob',
  );
  assert.equal(overtaking(list('zoe', 'ada'), list('zoe', 'ada'), 'ada'), '');
  assert.equal(overtaking(list('zoe', 'bob', 'ada'), list('zoe', 'ada', 'bob')), '');
  const bot = [{ gameId: 'g', bot: 'greedy', score: 5 }, ...list('zoe')];
  assert.equal(overtaking([...list('zoe'), bot[0]], bot, 'zoe'), 'greedy overtakes you');
  assert.equal(
    overtaking([{ gameId: 'ada', score: 0 }], list('zoe'), 'ada'),
    '',
    'before the first points',
  );
  assert.equal(overtaking(undefined, undefined), '');
});
