// The account page: the name, and the token for other devices.
import { account, call, kept, nameHeader, setAccount } from './api.js';
import { copy, h } from './dom.js';
import { ask, createAccount, explain, nameRules, unkept } from './persist.js';

/** @import { Account } from './api.js' */

/** @param {HTMLElement} root */
export default function show(root) {
  const me = account();
  const done = () => {
    nameHeader();
    show(root);
  };
  root.replaceChildren(
    h(
      'div.stack.narrow',
      h('h1', me ? me.name : 'Your account'),
      me ? yours(me, done) : naming(done),
      h('h2', me ? 'Another account' : 'Already have an account?'),
      h(
        'p.dim',
        'This page shows its token in the other browser. In a terminal, ',
        h('code', 'gridstand account token'),
        ' prints it.',
      ),
      pasting(done),
    ),
  );
}

/**
 * Makes a form with one field. It shows an error that submit throws.
 * @param {string} label
 * @param {Record<string, any>} field
 * @param {string} button
 * @param {(text: string) => Promise<void>} submit
 */
function form(label, field, button, submit) {
  const input = h('input', { ...nameRules, required: true, ...field });
  const error = h('p.bad', { role: 'alert' });
  const send = h('button.primary', button);
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

/** @param {() => void} done */
const naming = (done) =>
  form('What should others call you? A name cannot be changed.', {}, 'Create account', (name) =>
    createAccount(name).then(done),
  );

/** @param {() => void} done */
const pasting = (done) =>
  form(
    'Paste its token to use it here.',
    {
      type: 'password',
      maxlength: null,
      pattern: '[a-z2-7]{26}\\.[a-z2-7]{26,128}',
      title: 'A token: letters and digits with one dot',
    },
    'Use this account',
    async (token) => {
      const before = account();
      if (before && before.token !== token && !(await forget(before))) return;
      setAccount({ id: '', name: '', token });
      try {
        const { player } = await call('GetPlayer', { playerId: 'me' });
        setAccount({ id: player.id, name: player.name, token });
      } catch (e) {
        setAccount(before);
        throw e;
      }
      done();
    },
  );

/** Asks for confirmation to remove the account from this device. @param {Account} me */
const forget = (me) =>
  ask(
    `Forget ${me.name} on this device?`,
    'Only its token can bring it back. Copy the token first unless you have it elsewhere.',
    'Forget it',
  );

/** @param {Account} me @param {() => void} done */
function yours(me, done) {
  const token = h('code.token', { hidden: true }, me.token);
  const toggle = () => {
    token.hidden = !token.hidden;
    reveal.textContent = token.hidden ? 'Show token' : 'Hide token';
  };
  const reveal = h('button', { onclick: toggle }, 'Show token');
  const leave = async () => {
    if (!(await forget(me))) return;
    setAccount(null);
    done();
  };
  return [
    !kept() && h('p.warn', `${unkept} Copy its token before you leave.`),
    h('p', h('a', { href: `/p/${encodeURIComponent(me.name)}` }, 'Your games')),
    h('h2', 'On another device'),
    h(
      'p',
      'The token is the key to this account: keep it to yourself. In a terminal, ',
      h('code', 'gridstand account import'),
      ' asks for it; in another browser, paste it on this page.',
    ),
    h('p.row', reveal, h('button', { onclick: () => copy(me.token) }, 'Copy token')),
    token,
    h('h2', 'On this device'),
    h('p', h('button', { onclick: leave }, 'Forget this account')),
  ];
}
