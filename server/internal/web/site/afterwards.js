// What a player can do after a game: the daily game, and what waits for players.
import { createDaily } from './daily-card.js';
import { h } from './dom.js';
import { showPlaces } from './places.js';

/** @param {any} result the card with the result of the game */
export function showNext(result) {
  const places = h('div.stack', { hidden: true });
  result.append(createDaily(), places);
  showPlaces(places, 2);
}
