// Tests the player's own seat.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element, press } from './dom.mjs';

const { ownSeat } = await import('../site/own.js');

test('two presses after a game open one other game', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const position = { scores: [4], twenty48: { rows: 4, columns: 4, tiles: [], legalMoves: [] } };
  const status = 'GAME_STATUS_FINISHED';
  const game = { id: 'g', variant: 'classic', seats: [{}], status, position };
  const opened = [];
  const kind = { aim: () => [], best: () => 0, finish() {} };
  const own = ownSeat(game, 0, kind, (over) => opened.push(over.id));
  const nothing = () => {};
  own.open({
    state: { game, over: true },
    replay: { at: 0 },
    board: { element: element() },
    update: nothing,
    draw: nothing,
    close: nothing,
  });
  await Promise.all([press('n'), press('n'), own.element.find('button', 'New game').click()]);
  assert.deepEqual(opened, ['g']);
});
