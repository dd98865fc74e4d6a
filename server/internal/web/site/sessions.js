// The sessions of an account: browsers that continued with it by a link.
import { account, call } from './api.js';
import { h } from './dom.js';
import { explain } from './persist.js';

/** Ends the session with the given token. Ignores errors: it expires. @param {string} token */
export const endSession = (token) => call('EndSession', {}, { token }).catch(() => {});

/** Lists the sessions of the account. An account's own token can end them. */
export function sessionList() {
  const list = h('ul.stack');
  const box = h('div.stack', { hidden: true }, h('h2', 'Browsers that use this account'), list);
  const problem = h('p.bad', { role: 'alert' });
  async function read() {
    /** @type {{sessions?: {id: string, comment?: string, createTime: string}[]}} */
    const { sessions = [] } = await call('ListSessions');
    box.hidden = !sessions.length;
    list.replaceChildren(
      ...sessions.map(({ id, comment, createTime }) => {
        const end = () =>
          call('EndSession', { sessionId: id }).then(read, (e) => {
            problem.textContent = explain(e);
          });
        return h(
          'li.row',
          h('span', `${comment || 'A browser'}, since ${createTime.slice(0, 10)}`),
          !account()?.session && h('button', { onclick: end }, 'End'),
        );
      }),
    );
  }
  box.append(problem);
  read().catch(() => {}); // The rest of the page does not need the list.
  return box;
}
