// Elements, keys, and messages to the user.

/** @param {any} value */
const given = (value) => value != null && value !== false;

/** @param {Element} element @param {any[]} content */
function fill(element, [props, ...children]) {
  if (props?.constructor !== Object) children.unshift(props);
  else
    for (const [name, value] of Object.entries(props)) {
      if (typeof value === 'function') element.addEventListener(name.slice(2), value);
      else if (given(value)) element.setAttribute(name, value === true ? '' : value);
    }
  element.append(...children.flat().filter(given));
  return element;
}

/**
 * Makes an HTML element from a tag followed by classes, such as "p.dim". The first argument after
 * it may be an object with props: functions become listeners, other values attributes. The
 * remaining arguments are the children.
 * @param {string} tag
 * @param {...any} content
 * @returns {any}
 */
export function h(tag, ...content) {
  const [name, ...classes] = tag.split('.');
  const element = fill(document.createElement(name), content);
  if (classes[0]) element.className = classes.join(' ');
  return element;
}

/**
 * Like h, but makes an SVG element.
 * @param {string} tag
 * @param {...any} content
 * @returns {any}
 */
export const svg = (tag, ...content) =>
  fill(document.createElementNS('http://www.w3.org/2000/svg', tag), content);

const tall = 60; // of a picture of bars
/**
 * Draws bars, with a height that is the share of the highest one.
 * @param {{share: number, color: string, title: string}[]} all
 * @param {number} width the number of bars that there is room for @param {string} label
 */
export const bars = (all, width, label) =>
  svg(
    'svg',
    {
      viewBox: `0 0 ${width} ${tall}`,
      preserveAspectRatio: 'none',
      class: 'graph',
      role: 'img',
      'aria-label': label,
    },
    all.map(({ share, color, title }, i) => {
      const height = Math.max(1, tall * (share || 0)).toFixed(1);
      const box = { x: i + 0.1, y: tall - +height, width: 0.8, height, fill: `var(--${color})` };
      return svg('rect', box, svg('title', title));
    }),
  );

const spoken = h('p.hidden', { 'aria-live': 'polite' });
const note = h('p.toast', { role: 'status' });
/** The element for links that are shown on top of a page. */
export const reminders = h('div.reminders');
document.body.append(spoken, note, reminders);

let spokenAt = -Infinity;
let speech = 0;
/**
 * Makes screen readers announce a message, at most once in wait milliseconds. A newer
 * message replaces a pending one.
 * @param {string} text
 */
export function announce(text, wait = 2000) {
  clearTimeout(speech);
  speech = setTimeout(
    () => {
      spokenAt = performance.now();
      spoken.textContent = text;
    },
    Math.max(spokenAt + wait - performance.now(), 50),
  );
}

let noted = 0;
/** Shows a message for a few seconds. @param {string} text */
export function toast(text) {
  clearTimeout(noted);
  note.textContent = text;
  note.classList.add('on');
  noted = setTimeout(() => note.classList.remove('on'), 4000);
}

/**
 * Opens a dialog. Escape, a click outside the dialog, and its button close it.
 * @param {string} title
 * @param {string} close the label of the button
 * @param {...any} content
 * @returns {HTMLDialogElement}
 */
export function dialog(title, close, ...content) {
  const box = h(
    'dialog',
    {
      'aria-label': title,
      onclose: () => box.remove(),
      onclick: (/** @type {Event} */ e) => e.target === box && box.close(),
    },
    h('div.stack', h('h2', title), ...content, h('button', { onclick: () => box.close() }, close)),
  );
  document.body.append(box);
  box.showModal();
  return box;
}

/**
 * Shows facts in an element, with dots between those that are on one line.
 * @param {any} element @param {any[]} all texts or elements; empty ones are left out
 */
export const facts = (element, ...all) => {
  element.className = 'facts';
  const fact = (/** @type {any} */ f, /** @type {number} */ i) =>
    h('span', i > 0 && h('i', ' · '), f);
  element.replaceChildren(...all.filter(Boolean).map(fact));
};

/** The header's link to the daily game, or null if the server has none. @type {HTMLElement | null} */
export const dailyLink = document.querySelector('nav [href="/daily"]');

/** Makes a link in a row of tabs. @param {string} href @param {string} text @param {boolean} [here] */
export const tab = (href, text, here) => h('a', { href, 'aria-current': here && 'page' }, text);

/** Scrolls the page as far as necessary to show an element. @param {any} element */
export const reveal = (element) => element.scrollIntoView({ block: 'nearest' });

/** The address of the server's pages, for links that the player shares. */
export const site = document.body.dataset.site || location.origin;

/** Copies a string. If that fails, shows it selected. @param {string} text */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = h('textarea', { readonly: true, 'aria-label': 'Text' }, text);
    const box = dialog('Copy this text', 'Close', field);
    field.select();
    if (!document.execCommand?.('copy')) return;
    box.close();
  }
  toast('Copied');
}

/** Opens the system's share sheet, or copies the text if there is none. @param {string} text */
export const share = (text) =>
  'share' in navigator
    ? navigator.share(text.startsWith('http') ? { url: text } : { text }).catch(() => {})
    : copy(text);

/** Makes a button that copies a link, and one for the share sheet if there is one. @param {() => string} link */
export const shareRow = (link) =>
  h(
    'div.row',
    h('button', { onclick: () => copy(link()) }, 'Copy link'),
    'share' in navigator && h('button', { onclick: () => share(link()) }, 'Share'),
  );

const names = { ' ': 'space', ArrowLeft: '←', ArrowRight: '→', ArrowUp: '↑', ArrowDown: '↓' };
/** @typedef {[key: string, text: string, action: (e: KeyboardEvent) => void]} Key */
/** @type {Map<string, Key>} */
const actions = new Map();

/**
 * Binds keys, by KeyboardEvent.key, or by KeyboardEvent.code for a place on every keyboard.
 * Returns a function that unbinds them. The dialog of "?" lists the keys with a text.
 * @param {Key[]} list
 */
export function keys(list) {
  const before = list.map(([key]) => /** @type {const} */ ([key, actions.get(key)]));
  for (const entry of list) actions.set(entry[0], entry);
  return () => {
    for (const [key, a] of before)
      if (a) actions.set(key, a);
      else actions.delete(key);
  };
}

/** Shows the keys in a dialog. */
export function showKeys() {
  const rows = [...actions.values()].filter(([, text]) => text);
  dialog(
    'Keys',
    'Close',
    h(
      'dl',
      ...rows.map(([key, text]) => [
        h('dt', h('kbd', names[/** @type {" "} */ (key)] || key)),
        h('dd', text),
      ]),
    ),
  );
}

document.addEventListener('keydown', (e) => {
  const at = /** @type {Element} */ (e.target);
  if (
    e.ctrlKey ||
    e.altKey ||
    e.metaKey ||
    at.closest('input:not([type=range]), textarea, select, dialog')
  )
    return;
  if (e.key.length > 1 && at.closest('input')) return; // The key moves the slider.
  if ((e.key === ' ' || e.key === 'Enter') && at.closest("a, button, [tabindex='0']")) return;
  const key = e.key.length === 1 ? e.key.toLowerCase() : e.key;
  // A keyboard of other letters, or an input method, has Latin ones at their places in the US.
  const letter = /^[!-~]$/.test(key) ? '' : e.code.replace(/^Key/, '').toLowerCase();
  const a = actions.get(e.code) || actions.get(key) || actions.get(letter);
  if (!a) return;
  e.preventDefault();
  a[2](e);
});
