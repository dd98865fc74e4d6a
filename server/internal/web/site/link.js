// The page of a link, which continues with an account from SSH or a terminal in this browser.
import { account, call, nameHeader, setAccount } from './api.js';
import { h } from './dom.js';
import { failed } from './failed.js';
import { draw } from './persist.js';
import { endSession } from './sessions.js';

/** Describes this browser in the list of sessions. */
function browser() {
  const [name = 'A browser'] = /Firefox|Edg|Chrome|Safari/.exec(navigator.userAgent) || [];
  return `${name.replace('Edg', 'Edge')} on ${navigator.platform}`.slice(0, 64);
}

/** @param {HTMLElement} root */
export default async function show(root) {
  // Another link differs only in the fragment, for which a browser loads nothing.
  addEventListener('hashchange', () => location.reload());
  const before = account();
  const request = { code: location.hash.slice(1), secret: draw(), comment: browser() };
  try {
    const { player, token } = await call('OpenSession', request, { anonymous: true });
    // The code has been used, and its session is in no history.
    history.replaceState(null, '', '/link');
    const session = { id: player.id, name: player.name, token, session: true };
    const leave = async () => {
      await endSession(session.token);
      location.assign('/');
    };
    if (before?.id === player.id && !before?.session) {
      await endSession(token);
      return root.replaceChildren(
        h('div.empty', h('h1', `You are ${player.name} here already`), play()),
      );
    }
    const accept = async () => {
      // Only one session is kept, and the account that the browser had before it.
      if (before?.session) await endSession(before.token);
      setAccount({ ...session, former: before?.session ? before.former : before });
      nameHeader();
      root.replaceChildren(h('div.empty', h('h1', `You are ${player.name}`), play()));
    };
    const former = before?.session ? before.former : before;
    root.replaceChildren(
      h(
        'div.empty',
        h('h1', `Play as ${player.name}?`),
        h('p', 'This browser can then play, watch and rename, but not change tokens or SSH keys.'),
        former &&
          h(
            'p',
            `It keeps ${former.name}, which returns when you stop playing as ${player.name}, on the account page.`,
          ),
        h(
          'p.row',
          h('button.primary', { onclick: accept, autofocus: true }, `Play as ${player.name}`),
          h('button', { onclick: leave }, 'No'),
        ),
      ),
    );
  } catch (e) {
    failed(root, e);
  }
}

const play = () => h('a.button.primary', { href: '/play/classic' }, 'Play');
