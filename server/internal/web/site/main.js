// Shows the page that the server named in data-page.
import { account } from './api.js';
import { h, keys, showKeys } from './dom.js';

const { page, ...data } = document.body.dataset;
const me = document.getElementById('me');
const name = account()?.name;
if (me && name) me.textContent = name;

keys([
  ['?', 'list the keys', showKeys],
  ['p', 'play', () => location.assign('/play/classic')],
  ['t', 'TV', () => location.assign('/')],
]);
document.getElementById('keys')?.addEventListener('click', showKeys);

const root = document.getElementById('main');
if (root && page) {
  import(`./${page}.js`).then(
    (module) => module.default(root, data),
    (err) => {
      console.error(err);
      root.replaceChildren(
        h(
          'p',
          { class: 'problem' },
          'This page could not be loaded. ',
          h('a', { href: '' }, 'Try again'),
        ),
      );
    },
  );
}
