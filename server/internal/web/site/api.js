// The server's API: calls, the account, and the stream of a game.

/** An error that the server answered, or that kept it from answering. */
export class ApiError extends Error {
  /**
   * @param {{code?: string, message?: string, details?: any[]}} body
   * @param {string | null} [retryAfter]
   */
  constructor(body, retryAfter) {
    super(body.message || 'The server cannot be reached.');
    this.code = body.code || 'unavailable';
    /** @type {string} */
    this.reason = body.details?.find((d) => d.debug?.reason)?.debug.reason || '';
    /** Seconds after which to try again. */
    this.retryAfter = Number(retryAfter) || 0;
  }
}

/** @param {Response} response */
const errorOf = async (response) =>
  new ApiError(await response.json().catch(() => ({})), response.headers.get('retry-after'));

/** @typedef {{id: string, name: string, token: string}} Account */

const key = 'gridstand.account';
/** The account, for browsers that deny localStorage. */
let memory = 'null';
/** @param {() => any} action */
function attempt(action) {
  try {
    return action();
  } catch {}
}

/** @returns {Account | null} */
export function account() {
  const text = attempt(() => localStorage.getItem(key)) ?? memory;
  const a = attempt(() => JSON.parse(text));
  return typeof a?.token === 'string' ? a : null;
}

/** @param {Account | null} a */
export function setAccount(a) {
  memory = JSON.stringify(a);
  attempt(() => localStorage.setItem(key, memory));
}

/** Reports whether the browser keeps the account when the page closes. */
export const kept = () => attempt(() => localStorage.getItem(key)) != null;

/** Shows the name of the account in the header. */
export function nameHeader() {
  const link = document.getElementById('me');
  if (link) link.textContent = account()?.name || 'Account';
}

/**
 * @param {boolean} [anonymous]
 * @returns {Record<string, string>}
 */
function authorization(anonymous) {
  const a = anonymous ? null : account();
  return a ? { authorization: `Bearer ${a.token}` } : {};
}

/** The services of the methods that are not the game service's. @type {Record<string, string>} */
const services = {
  CreatePlayer: 'Player',
  GetPlayer: 'Player',
  GetRank: 'Leaderboard',
  ListScores: 'Leaderboard',
};

/**
 * Makes a call. Anonymous calls send no token.
 * @param {string} method
 * @param {object} [request]
 * @param {{signal?: AbortSignal, anonymous?: boolean}} [options]
 * @returns {Promise<any>}
 */
export async function call(method, request = {}, { signal, anonymous } = {}) {
  const response = await fetch(`/gridstand.v1.${services[method] || 'Game'}Service/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...authorization(anonymous) },
    body: JSON.stringify(request),
    signal,
  }).catch((err) => {
    throw signal?.aborted ? err : new ApiError({});
  });
  if (!response.ok) throw await errorOf(response);
  return response.json();
}

/** Makes an anonymous call. @param {string} method @param {object} [request] */
export const look = (method, request) => call(method, request, { anonymous: true });

// The server sends something at least every 20 seconds.
const silence = 45e3;
// A tab that was hidden for longer gets the game as it is, not all that it missed.
const staleAfter = 60e3;

/**
 * Reads the stream of a game until its end or close(). It reconnects by itself, and is
 * closed while the tab is hidden.
 * @param {string} id
 * @param {{
 *   after?: number, everyEvent?: boolean, preview?: boolean,
 *   onUpdate: (update: any) => void | boolean,
 *   onEnd?: () => void,
 *   onState?: (state: "connecting" | "live" | "offline", retryIn?: number) => void,
 *   onError?: (error: ApiError) => void,
 * }} options onUpdate may return false to begin again, because an update does not fit;
 *   onError gets an error for which the stream is given up
 * @returns {() => void} close
 */
export function watch(id, { after, everyEvent, preview, onUpdate, onEnd, onState, onError }) {
  /** @type {number | undefined} */
  let last = after;
  let anonymous = false;
  let failures = 0;
  let hiddenAt = 0;
  const leave = new AbortController();
  /** @type {AbortController | null} */
  let open = null;
  let timer = 0;
  let watchdog = 0;

  const stop = () => {
    clearTimeout(timer);
    clearTimeout(watchdog);
    open?.abort();
    open = null;
  };
  const close = () => {
    stop();
    leave.abort();
  };
  const now = () => {
    stop();
    if (!leave.signal.aborted && !document.hidden) connect();
  };
  function visible() {
    if (document.hidden) hiddenAt = Date.now();
    else if (!everyEvent && Date.now() - hiddenAt > staleAfter) last = undefined;
    failures = 0;
    now();
  }

  /** @param {unknown} err */
  function failed(err) {
    let wait = 0;
    if (err instanceof ApiError) {
      wait = err.retryAfter;
      if (err.code === 'unauthenticated' && !anonymous) {
        anonymous = true;
        return now();
      }
      if (err.code === 'aborted' && last !== after) last = after;
      else if (!/^(unavail|resource|deadline|aborted|unknown)/.test(err.code)) {
        close();
        return onError?.(err);
      }
    }
    wait = Math.max(wait, Math.min(0.5 * 2 ** failures++, 15)) * (1 + Math.random() / 2);
    onState?.('offline', wait);
    timer = setTimeout(now, wait * 1e3);
  }

  async function connect() {
    const abort = new AbortController();
    open = abort;
    const alive = () => {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => abort.abort(), silence);
    };
    onState?.('connecting');
    alive();
    try {
      let query = last === undefined ? '' : `after=${last}`;
      if (everyEvent) query += '&every_event=1';
      if (preview) query += '&preview=1';
      const response = await fetch(`/g/${id}/events?${query}`, {
        headers: authorization(anonymous),
        signal: abort.signal,
      });
      if (response.status === 204) return finish();
      if (!response.ok || !response.body) throw await errorOf(response);
      onState?.('live');
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = '';
      for (;;) {
        const { done: ended, value } = await reader.read();
        if (open !== abort) return;
        if (ended) break;
        alive();
        const messages = (rest + value).split('\n\n');
        rest = messages.pop() || '';
        for (const message of messages) {
          if (take(message)) return finish();
          if (leave.signal.aborted) return;
        }
      }
      failed(null);
    } catch (err) {
      if (open === abort) failed(err);
    }
  }

  /**
   * Handles a message; true if it is the end.
   * @param {string} message
   */
  function take(message) {
    /** @param {string} name */
    const field = (name) => new RegExp(`^${name}: (.*)`, 'm').exec(message)?.[1];
    if (field('event') === 'end') return true;
    const data = field('data');
    if (!data) return false;
    if (onUpdate(JSON.parse(data)) === false) {
      last = undefined;
      throw Error('resync');
    }
    last = Number(field('id') || last);
    failures = 0;
    return false;
  }

  function finish() {
    close();
    onEnd?.();
  }

  document.addEventListener('visibilitychange', visible, leave);
  addEventListener('online', now, leave);
  now();
  return close;
}
