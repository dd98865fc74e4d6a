// The page that creates a race, or a challenge to share as a link.
import { look } from './api.js';
import { h } from './dom.js';
import { draw, explain, persist } from './persist.js';
import { nameField } from './roster.js';

/** @import { Variant } from '../types' */

/** @param {HTMLElement} root */
export default async function show(root) {
  const field = nameField();
  const variant = h('select', h('option', { value: 'classic' }, 'Classic'));
  const minutes = h('input', { type: 'number', min: 1, max: 60, value: 3, required: true });
  const hidden = h('input', { type: 'checkbox' });
  const problem = h('p.bad', { role: 'alert' });
  const link = h('button', { value: 'link' }, 'Create a link instead');
  const onsubmit = async (/** @type {SubmitEvent} */ e) => {
    e.preventDefault();
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
      problem.textContent = explain(e);
    }
  };
  root.append(
    h(
      'div.stack.narrow',
      h('h1', 'Race'),
      h('p', 'Two to eight players get the same tiles at the same time. The highest score wins.'),
      h(
        'form',
        { onsubmit },
        field.label,
        h('label', 'Variant', variant),
        h('label', 'Minutes', minutes),
        h('label.row', hidden, 'Private: only for players with the link'),
        problem,
        h('button.primary', 'Create race'),
        h('p.dim', 'Everyone with the link can play the same tiles at any time.'),
        link,
      ),
    ),
  );
  /** @type {Variant[]} */
  const variants = (await look('ListVariants')).variants;
  variant.replaceChildren(
    ...variants
      .filter((v) => v.kind === 'KIND_TWENTY48')
      .map((v) => h('option', { value: v.id }, v.title)),
  );
}
