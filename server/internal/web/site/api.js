// The server's API: calls, the account, and the streams of games and challenges.

import { hear } from './game-state.js';

/** An error from the server, or a failure to reach it. */
export class ApiError extends Error {
  /**
   * @param {{code?: string, message?: string, details?: any[]}} body
   * @param {string | null} [retryAfter]
   */
  constructor(body, retryAfter) {
    super(body.message || 'The server cannot be reached.');
    this.code = body.code || 'unavailable';
    const info = body.details?.find((d) => d.debug?.reason)?.debug;
    /** @type {string} */
    this.reason = info?.reason || '';
    /** @type {Record<string, string>} */
    this.metadata = info?.metadata || {};
    /** Seconds to wait before a retry. */
    this.retryAfter = Number(retryAfter) || 0;
  }
}

/** @param {Response} response */
const errorOf = async (response) =>
  new ApiError(await response.json().catch(() => ({})), response.headers.get('retry-after'));

/**
 * @typedef {{id: string, name: string, token: string, session?: boolean, former?: Account | null}} Account
 * session is set if the token is of a session, and former is the account that the browser had before.
 */

const key = 'gridstand.account';
/** The account, for browsers without localStorage. */
let memory = 'null';
/** Runs an action that fails if the browser denies storage. @param {() => any} action */
export function attempt(action) {
  try {
    return action();
  } catch {}
}

const stored = () => attempt(() => localStorage.getItem(key));

/** @returns {Account | null} */
export function account() {
  const a = attempt(() => JSON.parse(stored() ?? memory));
  return typeof a?.token === 'string' ? a : null;
}

/** Stores the account, and shows its name. @param {Account | null} a */
export function setAccount(a) {
  memory = JSON.stringify(a);
  attempt(() => localStorage.setItem(key, memory));
  nameHeader();
}

/** Reports whether the browser keeps the account after the page is closed. */
export const kept = () => stored() != null;

/** Reports whether the account holds a seat, or made an entry. @param {{player?: {id: string}}} of */
export const isMine = ({ player }) => !!player && player.id === account()?.id;

/** Shows the account's name in the header, with a mark on the player's own page, and above their own game. */
export function nameHeader() {
  const link = /** @type {HTMLAnchorElement | null} */ (document.getElementById('me'));
  const name = account()?.name;
  for (const above of document.querySelectorAll('h1.mine')) above.textContent = name || '';
  if (!link) return;
  link.textContent = name || 'Account';
  link.href = name ? `/p/${encodeURIComponent(name)}` : '/account';
  if (link.pathname === location.pathname) link.setAttribute('aria-current', 'page');
}

/**
 * @param {boolean} [anonymous]
 * @returns {Record<string, string>}
 */
function authorization(anonymous) {
  const a = anonymous ? null : account();
  return a ? { authorization: `Bearer ${a.token}` } : {};
}

/** The services except GameService, with words that occur in the names of their methods. */
const services = {
  Challenge: /Challenge|Standings|RaceNow/,
  Player: /Player|Profile|Rename|Session/,
  Leaderboard: /Rank|Scores/,
};

/**
 * Makes a call. Anonymous calls send no token; token replaces the account's.
 * @param {string} method
 * @param {object} [request]
 * @param {{signal?: AbortSignal, anonymous?: boolean, token?: string}} [options]
 * @returns {Promise<any>}
 */
