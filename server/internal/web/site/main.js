// Shows the page that the server selected in data-page.
import { attempt, nameHeader, raceKey } from './api.js';
import { keys, showKeys } from './dom.js';

const { page, ...data } = document.body.dataset;
nameHeader();
addEventListener('storage', nameHeader); // Another tab may have changed the account.
for (const link of document.querySelectorAll('nav a')) {
  const { pathname } = /** @type {HTMLAnchorElement} */ (link);
  const [, part] = pathname.split('/');
  const here = location.pathname.split('/')[1] === part;
  if (part === 'p' ? location.pathname === pathname : here)
    link.setAttribute('aria-current', 'page');
}

keys([
  ['?', 'list the keys', showKeys],
  ['p', 'play', () => location.assign('/play/classic')],
  ['d', 'daily game', () => location.assign('/daily')],
  ['t', 'TV', () => location.assign('/')],
]);
if (attempt(() => sessionStorage.getItem(raceKey))) import('./reminder.js').then((m) => m.remind());
document.getElementById('keys')?.addEventListener('click', showKeys);

const themeKey = 'gridstand.theme';
const theme = /** @type {HTMLSelectElement} */ (document.getElementById('theme'));
const paint = () => {
  document.documentElement.dataset.theme = theme.value;
};
theme.value = attempt(() => localStorage.getItem(themeKey)) ?? '';
theme.onchange = () => {
  paint();
  attempt(() => localStorage.setItem(themeKey, theme.value));
};
paint();

const root = document.getElementById('main');
if (root && page)
  import(`./${page}.js`).then((module) => {
    root.replaceChildren();
    module.default(root, data);
  });
