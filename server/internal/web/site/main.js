// Shows the page that the server selected in data-page.
import { nameHeader } from './api.js';
import { keys, showKeys } from './dom.js';

const { page, ...data } = document.body.dataset;
nameHeader();

keys([
  ['?', 'list the keys', showKeys],
  ['p', 'play', () => location.assign('/play/classic')],
  ['d', 'daily game', () => location.assign('/daily')],
  ['t', 'TV', () => location.assign('/')],
]);
document.getElementById('keys')?.addEventListener('click', showKeys);

const root = document.getElementById('main');
if (root && page)
  import(`./${page}.js`).then((module) => {
    root.replaceChildren();
    module.default(root, data);
  });
