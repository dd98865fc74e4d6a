// The account: a name, and a token that takes it to other devices.
import { account, call, kept, nameHeader, setAccount } from './api.js';
import { copy, h } from './dom.js';
import { ask, createAccount, explain, unkept } from './persist.js';

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
      h('h2', me ? 'Another account' : 'You have one already?'),
      pasting(done),
    ),
  );
}

/**
 * Makes a form of one field. What submit throws is shown.
 * @param {string} label
 * @param {Record<string, any>} field
 * @param {string} button
 * @param {(text: string) => Promise<void>} submit
 */
function form(label, field, button, submit) {
  const input = h('input', {
    required: true,
    autocomplete: 'off',
    autocapitalize: 'none',
    spellcheck: 'false',
    ...field,
  });
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
  return h('form', { onsubmit }, h('label', label, input), error, send);
}

/** @param {() => void} done */
const naming = (done) =>
  form(
    'What should others call you? A name never changes.',
    {
      maxlength: 24,
      pattern: '(?!.*  )[A-Za-z0-9][A-Za-z0-9 _.\\-]*',
      title: 'Letters, digits, single spaces and - _ . beginning with a letter or a digit',
    },
    'Create account',
    (name) => createAccount(name).then(done),
  );

/** @param {() => void} done */
const pasting = (done) =>
  form(
    'Paste its token to play under it here.',
    {
      type: 'password',
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

/** Asks before the account leaves this device. @param {Account} me */
const forget = (me) =>
  ask(
    `Forget ${me.name} on this device?`,
    'Only its token brings it back. Copy that first, unless you have it elsewhere.',
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
      h('code', 'gridstand login --token'),
      ' asks for it; in another browser, paste it on this page.',
    ),
    h('p.row', reveal, h('button', { onclick: () => copy(me.token) }, 'Copy token')),
    token,
    h('h2', 'On this device'),
    h('p', h('button', { onclick: leave }, 'Forget this account')),
  ];
}
