// Tests the player's own seat.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element, press, serve, settle } from './dom.mjs';

const { setAccount } = await import('../site/api.js');
const { default: showGame } = await import('../site/game-view.js');
const { ownSeat } = await import('../site/own.js');
const { createResult } = await import('../site/result.js');

test('the best score that comes during a move does not take the move back on the board', async (t) => {
  globalThis.BroadcastChannel = undefined; // It would keep the test running.
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  setAccount({ id: 'ada', name: 'ada', token: 'a.b' });
  const tiles = [2, 2, ...Array(14).fill(0)];
  const twenty48 = { rows: 4, columns: 4, tiles, legalMoves: ['DIRECTION_LEFT'] };
  const position = { scores: [0], turn: 0, twenty48 };
  const seats = [{ player: { id: 'ada', name: 'ada' } }];
  const status = 'GAME_STATUS_ACTIVE';
  const game = { id: 'g', variant: 'classic', version: 1, seats, status, position };
  let answer;
  const profile = new Promise((resolve) => {
    answer = () => resolve({ variants: [{ variant: 'classic', bestScore: 5678 }] });
  });
  const never = new Promise(() => {});
  serve(
    (method) => ({ GetProfile: profile, GetRank: { entry: { score: 5678 } } })[method] ?? never,
  );
  const calls = globalThis.fetch;
  globalThis.fetch = (url, options) => (url.includes('/events') ? never : calls(url, options));
  const root = element();
  document.body.append(root);
  showGame(root, { id: 'g' }, ownSeat(game, 0, createResult(game, 0)));
  const board = root.all().find((e) => e.className === 'b48');
  press('ArrowLeft');
  assert.match(board.textContent, /4/);
  const shown = board.textContent;
  answer();
  await settle();
  t.mock.timers.tick(1000);
  assert.match(root.textContent, /5,678/);
  assert.equal(board.textContent, shown);
});

test('a game that is opened in its middle lists the moves before', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const twenty48 = { rows: 4, columns: 4, tiles: Array(16).fill(0) };
  const seats = [{ player: { id: 'ada', name: 'ada' } }];
  const at = (version) => ({ moveCount: version - 1, scores: [0], turn: 0, twenty48 });
  const event = (version) => ({ version, moved: { direction: 'UP' }, position: at(version) });
  const status = 'GAME_STATUS_ACTIVE';
  const game = { id: 'g', variant: 'classic', version: 50, seats, status, position: at(50) };
  serve(() => new Promise(() => {}));
  const calls = globalThis.fetch;
  let after;
  let send;
  globalThis.fetch = async (url, options) => {
    if (!url.includes('/events')) return calls(url, options);
    after = Number(options.headers['last-event-id']);
    const start = (controller) => {
      send = (version) => {
        const data = JSON.stringify({ event: event(version) });
        controller.enqueue(new TextEncoder().encode(`data: ${data}\n\n`));
      };
    };
    return { ok: true, headers: new Headers(), body: new ReadableStream({ start }) };
  };
  const root = element();
  showGame(root, { id: 'g' }, ownSeat(game, 0, createResult(game, 0)));
  const lines = () =>
    root
      .find('ol')
      .children.slice(0, 40)
      .map((line) => line.find('small').textContent)
      .join();
  await settle();
  assert.equal(lines(), '');
  const moves = Array.from({ length: 40 }, (_, i) => 49 - i); // the newest first
  for (let version = after + 1; version <= 50; version++) send(version);
  await settle();
  assert.equal(lines(), moves.join());
  for (const version of [51, 51, 52]) send(version);
  await settle();
  assert.equal(lines(), [51, 50, ...moves].slice(0, 40).join());
});

test('the rank is shown although the server did not answer for two minutes', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  let away = true;
  const entry = { score: 4, rank: 7, gameId: 'g' };
  serve((method) => {
    if (away) return { code: 'unavailable', message: 'away' };
    return method === 'GetRank' ? { entry } : { total: 9 };
  });
  const position = { scores: [4], twenty48: { tiles: [4] } };
  const element = document.createElement('div');
  const game = { id: 'g', variant: 'classic', ranked: true, position };
  createResult(game, 0).finish(element, game, () => {});
  for (let second = 0; second < 150; second++) {
    away = second < 120;
    t.mock.timers.tick(1000);
    await settle();
  }
  assert.match(element.textContent, /#7 of 9 today/);
});

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

test('a game with other players says why no move is undone', async () => {
  const message = 'other players';
  serve((method) => method === 'Undo' && { code: 'failed_precondition', message });
  const seats = ['ada', 'bob'].map((id) => ({ player: { id } }));
  const game = { id: 'g', seats, status: 'GAME_STATUS_ACTIVE', position: { scores: [0, 0] } };
  const own = ownSeat(game, 0, { aim: () => [], best: () => 0, finish() {} });
  const draw = () => {};
  own.open({ state: { game }, replay: {}, board: { element: element() }, draw });
  press('u');
  await settle();
  assert.match(own.element.textContent, /Other players\./);
});