export async function call(method, request = {}, { signal, anonymous, token } = {}) {
  const [service] = Object.entries(services).find(([, words]) => words.test(method)) || ['Game'];
  const response = await fetch(`/gridstand.v1.${service}Service/${method}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...authorization(anonymous),
      ...(token && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(request),
    signal,
  }).catch((err) => {
    throw signal?.aborted ? err : new ApiError({});
  });
  hear(response.headers.get('date'));
  if (!response.ok) throw await errorOf(response);
  return response.json();
}

/** Makes an anonymous call. @param {string} method @param {object} [request] */
export const look = (method, request) => call(method, request, { anonymous: true });

// The server sends something at least every 20 seconds, so a longer silence means that the
// connection is lost.
const silence = 25e3;
// The browser has six connections to a server, and keeps those that it tries to make for two minutes,
// also if nothing waits for them. A page that gave up sooner would use them up without a network.
const patience = 60e3;
// A tab that was hidden for longer than this shows the current state and skips missed events.
const staleAfter = 60e3;
// Over HTTP/1.1, all windows of a browser have six connections to a server. The newest streams stay
// open, and the others poll, so that calls find a free connection.
const [visit] = performance.getEntriesByType?.('navigation') ?? [];
const mostStreams = /^h[23]/.test(/** @type {any} */ (visit)?.nextHopProtocol) ? Infinity : 4;
const pollTime = 300; // how long a poll stays open, in milliseconds
const pollPause = 2e3;

/**
 * Reads a stream of events until it ends or close() is called. It reconnects automatically,
 * disconnects while the tab is hidden, and polls while other windows have enough newer streams.
 * @param {string} of the path of its page: "g/" or "c/" and an id
 * @param {{
 *   after?: number | string, everyEvent?: boolean, preview?: boolean,
 *   onUpdate: (update: any) => void | boolean,
 *   onEnd?: () => void,
 *   onState?: (state: "connecting" | "live" | "offline", retryIn?: number) => void,
 *   onError?: (error: ApiError) => void,
 * }} options onUpdate may return false to restart the stream if it cannot apply an update;
 *   onError gets the error that made the stream end
 * @returns {() => void} close
 */
export function watch(of, { after, everyEvent, preview, onUpdate, onEnd, onState, onError }) {
  /** The ID of the last record. @type {number | string | undefined} */
  let last = after;
  let anonymous = false;
  let failures = 0;
  let hiddenAt = 0;
  const leave = new AbortController();
  /** @type {AbortController | null} */
  let open = null;
  let timer = 0;
  let watchdog = 0;

  const name = Math.random();
  /** @type {BroadcastChannel | undefined} */
  const others = attempt(() => new BroadcastChannel('streams'));
  /** The streams of the browser that have been opened after this one. */
  const newer = new Set();
  const polls = () => newer.size >= mostStreams;
  if (others)
    others.onmessage = ({ data: [other, isOpen] }) => {
      if (isOpen) newer.add(other);
      else newer.delete(other);
      if (isOpen && open && polls()) pause();
    };

  const stop = () => {
    clearTimeout(timer);
    clearTimeout(watchdog);
    if (open) others?.postMessage([name, false]);
    open?.abort();
    open = null;
  };
  const pause = () => {
    stop();
    timer = setTimeout(now, pollPause);
  };
  const close = () => {
    stop();
    others?.close();
    leave.abort();
  };
  const now = () => {
    stop();
    if (!leave.signal.aborted && !document.hidden) connect();
  };
  function visible() {
    if (document.hidden) hiddenAt = performance.now();
    else if (!everyEvent && performance.now() - hiddenAt > staleAfter) last = undefined;
    failures = 0;
    now();
  }

  /** Follows as a stream again, in place of another window. */
  function focused() {
    if (!polls()) return;
    newer.clear();
    now();
  }

  /** @param {any} err */
  function failed(err) {
    if (err instanceof ApiError) {
      if (err.code === 'unauthenticated' && !anonymous) {
        anonymous = true;
        return now();
      }
      if (!/^(unavail|resource|deadline|unknown)/.test(err.code)) {
        close();
        if (err.reason === 'VERSION_CONFLICT')
          err.message = `The server has lost events of this game: it has ${err.metadata.version}, and this page has ${last}.`;
        return onError?.(err);
      }
    }
    const backoff = Math.max(err.retryAfter || 0, Math.min(0.5 * 2 ** failures++, 4));
    const wait = backoff * (1 + Math.random() / 2);
    onState?.('offline', wait);
    timer = setTimeout(now, wait * 1e3);
  }

  async function connect() {
    const abort = new AbortController();
    open = abort;
    const alive = (/** @type {number} */ time) => {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => abort.abort(), time);
    };
    const poll = polls();
    if (!poll) {
      newer.clear();
      others?.postMessage([name, true]);
      onState?.('connecting');
    }
    alive(patience);
    try {
      let query = '';
      if (everyEvent) query += '&every_event=1';
      if (preview) query += '&preview=1';
      const headers = authorization(anonymous);
      if (last !== undefined) headers['last-event-id'] = `${last}`;
      const response = await fetch(`/${of}/events?${query}`, { headers, signal: abort.signal });
      hear(response.headers.get('date'));
      if (response.status === 204) return finish();
      if (!response.ok || !response.body) throw await errorOf(response);
      onState?.('live');
      if (poll) setTimeout(() => open === abort && pause(), pollTime);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = '';
      for (;;) {
        alive(silence);
        const { done: ended, value } = await reader.read();
        if (open !== abort) return;
        if (ended) throw Error('the stream has ended');
        const messages = (rest + value).split('\n\n');
        rest = messages.pop() || '';
        for (const message of messages) {
          if (take(message)) return finish();
          if (leave.signal.aborted) return;
        }
      }
    } catch (err) {
      if (open === abort) failed(err);
    }
  }

  /**
   * Handles a message. Returns true if it is the last one.
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
    last = field('id') || last;
    failures = 0;
    return false;
  }

  function finish() {
    close();
    onEnd?.();
  }

  document.addEventListener('visibilitychange', visible, leave);
  addEventListener('online', now, leave);
  addEventListener('offline', () => open?.abort(), leave);
  addEventListener('focus', focused, leave);
  now();
  return close;
}
