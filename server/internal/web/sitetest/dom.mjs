// A document for tests of the page's modules: elements with children, listeners and a focus, and the parts
// of a window that the modules use. It draws nothing. Import it before a module of the page.

class Element {
  children = [];
  attributes = new Map();
  listeners = new Map();
  dataset = {};
  hidden = false;
  disabled = false;
  value = '';
  style = { setProperty() {} };
  classList = { add() {}, remove() {}, toggle() {} };

  constructor(name) {
    this.name = name;
  }
  setAttribute(name, value) {
    this.attributes.set(name, value);
    if (/^(hidden|disabled|value|href)$/.test(name)) this[name] = value === '' || value;
  }
  removeAttribute(name) {
    this.attributes.delete(name);
  }
  getAttribute(name) {
    return this.attributes.get(name) ?? null;
  }
  addEventListener(type, action) {
    this.listeners.set(type, [...(this.listeners.get(type) ?? []), action]);
  }
  removeEventListener() {}
  dispatch(type, event = {}) {
    const given = { target: this, preventDefault() {}, ...event };
    return Promise.all((this.listeners.get(type) ?? []).map((action) => action(given)));
  }
  click() {
    return this.disabled ? Promise.resolve() : this.dispatch('click');
  }
  focus() {
    document.activeElement = this;
  }
  append(...nodes) {
    for (const node of nodes) {
      node.remove?.();
      if (node instanceof Element) node.parent = this;
      this.children.push(node);
    }
  }
  prepend(...nodes) {
    const { length } = this.children;
    this.append(...nodes);
    this.children.unshift(...this.children.splice(length));
  }
  replaceChildren(...nodes) {
    for (const child of [...this.children]) child.remove?.();
    this.children = [];
    this.append(...nodes);
  }
  replaceWith(node) {
    const { parent } = this;
    const at = parent.children.indexOf(this);
    this.remove();
    node.parent = parent;
    parent.children.splice(at, 0, node);
  }
  remove() {
    if (this.all().includes(document.activeElement)) document.activeElement = document.body;
    const siblings = this.parent?.children;
    siblings?.splice(siblings.indexOf(this), 1);
    this.parent = undefined;
  }
  closest() {
    return null;
  }
  scrollIntoView() {}
  get firstChild() {
    return this.children[0] ?? null;
  }
  get lastChild() {
    return this.children.at(-1) ?? null;
  }
  get isConnected() {
    return this === document.body || !!this.parent?.isConnected;
  }
  get textContent() {
    return this.children.map((child) => child.textContent ?? String(child)).join('');
  }
  set textContent(text) {
    this.replaceChildren(String(text));
  }
  /** Returns the element and all elements in it. */
  all() {
    return [this, ...this.children.flatMap((child) => child.all?.() ?? [])];
  }
  /** Returns the first element in it with the given name and text. */
  find(name, text = '') {
    return this.all().find((e) => e.name === name && e.textContent.includes(text));
  }
}

export const element = (name = 'main') => new Element(name);
const target = element('document');
const body = element('body');
globalThis.document = Object.assign(target, {
  body,
  activeElement: body,
  createElement: element,
  createElementNS: (_, name) => element(name),
  getElementById: () => null,
  querySelector: () => null,
  querySelectorAll: () => [],
});
const stored = new Map();
export const storage = {
  getItem: (key) => stored.get(key) ?? null,
  setItem: (key, value) => stored.set(key, value),
};
const page = element('window');
Object.assign(globalThis, {
  localStorage: storage,
  sessionStorage: { getItem: () => null, setItem() {} },
  location: { origin: 'http://test', pathname: '/', hash: '', search: '', assign() {} },
  history: { replaceState() {} },
  matchMedia: () => ({ matches: false }),
  addEventListener: page.addEventListener.bind(page),
});
Object.defineProperty(globalThis, 'navigator', { value: { onLine: true }, configurable: true });
// A page's timers go on until the browser leaves it. They must not keep the tests running.
for (const name of ['setTimeout', 'setInterval']) {
  const start = globalThis[name];
  globalThis[name] = (...args) => start(...args).unref();
}

/** Tells the page's modules of an event of the window. */
export const dispatch = (type) => page.dispatch(type);
/** Presses a key on the page. */
export const press = (key) => target.dispatch('keydown', { key, code: key, target: body });

/**
 * Replaces the server. answer gets the method and the request of a call, and returns the response, which
 * is an error if it has a code.
 */
export const serve = (answer) => {
  const calls = [];
  globalThis.fetch = async (url, { body: sent, headers }) => {
    const [method, request] = [url.split('/').at(-1), JSON.parse(sent)];
    calls.push({ method, request, token: headers.authorization?.slice(7) });
    const json = await answer(method, request);
    return { ok: !json.code, headers: new Headers(), json: async () => json };
  };
  return calls;
};

/** Mocks the time, which t.mock.timers.tick advances. */
export function mockTime(t) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  t.mock.method(AbortSignal, 'timeout', (time) => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), time);
    return controller.signal;
  });
}

/** Waits until all answers that are there have been handled. */
export const settle = async () => {
  for (let i = 0; i < 50; i++) await new Promise(setImmediate);
};
