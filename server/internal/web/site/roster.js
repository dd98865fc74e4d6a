// The roster of a race: the entrants, and the player's actions before it starts.
import { account, isMine } from './api.js';
import { h } from './dom.js';
import { link } from './names.js';
import { draw, explain, nameRules, persist, signIn } from './persist.js';
import * as words from './words.js';

/** @import { Challenge, Variant } from '../types' */

const most = 8; // maximum number of entrants

/** Makes a field for the name of a player, unless there is an account, and its action. */
export const nameField = () => {
  const input = h('input', { ...nameRules, placeholder: 'guest' });
  return {
    label: !account() && h('label', 'Your name', input),
    /** Creates an account with that name, or a guest account, unless there is one. */
    signIn: () => signIn(input.value.trim()),
  };
};

/** Returns the player's entry in a race, if any. @param {Challenge} race */
export const entrant = (race) => race.entrants?.find(isMine);

/**
 * @param {(challenge: Challenge) => void} changed is called with the race after an action
 */
export function createRoster(changed) {
  const list = h('ul.seats');
  const problem = h('p.bad', { role: 'alert' });
  const controls = h('div.row');
  const others = h('div.row.bots', { hidden: true });
  const element = h('div.stack', list, controls, others, problem);
  /** @type {Challenge} */
  let race;
  let role = '';

  /** @param {any} method @param {object} [request] @param {() => Promise<any>} [first] */
  async function act(method, request, first) {
    problem.textContent = '';
    try {
      await first?.();
      changed((await persist(method, { challengeId: race.id, ...request })).challenge);
    } catch (e) {
      problem.textContent = explain(e);
    }
  }
  const toggle = () => {
    const mine = entrant(race);
    if (mine) act('JoinChallenge', { ready: !mine.ready });
  };
  const ready = h('button.primary', { onclick: toggle });
  const start = h('button', { onclick: () => act('StartChallenge') }, 'Start now');
  const bots = h('select', { 'aria-label': 'Bot' }, h('option', { value: '' }, 'Bots'));
  const addBot = () => act('JoinChallenge', { bot: bots.value, requestId: draw() });
  const add = h('button', { onclick: addBot }, 'Add bot');
  const leave = h('button', { onclick: () => act('LeaveChallenge') }, 'Leave');

  function join() {
    const field = nameField();
    const onsubmit = (/** @type {Event} */ e) => {
      e.preventDefault();
      act('JoinChallenge', {}, field.signIn);
    };
    return h('form', { onsubmit }, field.label, h('button.primary.large', 'Join'));
  }
  async function listBots() {
    const { variants } = await persist('ListVariants', {}, { anonymous: true });
    const variant = variants.find((/** @type {Variant} */ v) => v.id === race.variant);
    bots.replaceChildren(
      ...(variant?.bots || []).map((/** @type {string} */ b) =>
        h('option', { value: b }, `${b}: ${words.bots[b]}`),
      ),
    );
    limit();
  }
  function limit() {
    add.disabled = !bots.value || (race.entrants?.length || 0) >= most;
  }

  return {
    element,
    toggle,
    /** @param {Challenge} c */
    show(c) {
      const before = JSON.stringify(race?.entrants);
      race = c;
      if (before === JSON.stringify(c.entrants) && role) return; // A new list would lose the focus.
      const mine = entrant(c);
      const left = !c.entrants?.some((e) => e.player?.id === c.creator?.id);
      const host = isMine({ player: c.creator }) || (left && !!mine);
      const count = c.entrants?.length || 0;
      const free = Array.from({ length: most - count }, () => h('li.free.dim', 'free'));
      list.replaceChildren(
        ...(c.entrants || []).map((e) => {
          const out = () => act('LeaveChallenge', { gameId: e.gameId });
          return h(
            'li.card',
            h('b', link(e)),
            isMine(e) && h('span', '(you)'),
            e.bot
              ? h('small', words.bots[e.bot])
              : h(e.ready ? 'small.good' : 'small', e.ready ? '✓ ready' : 'not ready'),
            e.bot && host && h('button', { onclick: out, 'aria-label': `Remove ${e.bot}` }, '×'),
          );
        }),
        ...free,
      );
      ready.textContent = mine?.ready ? 'Not ready' : 'Ready';
      start.disabled = count < 2;
      limit();
      const now = mine ? (host ? 'host' : 'entrant') : count < most ? 'guest' : 'full';
      if (now === role) return;
      role = now;
      if (mine) controls.replaceChildren(ready, ...(host ? [start] : []), leave);
      else controls.replaceChildren(count < most ? join() : 'The race is full.');
      others.hidden = !(mine && host);
      others.replaceChildren(bots, add);
      if (mine && host) listBots();
    },
  };
}
