// Prints the page's wording for games, one line of JSON per item.
//
//   node words.mjs FILE
//
// The file is [{"game": {...}, "event": {...}, "n": 3, "ago": 1500}, ...]: a game after an event,
// a number of moves and watchers, and an age in milliseconds.

import { readFileSync } from 'node:fs';
import * as words from '../site/game-state.js';

const now = Date.parse('2026-11-20T12:00:00Z');
performance.now = () => 0;
words.sync(new Date(now).toISOString());

for (const { game, event, n, ago } of JSON.parse(readFileSync(process.argv[2], 'utf8'))) {
  console.log(
    JSON.stringify({
      players: words.players(game),
      ending: words.ending(game),
      outcomes: [-1, 0, 2].map((seat) => words.outcome(game, seat)),
      happened: words.happened(game, event),
      moves: words.plural(n, 'move'),
      watching: words.watching({ audience: n }),
      wait: words.wait(ago),
      ago: words.ago(new Date(now - ago).toISOString()),
      tile: words.largestTile(game.position),
    }),
  );
}
