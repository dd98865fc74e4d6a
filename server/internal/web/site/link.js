// The page of a link, which continues with an account from SSH or a terminal in this browser.
import { account, setAccount } from './api.js';
import { h } from './dom.js';
import { failed } from './failed.js';
import { draw, persist } from './persist.js';
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
  const code = location.hash.slice(1);
  const before = account();
  const former = before?.session ? before.former : before;
  // Another call with the same secret opens no other session.
  const request = { code, secret: draw(), comment: browser() };
  const accept = async () => {
    button.disabled = true;
    try {
      const { player, token } = await persist('OpenSession', request, { anonymous: true });
      // The code has been used, and its session is in no history.
      history.replaceState(null, '', '/link');
      if (before?.id === player.id && !before?.session) {
        await endSession(token);
        return welcome(`You are ${player.name} here already`);
      }
      // Only one session is kept, and the account that the browser had before it.
      setAccount({ id: player.id, name: player.name, token, session: true, former });
      welcome(`You are ${player.name}`);
      if (before?.session) await endSession(before.token);
    } catch (e) {
      failed(root, e);
    }
  };
  const button = h('button.primary', { onclick: accept, autofocus: true }, 'Play here');
  /** @param {string} heading @param {any} [text] */
  const welcome = (heading, text) =>
    root.replaceChildren(
      h(
        'div.empty',
        h('h1', heading),
        text,
        h('a.button.primary', { href: '/play/classic' }, 'Play'),
      ),
    );
  if (!code)
    return welcome(
      'This link was used or is incomplete',
      h('p', 'Print another: gridstand account link, or over SSH: link.'),
    );
  root.replaceChildren(
    h(
      'div.empty',
      h('h1', 'Play here with your account?'),
      h('p', 'This browser can then play, watch and rename, but not change tokens or SSH keys.'),
      former &&
        h(
          'p',
          `It keeps ${former.name}, which returns when you stop playing with the other, on the account page.`,
        ),
      h('p.row', button, h('a.button', { href: '/' }, 'No')),
    ),
  );
}
