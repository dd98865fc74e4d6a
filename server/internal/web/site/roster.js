// The roster of a race: the entrants, and the player's actions before it starts.
import { account, look } from './api.js';
import { h } from './dom.js';
import { link } from './panel.js';
import { draw, explain, nameRules, persist, signIn } from './persist.js';

/** @import { Challenge, Variant } from '../types' */

const most = 8; // maximum number of entrants

/** Makes a field for the name of a player without an account. */
export const nameField = () => {
  const input = h('input', { ...nameRules, placeholder: 'guest' });
  return account() ? null : { input, label: h('label', 'Your name (cannot be changed)', input) };
};

const me = () => account()?.id;
/** Returns the player's entry in a race, if any. @param {Challenge} race */
export const entrant = (race) => race.entrants?.find((e) => e.player && e.player.id === me());

/**
 * @param {(challenge: Challenge) => void} changed is called with the race after an action
 */
export function createRoster(changed) {
  const list = h('ul.stack');
  const problem = h('p.bad', { role: 'alert' });
  const controls = h('div.row');
  const element = h('div.stack', list, controls, problem);
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
  const mine = () => entrant(race);
  const count = () => race.entrants?.length || 0;
  const full = () => count() >= most;

  function join() {
    const field = nameField();
    const onsubmit = (/** @type {Event} */ e) => {
      e.preventDefault();
      act('JoinChallenge', {}, () => signIn(field?.input.value.trim()));
    };
    return [h('form', { onsubmit }, field?.label, h('button.primary.large', 'Join'))];
  }
  function taking() {
    const ready = h('button.primary', { onclick: toggle });
    const start = h('button', { onclick: () => act('StartChallenge') }, 'Start now');
    const bots = h('select', { 'aria-label': 'Bot' });
    const add = h(
      'button',
      { onclick: () => act('JoinChallenge', { bot: bots.value, requestId: draw() }) },
      'Add bot',
    );
    const leave = h('button', { onclick: () => act('LeaveChallenge') }, 'Leave');
    refresh = () => {
      ready.textContent = mine()?.ready ? 'Not ready' : 'Ready';
      start.disabled = count() < 2;
      add.disabled = full();
    };
    if (role !== 'creator') return [ready, leave];
    look('ListVariants').then(({ variants }) => {
      const variant = variants.find((/** @type {Variant} */ v) => v.id === race.variant);
      for (const name of variant?.bots || []) bots.append(h('option', name));
    });
    return [ready, start, bots, add, leave];
  }
  let refresh = () => {};
  const toggle = () => mine() && act('JoinChallenge', { ready: !mine()?.ready });

  return {
    element,
    toggle,
    /** @param {Challenge} c */
    show(c) {
      const before = JSON.stringify(race?.entrants);
      race = c;
      if (before === JSON.stringify(c.entrants) && role) return; // A new list would lose the focus.
      const creator = c.creator?.id === me();
      list.replaceChildren(
        ...(c.entrants || []).map((e) => {
          const out = () => act('LeaveChallenge', { gameId: e.gameId });
          return h(
            'li.card.row',
            h('b', link(e)),
            e.bot
              ? 'bot'
              : h(e.ready ? 'span.good' : 'span.dim', e.ready ? '✓ ready' : 'not ready'),
            e.bot && creator && h('button', { onclick: out, 'aria-label': `Remove ${e.bot}` }, '×'),
          );
        }),
      );
      const now = mine() ? (creator ? 'creator' : 'entrant') : full() ? 'full' : 'guest';
      if (now !== role) {
        role = now;
        refresh = () => {};
        controls.replaceChildren(...(mine() ? taking() : full() ? ['The race is full.'] : join()));
      }
      refresh();
    },
  };
}
