// A game with several seats: who may take them, and who is here while it waits for players.
import { h } from './dom.js';
import { owners } from './game-state.js';
import { names } from './names.js';

/** @import { Game, SeatRequest, Variant } from '../types' */

const usual = 'greedy'; // the bot in seats that nobody chose an occupant for
const anyone = 'anyone who comes';

/**
 * Makes the fields for a new game's seats. The player has the first one.
 * @param {Variant} variant
 */
export function createTable({ seats, bots = [] }) {
  const selects = Array.from({ length: seats - 1 }, () =>
    h(
      'select',
      h('option', { value: '' }, anyone),
      ...bots.map((b) => h('option', { value: b }, `bot ${b}`)),
    ),
  );
  for (const select of selects) select.value = usual;
  const hidden = h('input', { type: 'checkbox' });
  return {
    element: h(
      'div.stack',
      h('p', 'Play with bots, or leave seats open for people:'),
      h(
        'div.row',
        selects.map((select, i) => h('label', `Who plays ${owners[i + 1]}`, select)),
      ),
      h('label.row', hidden, 'Private: only for players with the link'),
    ),
    /** @returns {{seats: SeatRequest[], private: boolean}} */
    request: () => ({
      seats: [
        { caller: {} },
        ...selects.map(({ value }) => (value ? { bot: value } : { open: {} })),
      ],
      private: hidden.checked,
    }),
  };
}

/** Makes the card that is shown while a game waits for players. */
export function createWaiting() {
  const here = h('p');
  const element = h(
    'div.stack.card',
    here,
    h('p.dim', 'It starts when all seats are taken. Send somebody the link.'),
  );
  return {
    element,
    /** @param {Game} g */
    show(g) {
      element.hidden = !g.seats.some((s) => s.open);
      here.replaceChildren('Here: ', ...names(g.seats.filter((s) => !s.open)));
    },
  };
}
