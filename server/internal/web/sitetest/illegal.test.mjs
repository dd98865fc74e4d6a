// Games with one illegal event, in which everything else follows from that event. The
// verifier must report exactly that event.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ada, seed, Writer } from './testgame.mjs';
import { verifyTranscript } from './transcript.mjs';

const bob = { player: { id: 'bob', name: 'bob' } };
const bot = { bot: 'greedy' };
const program = { player: { id: 'pam', name: 'pam', bot: true } };
const open = { open: {} };

const held = (writer) => JSON.parse(JSON.stringify(verifyTranscript(writer.events)));
const first = new Writer([ada, bob, bot]).board.turn;

test('legal games are verified', () => {
  for (const [name, game] of Object.entries({
    moves: new Writer([ada]).move().move().abandon(),
    undo: new Writer([ada]).move().undo(0, 1).abandon(),
    'a clock': new Writer([ada], 10).at(3).move().at(20).move().abandon(),
    'a time-out': new Writer([ada], 10).at(10).end('TIMED_OUT', { seat: 0, timedOut: {} }),
    'an extended clock': (() => {
      const game = new Writer([ada], 10);
      game.deadline += 5;
      game.add({ seat: 0, clockExtended: { by: '5s' } });
      return game.at(15).end('TIMED_OUT', { seat: 0, timedOut: {} });
    })(),
    players: new Writer([ada, ada, ada]).move().move().undo(1, 2).resign(first).abandon(),
    'an open seat': new Writer([open]).abandon(),
    'moves of bots in a ranked game': (() => {
      const game = new Writer([ada, bot, bot], 0, { ranked: true });
      for (let i = 0; i < 6; i++)
        game.move(undefined, { byBot: !!game.board.turn, clock: undefined });
      return game.abandon();
    })(),
    'winners in any order': (() => {
      const game = new Writer(
        [0, 1, 2].map((i) => (i === first ? ada : bot)),
        10,
        { ranked: true },
      );
      game.at(10).end('TIMED_OUT', { seat: first, timedOut: {} });
      game.events[1].result.winners = [2, 1, 0];
      return game;
    })(),
    'an attempt whose time ran out': new Writer([ada], 0, { challengeId: 'c' })
      .move()
      .end('TIMED_OUT', { seat: 0, timedOut: {} }),
    "a bot's attempt": new Writer([bot], 0, { challengeId: 'c', ranked: false })
      .move(0, { byBot: true })
      .abandon(),
    'a private game': new Writer([ada], 0, { private: true, ranked: false }).abandon(),
    'a program': new Writer([program], 0, { ranked: false }).abandon(),
  })) {
    assert.deepEqual({ name, ...held(game) }, { name, ...held(game), ok: true }, name);
  }
});

