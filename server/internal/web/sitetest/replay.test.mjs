// Tests the replay of a game.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { press, settle } from './dom.mjs';

const { State } = await import('../site/game-state.js');
const { createMoves } = await import('../site/panel.js');
const { createReplay } = await import('../site/replay.js');

const status = (n, end) => `GAME_STATUS_${n < end ? 'ACTIVE' : 'FINISHED'}`;
/** Writes the event of a version of a game, which is over at version end. */
const event = (version, end) => ({
  version,
  seat: version > 1 ? 0 : undefined,
  moved: version > 1 ? { direction: 'DIRECTION_UP' } : undefined,
  position: { moveCount: version - 1, scores: [4 * version] },
  result: version === end ? { reason: 'REASON_NO_MOVES' } : undefined,
});
/** Makes the replay of a game with n versions, and a function that lets the server send them. */
function start(n, end) {
  const state = new State();
  const { position } = event(n, end);
  state.apply({ game: { id: 'g', version: n, status: status(n, end), seats: [{}], position } });
  let send;
  globalThis.fetch = () =>
    new Promise((resolve) => {
      const events = Array.from({ length: n }, (_, i) => event(i + 1, end));
      const texts = events.map(
        (e) => `id: ${e.version}\ndata: ${JSON.stringify({ event: e })}\n\n`,
      );
      const body = new Blob(texts).stream();
      send = () => resolve({ ok: true, status: 200, headers: new Headers(), body });
    });
  const shown = [];
  const replay = createReplay(
    state,
    (e) => shown.push(e?.version ?? 'newest'),
    () => {},
  );
  replay.bind();
  return {
    state,
    replay,
    shown,
    async send() {
      await settle();
      send();
      while (replay.past.length < n) await settle();
      await settle();
    },
  };
}

test('a game that ends after its viewer has rewound it gets its curve', async () => {
  const { state, replay, send } = start(3, 4);
  press('ArrowLeft');
  await send();
  assert.ok(replay.element.find('span', 'move 1 of 2'), 'once its events are loaded');
  assert.equal(replay.element.find('polyline'), undefined, 'while it is live');
  const last = event(4, 4);
  state.apply({ event: last });
  replay.update(last);
  await replay.load();
  await replay.load();
  assert.equal(replay.element.all().filter((e) => e.name === 'polyline').length, 1);
});

test('keys while the events are loaded: the last one counts', async (t) => {
  for (const [keys, playing, at] of [
    [[' '], true, 1],
    [[' ', ' '], false, 1],
    [[' ', ' ', ' '], true, 1],
    [[' ', 'End'], false, 0],
    [[' ', 'ArrowRight'], false, 2],
  ]) {
    await t.test(keys.join(), async (t) => {
      const { replay, send } = start(9, 9);
      t.mock.timers.enable({ apis: ['setTimeout'] });
      for (const key of keys) press(key);
      await send();
      assert.equal(replay.playing, playing);
      assert.equal(replay.at, at);
      t.mock.timers.tick(500);
      await settle();
      assert.equal(replay.at, at + Number(playing), 'one step in half a second, if it plays');
      if (playing) press(' ');
      t.mock.timers.tick(2000);
      await settle();
      assert.equal(replay.at, at + Number(playing), 'paused');
    });
  }
});

test('a line of moves keeps the focus when the list is drawn again', () => {
  const past = Array.from({ length: 100 }, (_, i) => event(i + 1, 101));
  const state = { game: { seats: [{}] } };
  const { element, show } = createMoves(state, (version) => show(past, version));
  document.body.append(element);
  const focused = () => document.activeElement.find('small').textContent;
  show(past.slice(50, 90), 90);
  element.find('button', '79').focus();
  show(past, 90); // The events before have been loaded.
  assert.equal(focused(), '79');
  show(past, 91);
  assert.equal(focused(), '79');
  document.activeElement.click();
  assert.equal(element.find('small').textContent, '79');
  assert.equal(focused(), '79');
  show(past, 100);
  assert.equal(focused(), '79');
  show(past, 30);
  assert.equal(document.activeElement, document.body);
  show(past, 40);
  assert.equal(document.activeElement, document.body);
});
