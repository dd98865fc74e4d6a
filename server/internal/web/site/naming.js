// Names: forms with one field, and the question for a name that a guest gets once.
import { account, attempt, setAccount } from './api.js';
import { h, reveal, toast } from './dom.js';
import { explain, nameRules, persist } from './persist.js';

/**
 * Makes a form with one field. It shows an error that submit throws.
 * @param {string} label
 * @param {Record<string, any>} field
 * @param {HTMLButtonElement} send
 * @param {(text: string) => Promise<void>} submit
 * @returns {HTMLFormElement}
 */
export function form(label, field, send, submit) {
  const input = h('input', { ...nameRules, required: true, ...field });
  const error = h('p.bad', { role: 'alert' });
  const onsubmit = async (/** @type {Event} */ e) => {
    e.preventDefault();
    error.textContent = '';
    send.disabled = true;
    await submit(input.value.trim()).catch((problem) => {
      error.textContent = explain(problem);
    });
    send.disabled = false;
  };
  return h('form.card', { onsubmit }, h('label', label, input), error, send);
}

/** Reports whether the player has not chosen a name. */
export const isGuest = () => /^guest-.{6}$/i.test(account()?.name ?? '');

/**
 * Makes a form for another name.
 * @param {string} label
 * @param {() => void} done
 */
export const renaming = (label, done) =>
  form(label, { placeholder: account()?.name }, h('button', 'Use this name'), async (name) => {
    const { player } = await persist('Rename', { name });
    setAccount({ .../** @type {any} */ (account()), name: player.name });
    done();
  });

/** Says how often a name can be changed. */
export const often = 'Afterwards you can change the name once in 30 days.';

const askedKey = 'gridstand.asked';
let asked = false; // for browsers without localStorage

/**
 * Asks a guest for a name beside a good result, once.
 * @param {HTMLElement} beside
 */
export function askName(beside) {
  const me = account()?.id;
  if (!me || !isGuest() || asked || attempt(() => localStorage.getItem(askedKey)) === me) return;
  asked = true;
  attempt(() => localStorage.setItem(askedKey, me));
  const box = h(
    'div.stack',
    renaming(
      `A good result! What should others call you? Your games and rank stay. ${often}`,
      () => {
        box.replaceChildren(h('p', `You are ${account()?.name} now.`));
        toast('Name saved');
      },
    ),
    h('button', { onclick: () => box.remove() }, 'Stay a guest'),
  );
  beside.append(box);
  reveal(box);
}
