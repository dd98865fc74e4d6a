// Shows the page that the server selected in data-page.
import account from './account.js';
import { attempt, nameHeader } from './api.js';
import challenge from './challenge.js';
import daily from './daily.js';
import { dailyLink, keys, showKeys } from './dom.js';
import game from './game-view.js';
import link from './link.js';
import play from './play.js';
import player from './player.js';
import race from './race.js';
import { remind } from './reminder.js';
import top from './top.js';
import tv from './tv.js';

/** @type {Record<string, (root: HTMLElement, data: any) => unknown>} */
const pages = { account, challenge, daily, game, link, play, player, race, top, tv };
const { page, ...data } = document.body.dataset;
// The pages of a kind begin like the header's link to one of them. That to the account is still /account.
const [, kind] = location.pathname.split('/');
const here = document.querySelector(`nav :is([href="/${kind}"], [href^="/${kind}/"])`);
here?.setAttribute('aria-current', 'page');
nameHeader();
addEventListener('storage', nameHeader); // Another tab may have changed the account.

keys([
  ['?', 'list the keys', showKeys],
  ['p', 'play', () => location.assign('/play/classic')],
  ['d', dailyLink ? 'daily game' : '', () => dailyLink?.click()],
  ['t', 'TV', () => location.assign('/')],
]);
remind();
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
if (root && page) {
  root.replaceChildren();
  pages[page](root, data);
}
