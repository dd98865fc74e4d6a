// Names of players and bots. A bot has a mark, so that a name without one is that of a person. The
// mark is in front, where a long name does not push it out of sight.
import { h } from './dom.js';
import { seatName } from './game-state.js';

/** @param {any} who @param {any} name */
const marked = (who, name) =>
  who.bot || who.player?.bot ? [h('span.bot', 'bot'), ' ', name] : [name];

/** Makes the names of the occupants of seats, or of other entries with a player or bot. @param {any[]} all */
export const names = (all) =>
  all.flatMap((who, i) => [i ? ', ' : '', ...marked(who, seatName(who))]);

/** Makes the name of a seat's occupant, with a link to a player's page. @param {any} seat */
export const link = (seat) => {
  const href = seat.player && `/p/${encodeURIComponent(seat.player.name)}`;
  return marked(seat, href ? h('a', { href }, seatName(seat)) : seatName(seat));
};
