// Recomputes the vectors in docs/verify.md and the playthroughs of all variants.

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
const seats = ['blue', 'red', 'green'];
const direction = (name) => `DIRECTION_${name.toUpperCase()}`;

const page = [...read('docs/verify.md').matchAll(/^```vectors\n(.*?)^```/gms)].map((m) => m[1]);
const lines = page.join('').trimEnd().split('\n');

function rulesOf(variant) {
  return [twenty48, tribolo].find(({ variants }) => variant in variants);
}

function start(variant) {
  return rulesOf(variant).start(variant, draws(seed)(1));
}

/** Formats a board of 2048 in one line. */
function oneLine(board) {
  const { columns, tiles } = board.position(true).twenty48;
  return tiles.map((tile, i) => `${i && i % columns === 0 ? '/ ' : ''}${tile || '.'}`).join(' ');
}

/** Formats the rows of a Tribolo board, with a separator between the cells. */
function rows(board, between) {
  const { cells, columns } = board.position(true).tribolo;
  const owners = ['CELL_STATE_EMPTY', ...tribolo.owners, 'CELL_STATE_WALL'];
  const drawn = cells.map((cell) => '.BRG#'[owners.indexOf(cell)]);
  const lines = [];
  while (drawn.length) lines.push(drawn.splice(0, columns).join(between));
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

test('boards at the start', () => {
  const found = lines.filter((line) => /^start of \w+: /.test(line));
  assert.equal(found.length, Object.keys(twenty48.variants).length);
  for (const line of found) {
    const [, variant] = /^start of (\w+)/.exec(line);
    assert.equal(line, `start of ${variant}: ${oneLine(start(variant))}`);
  }
  const at = lines.indexOf('start of tribolo');
  const board = start('tribolo');
  assert.deepEqual(lines.slice(at + 1, at + 13), [
    ...rows(board, ' '),
    `first to move: ${seats[board.turn]}`,
  ]);
});

test('a game of classic with undos', () => {
  const at = lines.indexOf('game of classic');
  const boards = [start('classic')];
  for (const line of lines.slice(at + 1, at + 16)) {
    const [, version, done, way, to] =
      /^ *(\d+) (created|resigned|moved (\w+)|undone to (\d+))/.exec(line);
    let moved;
    if (way) {
      const draw = draws(seed)(Number(version));
      const made = boards.at(-1).move(0, { direction: direction(way) }, draw);
      moved = made.moved;
      boards.push(made.board);
    } else if (done !== 'created') {
      boards.push(to ? boards[to - 1] : boards.at(-1).resign(0));
    }
    const { moveCount, scores } = boards.at(-1).position(true);
    const gained = moved ? `gains ${moved.gained},` : '';
    const spawned = moved ? `cell ${moved.spawned.index} = ${moved.spawned.value}` : '';
    const head = `${version.padStart(2)} ${done.padEnd(11)} ${gained.padEnd(9)} ${spawned.padEnd(12)}`;
    const board = oneLine(boards.at(-1));
    assert.equal(
      line.replace(/, undo \d+$/, ''),
      `${head} ${board}  moves ${moveCount}, score ${scores[0]}`,
    );
  }
});

test('a game of tribolo', () => {
  const at = lines.indexOf('game of tribolo');
  let board = start('tribolo');
  for (const line of lines.slice(at + 1, -1)) {
    const [, version, x, y] = /^ *(\d+) \w+ +(\d+),(\d+) /.exec(line);
    const seat = board.turn;
    const { moved, board: next } = board.move(seat, { cell: { x: Number(x), y: Number(y) } });
    board = next;
    const head = `${version.padStart(3)} ${seats[seat].padEnd(5)} ${x},${y} takes`;
    const turn = seats[board.turn] ?? 'nobody';
    // The order of taken cells does not matter.
    const taken = moved.taken.map((cell) => `${cell.x},${cell.y}`).toSorted();
    const want = line.replace(
      /takes (.*);/,
      (_, cells) => `takes ${cells.split(' ').toSorted().join(' ')};`,
    );
    assert.equal(`${head} ${taken.join(' ')}; next ${turn}`, want);
  }
  const { scores } = board.position(false);
  const winners = board.winners('REASON_NO_MOVES');
  assert.equal(`scores [${scores.join(' ')}], winners [${winners.join(' ')}]`, lines.at(-1));
});

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
      const drawn = cells ? rows(board, ' ') : [];
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
