// Tests the page's verifier with malformed and long transcripts. The Go tests check that it
// agrees with the Go verifier on valid and altered ones.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { draws } from '../site/draws.js';
import { sha256 } from '../site/sha256.js';
import { start } from '../site/twenty48.js';
import { verifyInSlices } from '../site/verify.js';
import { verifyTranscript } from './transcript.mjs';

const playthroughs = new URL('../../../../game/variants/testdata/playthroughs/', import.meta.url);

/**
 * Returns a transcript with count events: the moves of a playthrough, repeated with other tiles.
 */
function transcript(variant, count) {
  const text = readFileSync(new URL(`${variant}.txt`, playthroughs), 'utf8');
  const seed = Buffer.from(/^seed +(\w+)$/m.exec(text)[1], 'hex');
  const moves = text
    .split(/^moves .*$/m)[1]
    .split('\n\n')[0]
    .trim()
    .split(/\s+/);
  const stream = draws(seed);
  const noon = Date.parse('2026-11-20T12:00:00Z');
  const boards = [start(variant, stream(1))];
  const events = [];
  const add = (board, fields) => {
    const { result, undone } = fields;
    boards[events.length] = board;
    events.push({
      gameId: 'gamegamegamegamegamegamega',
      version: events.length + 1,
      time: new Date(noon + 100 * events.length).toISOString(),
      position: { ...board.position(!result), turn: result ? undefined : 0 },
      ranked: !undone && (events.at(-1)?.ranked ?? true),
      ...fields,
    });
  };
  const seats = [{ player: { id: 'ada', name: 'ada' } }];
  const seedCommitment = Buffer.from(sha256(seed)).toString('base64');
  add(boards[0], { created: { variant, seats, seedCommitment, rulesRevision: 1 } });
  while (events.length < count - 1) {
    const board = boards.at(-1);
    const { legalMoves } = board.position(true).twenty48;
    const recorded = `DIRECTION_${moves[events.length - 1]?.toUpperCase()}`;
    const direction = legalMoves.includes(recorded) ? recorded : legalMoves[0];
    const made = board.move(0, { direction }, stream(events.length + 1));
    if (made.board.ended) add(boards[20], { seat: 0, undone: { toVersion: 21 } });
    else add(made.board, { seat: 0, moved: made.moved });
  }
  const board = boards.at(-1);
  const { scores } = board.position(false);
  const result = { reason: 'REASON_RESIGNED', winners: board.winners('REASON_RESIGNED'), scores };
  add(board, { seat: 0, resigned: {}, result, seed: seed.toString('base64') });
  return JSON.parse(JSON.stringify(events));
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

test('problems describe the wrong field', () => {
  const events = transcript('classic', 5);
  events[2].position.twenty48.tiles[5] += 2;
  const { version, problem } = verifyTranscript(events);
  assert.equal(version, 3);
  assert.match(problem, /^position\.twenty48\.tiles\.5 is \d+, recomputed \d+$/);
});

test('slices let other tasks run, and report progress', async (t) => {
  const events = transcript('6x6', 100);
  let milliseconds = 0; // so that slices do not depend on the machine's speed
  t.mock.method(performance, 'now', () => milliseconds++);
  const told = [];
  let ticks = 0;
  const ticking = setInterval(() => ticks++);
  const verdict = await verifyInSlices(events, (done) => told.push(done));
  clearInterval(ticking);
  assert.deepEqual(verdict, verifyTranscript(events));
  assert.ok(told.length > 1 && ticks > 1);
  assert.deepEqual(
    told,
    told.toSorted((a, b) => a - b),
  );
  assert.ok(told.every((done) => done > 0 && done < 1));
  assert.equal((await verifyInSlices(events.slice(1))).ok, false);
});
