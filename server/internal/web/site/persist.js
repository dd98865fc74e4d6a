// Calls that change something, repeated until the server has answered.

import { ApiError, account, call, kept, setAccount } from './api.js';
import { dialog, h, toast } from './dom.js';

/** @import { Calls } from '../types' */

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/** Draws random base32 characters for an ID or a secret, 26 by default. */
export function draw(length = 26) {
  return Array.from(crypto.getRandomValues(new Uint8Array(length)), (b) => ALPHABET[b % 32]).join(
    '',
  );
}

/** @param {number} ms */
function pause(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
    if (!navigator.onLine) addEventListener('online', resolve, { once: true });
  });
}

/**
 * Reports whether a call with this error may have taken effect, or may succeed if it is retried.
 * @param {unknown} e
 */
const unsettled = (e) =>
  !(e instanceof ApiError) ||
  e.reason === 'RATE_LIMITED' ||
  /^(unavailable|deadline_exceeded|canceled)$/.test(e.code);

/** Describes an error in a sentence. @param {any} e */
export function explain(e) {
  const text =
    e instanceof ApiError
      ? e.message
      : navigator.onLine
        ? 'the server does not answer'
        : 'you are offline';
  return text[0].toUpperCase() + text.slice(1).replace(/\.?$/, '.');
}

/**
 * Makes an idempotent call, and retries it until its outcome is known.
 * @template {keyof Calls} M
 * @param {M} method
 * @param {Calls[M][0]} request
 * @param {{settled?: () => boolean, onWait?: (text: string) => void, anonymous?: boolean}} [options] settled
 * reports whether the response is no longer needed; onWait tells the player the reason before a retry,
 * and that a call is slow, which no read does by default; anonymous calls send no token
 * @returns {Promise<Calls[M][1]>}
 */
export async function persist(method, request, options = {}) {
  const { settled, onWait = /^(Get|List)/.test(method) ? null : toast, anonymous } = options;
  for (let tries = 0; ; tries++) {
    // Later tries wait longer, because each that is given up keeps one of six connections; see patience.
    const signal = AbortSignal.timeout(8000 * 2 ** Math.min(tries, 3));
    const slow = setTimeout(() => tries || settled?.() || onWait?.(explain(0)), 2000);
    try {
      return await call(method, request, { signal, anonymous });
    } catch (/** @type {any} */ e) {
      if (settled?.() || !unsettled(e)) throw e;
      onWait?.(`${explain(e)} Retrying …`);
      const asked = Math.min(e.retryAfter || 0, 60) * 1000;
      await pause(asked + Math.min(250 * 2 ** tries, 4000) * (0.5 + Math.random()));
    } finally {
      clearTimeout(slow);
    }
  }
}

/**
 * Runs an action that reads a result, until it does not fail or has been tried for a minute, because the
 * server may not have counted the result yet.
 * @param {() => Promise<unknown>} action
 */
export const eventually = (action, tries = 0) =>
  action().catch(() => tries < 7 && setTimeout(eventually, 500 * 2 ** tries, action, tries + 1));

export const unkept = 'This browser stores nothing, so the account exists only on this page.';

/**
 * Creates an account and stores it. The secret is drawn here, so that the call can be retried.
 * @param {string} name
 */
export async function createAccount(name) {
  const request = { name, secret: draw() };
  const { player, token } = await persist('CreatePlayer', request);
  setAccount({ id: player.id, name: player.name, token });
  if (!kept()) toast(unkept);
}

/** The account that is being created. @type {Promise<void> | undefined} */
let creating;
/**
 * Creates an account with a name, or a guest account, unless there is one. Calls at the same time
 * create one account.
 * @param {string} [name]
 */
export async function signIn(name) {
  if (account()) return;
  creating ??= (name ? createAccount(name) : createGuest()).finally(() => {
    creating = undefined;
  });
  await creating;
}

/** Creates an account for a player who has not chosen a name yet. */
async function createGuest() {
  for (;;) {
    try {
      return await createAccount(`guest-${draw(6)}`);
    } catch (e) {
      if (/** @type {ApiError} */ (e).reason !== 'NAME_TAKEN') throw e;
    }
  }
}

/** The attributes of an input for a name. */
export const nameRules = {
  maxlength: 24,
  pattern: '(?!.*  )[A-Za-z0-9][A-Za-z0-9 _.\\-]*',
  title: 'Letters, digits, single spaces and - _ . beginning with a letter or a digit',
  autocomplete: 'off',
  autocapitalize: 'none',
  spellcheck: 'false',
};

/**
 * Asks for confirmation before something is lost.
 * @param {string} title
 * @param {string} text
 * @param {string} yes the label of the button that confirms
 * @returns {Promise<boolean>}
 */
export const ask = (title, text, yes) =>
  new Promise((resolve) => {
    const go = h('button.primary', { onclick: () => box.close(yes) }, yes);
    const box = dialog(title, 'Cancel', h('p', text), go);
    box.addEventListener('close', () => resolve(box.returnValue === yes));
  });
