// Tests the page's verifier with malformed and long transcripts. The Go tests check that it
// agrees with the Go verifier on valid and altered ones.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifyInSlices } from '../site/verify.js';
import { ada, Writer } from './testgame.mjs';
import { verifyTranscript } from './transcript.mjs';

/** Returns a transcript with count events: moves, and a resignation. */
function transcript(variant, count) {
  const game = new Writer([ada], 0, { variant });
  while (game.events.length < count - 1) game.move();
  game.end('RESIGNED', { seat: 0, resigned: {} });
  return JSON.parse(JSON.stringify(game.events));
}

test('a malformed transcript is refused without an exception', () => {
  const events = transcript('classic', 5);
  assert.ok(verifyTranscript(events).ok);
  let count = 0;
  const spoil = (parent, key) => {
    const value = parent[key];
    for (const nonsense of [null, -1, 1e300, 0.5, '\u0000', [], [null], {}, { x: 1 }, true]) {
      parent[key] = nonsense;
      const verdict = verifyTranscript(events);
      assert.equal(typeof verdict.ok, 'boolean');
      if (!verdict.ok) assert.ok(verdict.problem && verdict.version > 0);
      count++;
    }
    parent[key] = value;
    if (value && typeof value === 'object')
      for (const inner of Object.keys(value)) spoil(value, inner);
  };
  for (const at of events.keys()) spoil(events, at);
  assert.ok(verifyTranscript(events).ok);
  assert.ok(count > 1000);
});

test('unknown content is not reported as wrong', () => {
  const events = transcript('classic', 5);
  const changed = (version, change) =>
    verifyTranscript(events.with(version - 1, { ...events[version - 1], ...change }));
  const { created } = events[0];
  for (const [verdict, version] of [
    [verifyTranscript([]), 1],
    [verifyTranscript(events.slice(0, -1)), 1],
    [changed(1, { created: { ...created, rulesRevision: 2 } }), 1],
    [changed(1, { created: { ...created, variant: 'hexagons' } }), 1],
    [changed(1, { created: { ...created, variant: 'constructor' } }), 1],
    [changed(3, { moved: undefined, swapped: {} }), 3],
  ]) {
    assert.deepEqual(
      [verdict.ok, verdict.unknown, verdict.version],
      [false, true, version],
      verdict.problem,
    );
  }
  assert.equal(changed(3, { newer: {} }).ok, true, 'fields of newer servers are ignored');
});

test('a game begins with all seats, and with a clock that has not run out', () => {
  const events = transcript('classic', 5);
  const { created } = events[0];
  const begun = (change) =>
    verifyTranscript(events.with(0, { ...events[0], created: { ...created, ...change } })).problem;
  const seats = (change) => ({ seats: [{ ...created.seats[0], ...change }] });
  assert.match(begun(seats({ standIn: 'greedy' })), /stand-in before the game/);
  assert.match(begun(seats({ resigned: true })), /resigned or has/);
  assert.match(begun({ turnLimit: '-5s' }), /turn limit is wrong/);
});

test('problems describe the wrong field', () => {
  const events = transcript('classic', 5);
  events[2].position.twenty48.tiles[5] += 2;
  const { version, problem } = verifyTranscript(events);
  assert.equal(version, 3);
  assert.match(problem, /^position\.twenty48\.tiles\.5 is \d+, recomputed \d+$/);
});

test('slices let other tasks run', async (t) => {
  const events = transcript('6x6', 100);
  let milliseconds = 0; // so that slices do not depend on the machine's speed
  t.mock.method(performance, 'now', () => milliseconds++);
  let ticks = 0;
  const ticking = setInterval(() => ticks++);
  const verdict = await verifyInSlices(events);
  clearInterval(ticking);
  assert.deepEqual(verdict, verifyTranscript(events));
  assert.ok(ticks > 1);
  assert.equal((await verifyInSlices(events.slice(1))).ok, false);
});
