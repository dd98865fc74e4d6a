// Recomputes the seeds, draws and slides in docs/verify.md, and the playthroughs of all variants,
// each of which begins with the board at the start.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { draws } from '../site/draws.js';
import { hmac, sha256 } from '../site/sha256.js';
import * as tribolo from '../site/tribolo.js';
import * as twenty48 from '../site/twenty48.js';

const root = new URL('../../../../', import.meta.url);
const read = (path) => readFileSync(new URL(path, root), 'utf8');
const hex = (bytes) => Buffer.from(bytes).toString('hex');
const seed = Uint8Array.from({ length: 32 }, (_, i) => i);
const direction = (name) => `DIRECTION_${name.toUpperCase()}`;

const page = [...read('docs/verify.md').matchAll(/^```vectors\n(.*?)^```/gms)].map((m) => m[1]);
const lines = page.join('').trimEnd().split('\n');

function rulesOf(variant) {
  return [twenty48, tribolo].find(({ variants }) => variant in variants);
}

/** Formats the rows of a Tribolo board. */
function rows(board) {
  const { cells, columns } = board.position(true).tribolo;
  const owners = ['CELL_STATE_EMPTY', ...tribolo.owners, 'CELL_STATE_WALL'];
  const drawn = cells.map((cell) => '.BRG#'[owners.indexOf(cell)]);
  const lines = [];
  while (drawn.length) lines.push(drawn.splice(0, columns).join(' '));
  return lines;
}

test('docs/verify.md has its vectors', () => assert.equal(page.length, 6));

test('seeds, blocks and draws', () => {
  let count = 0;
  for (const line of lines) {
    const block = /^block\((\d+), (\d+)\) = (\w+)$/.exec(line);
    const version = /^version (\d+): /.exec(line);
    if (line.startsWith('SHA-256')) assert.equal(line, `SHA-256(seed) = ${hex(sha256(seed))}`);
    else if (line.startsWith('seed = ')) assert.equal(line, `seed = ${hex(seed)}`);
    else if (block) {
      const message = new DataView(new ArrayBuffer(12));
      message.setBigUint64(0, BigInt(block[1]));
      message.setUint32(8, Number(block[2]));
      assert.equal(hex(hmac(seed)(new Uint8Array(message.buffer))), block[3]);
    } else if (version) {
      const draw = draws(seed)(Number(version[1]));
      for (const [, n, drawn] of line.matchAll(/draw\((\d+)\) = (\d+)/g)) {
        assert.equal(draw(BigInt(n)), BigInt(drawn), line);
      }
    } else continue;
    count++;
  }
  assert.equal(count, 9);
});

test('slides', () => {
  let count = 0;
  for (const line of lines) {
    const match = /^\[([\d ]+)\] (left|right)/.exec(line);
    if (!match) continue;
    const tiles = match[1].split(' ').map(Number);
    for (const [rows, columns, way] of [
      [1, tiles.length, match[2]],
      [tiles.length, 1, { left: 'up', right: 'down' }[match[2]]],
    ]) {
      const slid = twenty48.slide(tiles, rows, columns, direction(way), 'classic');
      assert.equal(
        `[${match[1]}] ${match[2]} → [${slid.tiles.join(' ')}], ${slid.gained} points`,
        line,
      );
      checkMoves(tiles, slid);
    }
    count++;
  }
  assert.equal(count, 7);
});

/** Checks that the moves of a slide lead from its old tiles to the new ones. */
function checkMoves(tiles, { tiles: slid, moves }) {
  const got = tiles.map(() => 0);
  for (const { from, to, merged } of moves) {
    assert.equal(got[to], merged ? tiles[from] : 0);
    got[to] += tiles[from];
  }
  assert.deepEqual(got, slid);
  assert.deepEqual(
    moves.map(({ from }) => from).toSorted((a, b) => a - b),
    [...tiles.keys()].filter((cell) => tiles[cell]),
  );
}

for (const variant of [...Object.keys(twenty48.variants), 'tribolo']) {
  test(`the playthrough of ${variant}`, () => {
    const text = read(`game/variants/testdata/playthroughs/${variant}.txt`);
    const [head, ...blocks] = text.split('\n\n==');
    const ownSeed = Buffer.from(/^seed +(\w+)$/m.exec(head)[1], 'hex');
    const moves = head
      .split(/^moves .*$/m)[1]
      .trim()
      .split(/\s+/);
    const shown = new Map(
      blocks.map((block) => [Number(/^ move (\d+)/.exec(block)?.[1] ?? 0), block]),
    );
    const stream = draws(ownSeed);
    let board = rulesOf(variant).start(variant, stream(1));
    const compare = (number, moved) => {
      const want = shown.get(number);
      if (!want) return;
      shown.delete(number);
      const { twenty48: tiles, tribolo: cells, scores } = board.position(true);
      const stands = [`scores    [${scores.join(' ')}]`];
      if (moved?.spawned)
        stands.push(`spawned   ${moved.spawned.value} in cell ${moved.spawned.index}`);
      if (moved?.direction) stands.push(`gained    ${moved.gained}`);
      if (tiles?.goalReached) stands.push('the goal was reached');
      const drawn = cells ? rows(board) : [];
      for (let i = 0; i < (tiles?.tiles.length ?? 0); i += tiles.columns) {
        const row = tiles.tiles.slice(i, i + tiles.columns);
        drawn.push(row.map((tile) => String(tile || '.').padStart(6)).join(''));
      }
      if (board.ended) {
        const winners = `winners [${board.winners(board.ended).join(' ')}]`;
        const reason = board.ended.slice(7).toLowerCase().replace('_', ' ');
        stands.push(`ended     ${reason === 'no moves' ? 'no moves left' : reason}, ${winners}`);
      } else {
        const [, turn, legal] = /^turn +seat (\d): (.*)$/m.exec(want);
        assert.equal(board.turn, Number(turn));
        const ours = tiles
          ? tiles.legalMoves.map((name) => name.slice(10).toLowerCase())
          : cells.legalMoves.map(({ cell }) => `${cell.x},${cell.y}`);
        assert.deepEqual(ours.toSorted(), legal.split(' ').toSorted());
      }
      const has = want.split('\n').map((line) => line.trim());
      const top = has.indexOf(drawn[0].trim());
      assert.deepEqual(
        has.slice(top, top + drawn.length),
        drawn.map((line) => line.trim()),
        `move ${number}`,
      );
      for (const line of stands)
        assert.ok(has.includes(line), `move ${number}: "${line}" in\n${want}`);
    };
    compare(0);
    moves.forEach((name, i) => {
      const [x, y] = name.split(',').map(Number);
      const move = name.includes(',') ? { cell: { x, y } } : { direction: direction(name) };
      const made = board.move(board.turn, move, stream(i + 2));
      assert.ok(made, `move ${i + 1}: ${name} is illegal`);
      board = made.board;
      compare(i + 1, made.moved);
    });
    assert.equal(shown.size, 0, 'all recorded moves were compared');
  });
}
