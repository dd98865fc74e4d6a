// The server's API: calls, the account, and the stream of a game.

/** An error that the server answered, or that kept it from answering. */
export class ApiError extends Error {
  /**
   * @param {number} status the HTTP status, 0 if the server cannot be reached
   * @param {{code?: string, message?: string, details?: any[]}} body
   * @param {string | null} [retryAfter]
   */
  constructor(status, body, retryAfter) {
    super(body.message || 'The server cannot be reached.');
    const info = body.details?.find((d) => d.debug?.reason)?.debug;
    this.status = status;
    this.code = body.code || 'unavailable';
    /** @type {string} */
    this.reason = info?.reason || '';
    /** @type {Record<string, string>} */
    this.metadata = info?.metadata || {};
    /** Seconds after which to try again. */
    this.retryAfter = Number(retryAfter) || 0;
  }
}

/** @param {Response} response */
const errorOf = async (response) =>
  new ApiError(
    response.status,
    await response.json().catch(() => ({})),
    response.headers.get('retry-after'),
  );

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

export const clearAccount = () => setAccount(null);

/** Reports whether the browser keeps the account when the page closes. */
export const kept = () => attempt(() => localStorage.getItem(key)) != null;

/**
 * @param {boolean} [anonymous]
 * @returns {Record<string, string>}
 */
function authorization(anonymous) {
  const a = anonymous ? null : account();
  return a ? { authorization: `Bearer ${a.token}` } : {};
}

/**
 * Makes a call; service is such as "GameService". Anonymous calls send no token.
 * @param {string} service
 * @param {string} method
 * @param {object} [request]
 * @param {{signal?: AbortSignal, anonymous?: boolean}} [options]
 * @returns {Promise<any>}
 */
export async function call(service, method, request = {}, { signal, anonymous } = {}) {
  const response = await fetch(`/gridstand.v1.${service}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...authorization(anonymous) },
    body: JSON.stringify(request),
    signal,
  }).catch((err) => {
    throw signal?.aborted ? err : new ApiError(0, {});
  });
  if (!response.ok) throw await errorOf(response);
  return response.json();
}

/** @param {string} id */
export const isGameId = (id) => /^[a-z2-7]{26}$/.test(id);

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
      const query = new URLSearchParams();
      if (last !== undefined) query.set('after', `${last}`);
      if (everyEvent) query.set('every_event', '1');
      if (preview) query.set('preview', '1');
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
      throw new Error('resync');
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