/** Each game, the change that makes it illegal, the wrong version, and the verifier's problem. */
const illegal = {
  'a second creation': [
    new Writer([ada]),
    (g) => g.add({ created: g.events[0].created }),
    2,
    /does not fit/,
  ],
  'an event after the end': [new Writer([ada]).abandon(), (g) => g, 3, /after the end/],
  'an older event': [new Writer([ada]).at(5), (g) => g.move().at(4).move(), 3, /older/],
  'a move of no seat': [new Writer([ada]), (g) => g.add({ moved: {} }), 2, /seat/],
  'a seat that does not exist': [
    new Writer([ada]),
    (g) => g.add({ seat: 1, resigned: {} }),
    2,
    /seat/,
  ],
  'a seat that abandons': [
    new Writer([ada]),
    (g) => g.end('ABANDONED', { seat: 0, abandoned: {} }),
    2,
    /seat/,
  ],
  'a move before all players have joined': [
    new Writer([open]),
    (g) => g.add({ seat: 0, moved: {} }),
    2,
    /is waiting/,
  ],
  'a join without a player': [
    new Writer([open]),
    (g) => g.add({ seat: 0, joined: { seat: {} } }),
    2,
    /cannot be joined/,
  ],
  'a join of a taken seat': [
    new Writer([ada, bob, ada]),
    (g) => g.add({ seat: 1, joined: { seat: { index: 1, ...ada } } }),
    2,
    /taken/,
  ],
  'a join of a seat that its player holds': [
    new Writer([ada]),
    (g) => g.add({ seat: 0, joined: { seat: { index: 0, ...ada } } }),
    2,
    /taken/,
  ],
  'a move of another seat': [
    new Writer([ada, ada, ada]),
    (g) => g.move((first + 1) % 3),
    2,
    /turn/,
  ],
  'a move for a bot without byBot': [
    new Writer([0, 1, 2].map((i) => (i === first ? bot : ada))),
    (g) => g.move(),
    2,
    /turn/,
  ],
  'an illegal move': [
    new Writer([ada, ada, ada]),
    (g) => g.add({ seat: first, moved: { cell: { x: 0, y: 0 }, taken: [] } }),
    2,
    /illegal/,
  ],
  'an undo in a game with two players': [
    new Writer([ada, bob, ada]),
    (g) => g.move().undo(0, 1),
    3,
    /undone/,
  ],
  "an undo of a bot's move": [
    new Writer([bot, ada, ada]),
    (g) => {
      g.move(undefined, { byBot: true });
      g.undo(0, 1);
    },
    3,
    /undone/,
  ],
  'an undo to itself': [
    new Writer([ada]),
    (g) => g.move().add({ seat: 0, undone: { toVersion: 3 } }),
    3,
    /undone/,
  ],
  'an undo to version 0': [
    new Writer([ada]),
    (g) => g.move().add({ seat: 0, undone: {} }),
    3,
    /undone/,
  ],
  'an undo to a waiting game': [
    new Writer([open]),
    (g) => {
      g.waiting = false;
      g.add({ seat: 0, joined: { seat: { index: 0, ...ada } } });
      g.undo(0, 1);
    },
    3,
    /undone/,
  ],
  'a second resignation': [
    new Writer([ada, ada, ada]),
    (g) => g.resign((first + 1) % 3).resign((first + 1) % 3),
    3,
    /already resigned/,
  ],
  'a time-out before its time': [
    new Writer([ada], 10),
    (g) => g.at(9).end('TIMED_OUT', { seat: 0, timedOut: {} }),
    2,
    /not run out of time/,
  ],
  'a time-out without a clock': [
    new Writer([ada]),
    (g) => g.at(9).end('TIMED_OUT', { seat: 0, timedOut: {} }),
    2,
    /not run out of time/,
  ],
  'a time-out of another seat': [
    new Writer([ada, ada, ada], 10),
    (g) => g.at(10).add({ seat: (first + 1) % 3, timedOut: { standIn: 'greedy' } }),
    2,
    /not run out of time/,
  ],
  'an undo in an attempt': [
    new Writer([ada], 0, { challengeId: 'c' }),
    (g) => g.move().undo(0, 1),
    3,
    /undone/,
  ],
  'a time-out of an attempt with a stand-in': [
    new Writer([ada], 0, { challengeId: 'c' }),
    (g) => g.add({ seat: 0, timedOut: { standIn: 'greedy' } }),
    2,
    /stand-in/,
  ],
  'a time-out without a stand-in': [
    new Writer([ada, ada, ada], 10),
    (g) => g.at(10).end('TIMED_OUT', { seat: first, timedOut: {} }),
    2,
    /stand-in/,
  ],
  'a stand-in for the last player': [
    new Writer([ada], 10),
    (g) => g.at(10).add({ seat: 0, timedOut: { standIn: 'greedy' } }, false),
    2,
    /stand-in/,
  ],
  'an extension of a clock that is not running': [
    new Writer([ada]),
    (g) => g.add({ seat: 0, clockExtended: { by: '5s' } }),
    2,
    /no clock to extend/,
  ],
  'an extension of 0 s': [
    new Writer([ada], 10),
    (g) => g.add({ seat: 0, clockExtended: { by: '0s' } }),
    2,
    /no clock to extend/,
  ],
  'a clock of 300 years': [new Writer([ada], 1e10), (g) => g, 1, /turn limit is wrong/],
  'a clock extended to 300 years': [
    new Writer([ada], 10),
    (g) => {
      for (let i = 0; i < 2; i++) {
        g.deadline += 5e9;
        g.add({ seat: 0, clockExtended: { by: '5000000000s' } });
      }
    },
    3,
    /clock is too long/,
  ],
  'a clock that restarts': [
    new Writer([ada, ada, ada], 10),
    (g) => g.at(5).add({ seat: (first + 1) % 3, resigned: {} }, true),
    2,
    /turnDeadline/,
  ],
  'a ranked game with a move by a program': [
    new Writer([ada]),
    (g) => g.move(0, { byBot: true }),
    2,
    /ranked/,
  ],
  'a ranked game with an undo': [new Writer([ada]), (g) => g.move().undo(0, 1, true), 3, /ranked/],
  'a ranked private game': [new Writer([ada], 0, { private: true }), (g) => g, 1, /ranked/],
  'a ranked game of a program': [new Writer([program]), (g) => g, 1, /ranked/],
  'a random bot in a ranked game': [
    new Writer([ada, bot, { bot: 'random' }], 0, { ranked: true }),
    (g) => g,
    1,
    /ranked/,
  ],
  'a ranked game of bots': [
    new Writer([bot, bot, bot], 0, { ranked: true }),
    (g) => g,
    1,
    /ranked/,
  ],
  'too few seats': [
    new Writer([ada, ada, ada]),
    (g) => {
      g.events[0].created.seats.pop();
    },
    1,
    /number of seats/,
  ],
  'a seed that is too short': [
    new Writer([ada], 0, { secret: seed.slice(1) }),
    (g) => g,
    1,
    /seed is invalid/,
  ],
  'a missing turn': [
    new Writer([ada]),
    (g) => {
      g.events[0].position.turn = undefined;
    },
    1,
    /turn is missing, recomputed 0/,
  ],
  'a second board': [
    new Writer([ada]),
    (g) => {
      g.events[0].position.tribolo = {};
    },
    1,
    /tribolo/,
  ],
  'a deadline without a clock': [
    new Writer([ada]),
    (g) => {
      g.events[0].position.turnDeadline = g.events[0].time;
    },
    1,
    /turnDeadline/,
  ],
  'a resignation after which only bots are left': [
    new Writer([ada, bot, bot], 0, { ranked: true }),
    (g) => g.resign(0),
    2,
    /recomputed 0/,
  ],
  'the return of a player who has resigned': [
    new Writer(
      [0, 1, 2].map((i) => (i === first ? ada : bob)),
      10,
    ),
    (g) => {
      g.at(10).add({ seat: first, timedOut: { standIn: 'greedy' } }, false);
      g.resign(first).add({
        seat: first,
        joined: { seat: { index: first, ...ada, resigned: true } },
      });
    },
    4,
    /taken/,
  ],
};

test('a game without an id', () => {
  const game = new Writer([ada]).abandon();
  for (const event of game.events) event.gameId = '../../../etc/passwd';
  assert.match(held(game).problem, /id is invalid/);
});

for (const [name, [game, spoil, version, problem]] of Object.entries(illegal)) {
  test(name, () => {
    spoil(game);
    const verdict = held(game.abandon());
    assert.equal(verdict.ok, false);
    assert.match(verdict.problem, problem);
    assert.equal(verdict.version, version);
  });
}
