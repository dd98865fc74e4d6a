// What a page shows instead of its content if it cannot show that.
import { account, setAccount } from './api.js';
import { h } from './dom.js';
import { until, wait } from './game-state.js';
import { explain } from './persist.js';

/** Headings of errors that a retry cannot help, by reason or code. @type {Record<string, string>} */
const headings = {
  not_found: 'Not found',
  invalid_argument: 'Not found',
  data_loss: 'This game is damaged',
  CHALLENGE_OPEN: 'Hidden for now',
  CHALLENGE_NOT_OPEN: 'Not open yet',
};

/**
 * Shows an error, and a link or a button to continue.
 * @param {HTMLElement} root
 * @param {any} e
 */
export function failed(root, e) {
  // The challenge that hides a game
  const { challenge_id: id, close_time: end } = e.metadata || {};
  const heading = headings[e.reason] || headings[e.code];
  const lost = e.reason === 'BAD_TOKEN';
  const again = () => {
    if (lost) setAccount(account()?.former || null); // the session may have been ended
    location.reload();
  };
  /** Leads to the first of the pages of this kind, unless that is this one. @type {any} */
  const near = document.querySelector(`nav [aria-current]:not([href="${location.pathname}"])`);
  const href = id ? `/c/${id}` : near ? near.href : '/';
  root.replaceChildren(
    h(
      'div.empty',
      heading && h('h1', heading),
      h('p', { role: 'alert' }, explain(e)),
      end && h('p', `Hidden for another ${wait(until(end))}.`),
      heading
        ? h(
            'a.button.primary',
            { href },
            id ? 'Play the same tiles' : near ? near.textContent : 'Watch live games',
          )
        : h('button.primary', { onclick: again }, lost ? 'Continue without it' : 'Try again'),
    ),
  );
}
