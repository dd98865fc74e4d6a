// The account page: the name, and the token for other devices.
import { account, call, kept, setAccount } from './api.js';
import { copy, h } from './dom.js';
import { form, isGuest, often, renaming } from './naming.js';
import { ask, createAccount, unkept } from './persist.js';
import { endSession, sessionList } from './sessions.js';

/** @import { Account } from './api.js' */

/** @param {HTMLElement} root */
export default function show(root) {
  const me = account();
  const done = () => show(root);
  // Another tab may have changed the account.
  globalThis.onstorage = () => account()?.token !== me?.token && done();
  // Another device may have renamed the account.
  if (me)
    call('GetPlayer', { playerId: 'me' }).then(
      ({ player }) => {
        if (player.name === me.name || account()?.id !== me.id) return;
        setAccount({ ...me, name: player.name });
        done();
      },
      () => {},
    );
  root.replaceChildren(
    h(
      'div.stack.narrow',
      h('h1', me ? me.name : 'Your account'),
      me ? yours(me, done) : naming(done),
      h(
        'details',
        { open: !me },
        h('summary', me ? 'Another account' : 'Already have an account?'),
        pasting(done),
      ),
    ),
  );
}

/** @param {() => void} done */
const naming = (done) =>
  form('What should others call you?', {}, h('button.primary', 'Create account'), (name) =>
    createAccount(name).then(done),
  );

/** @param {() => void} done */
const pasting = (done) =>
  form(
    'Paste the token that this page shows in the other browser, or "gridstand account token" in a terminal.',
    {
      type: 'password',
      maxlength: null,
      pattern: '[a-z2-7]{26}\\.[a-z2-7]{26,128}',
      title: 'A token: letters and digits with one dot',
    },
    h('button', 'Use this account'),
    async (token) => {
      const before = account();
      if (before && before.token !== token && !(await forget(before))) return;
      const { player } = await call('GetPlayer', { playerId: 'me' }, { token });
      setAccount({ id: player.id, name: player.name, token });
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
  return [
    !kept() && h('p.warn', `${unkept} Copy its token before you leave.`),
    h('p', h('a', { href: `/p/${encodeURIComponent(me.name)}` }, 'Your games')),
    renaming(
      isGuest()
        ? `You are a guest. What should others call you? ${often}`
        : 'You can change the name once in 30 days.',
      done,
    ),
    sessionList(),
    ...(me.session ? borrowed(me, done) : owned(me, done)),
  ];
}

/** What a browser shows that has a session of the account. @param {Account} me @param {() => void} done */
function borrowed(me, done) {
  const stop = async () => {
    await endSession(me.token);
    setAccount(me.former || null);
    done();
  };
  return [
    h('h2', 'On this device'),
    h(
      'p',
      'This browser uses the account by a link. It cannot change tokens, keys or other sessions.',
    ),
    h(
      'p',
      h('button', { onclick: stop }, `Stop playing as ${me.name}`),
      me.former && ` and return to ${me.former.name}`,
    ),
  ];
}

/** What a browser shows that has the account's own token. @param {Account} me @param {() => void} done */
function owned(me, done) {
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
    h('h2', 'On another device'),
    h(
      'p',
      'The token is the key to this account: keep it to yourself. In a terminal, ',
      h('code', 'gridstand account import'),
      ' asks for it; in another browser, paste it on this page.',
    ),
    h(
      'p',
      'Over SSH: import it, then ',
      h('code', 'gridstand account keys add'),
      ' links your key.',
    ),
    h('p.row', reveal, h('button', { onclick: () => copy(me.token) }, 'Copy token')),
    token,
    h('h2', 'On this device'),
    h('p', h('button', { onclick: leave }, 'Forget this account')),
  ];
}
