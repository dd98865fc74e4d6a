// The page that lists the races that wait, and creates a race, or a challenge to share as a link.
import { h } from './dom.js';
import { draw, explain, persist } from './persist.js';
import { raceNow, showPlaces } from './places.js';
import { nameField } from './roster.js';

/** @import { Variant } from '../types' */

/** @param {HTMLElement} root */
export default async function show(root) {
  const field = nameField();
  const variant = h('select', h('option', 'classic'));
  const time = { type: 'number', min: 0.5, max: 60, step: 0.5, value: 3, required: true };
  const minutes = h('input', time);
  const hidden = h('input', { type: 'checkbox' });
  const problem = h('p.bad', { role: 'alert' });
  const link = h('button', { value: 'link' }, 'Create a link');
  let creating = false;
  addEventListener('pageshow', () => {
    creating = false; // The page may return as it is.
  });
  const onsubmit = async (/** @type {SubmitEvent} */ e) => {
    e.preventDefault();
    if (creating) return; // A second press creates no other race.
    creating = true;
    const race = e.submitter !== link;
    try {
      await field.signIn();
      const { challenge } = await persist('CreateChallenge', {
        kind: race ? 'CHALLENGE_KIND_RACE' : 'CHALLENGE_KIND_LINK',
        variant: variant.value,
        limit: race ? `${60 * minutes.value}s` : undefined,
        private: hidden.checked,
        requestId: draw(),
      });
      location.assign(`/c/${challenge.id}`);
    } catch (e) {
      creating = false;
      problem.textContent = explain(e);
    }
  };
  const places = h('div.stack', { hidden: true });
  root.append(
    h(
      'div.stack.narrow',
      h('h1', 'Race'),
      h('p', 'Up to eight play the same tiles at the same time. The highest score wins.'),
      h('p', raceNow('button.large.primary')),
      h('small', '3 minutes of classic with a player who waits, or with a bot.'),
      places,
      h('h2', 'A new race'),
      h(
        'form.card',
        { onsubmit },
        field.label,
        h('div.row', h('label', 'Variant', variant), h('label', 'Minutes', minutes)),
        h('label.row', hidden, 'Private: only for players with the link'),
        problem,
        h('div.row', h('button', 'Create race'), link),
        h('small', 'Everyone with a link can play the same tiles at any time.'),
      ),
    ),
  );
  showPlaces(places, 10);
  /** @type {Variant[]} */
  const variants = (await persist('ListVariants', {}, { anonymous: true })).variants;
  variant.replaceChildren(
    ...variants.filter((v) => v.kind === 'KIND_TWENTY48').map((v) => h('option', v.id)),
  );
}
