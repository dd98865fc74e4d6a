// The replay of a game, and its control bar.
import { watch } from './api.js';
import { createCurve } from './curve.js';
import { h, keys, toast } from './dom.js';
import { comma } from './game-state.js';

const speeds = [1, 2, 4, 8, 16, 64];

/**
 * Makes the bar. Its show takes the event to show, or null for the newest version, and whether
 * the event directly follows the one shown before.
 * @param {import('./game-state.js').State} state
 * @param {(event: any, next: boolean) => void} show
 * @param {() => void} changed is called if the replay may have begun to play or paused
 */
export function createReplay(state, show, changed) {
  /** The events loaded so far, starting with the first. @type {any[]} */
  const past = [];
  /** The version shown, or 0 for the newest. */
  let at = 0;
  /** The timer of the next step, or 0 while paused. */
  let playing = 0;
  let speed = 0;
  /** @type {Promise<void> | null} */
  let loading = null;

  /** Loads the events up to the newest version, and shows the curve of a game that is over. */
  async function load() {
    if (past.length < state.version) await read();
    if (state.over && past.length > 2 && past.length >= state.version && !curve.firstChild)
      curve.append(createCurve(past, jump));
  }
  function read() {
    loading ??= new Promise((resolve) => {
      const done = () => {
        close();
        loading = null;
        draw();
        resolve();
      };
      const close = watch(`g/${state.game.id}`, {
        after: past.length,
        everyEvent: true,
        preview: true,
        onUpdate({ event }) {
          add(event);
          if (past.length >= state.version) done();
        },
        onEnd: done,
        onError(err) {
          done();
          toast(err.message);
        },
      });
    });
    return loading;
  }
  /** @param {any} event */
  function add(event) {
    if (event?.version === past.length + 1) past.push(event);
  }

  /** @param {string} text @param {string} label @param {() => void} onclick */
  const button = (text, label, onclick) =>
    h('button', { onclick, 'aria-label': label, title: label }, text);
  const play = button('▶', 'Play', toggle);
  const live = h('button', { onclick: () => seek(Infinity) }, 'Live');
  const rate = h('button', { onclick: () => faster(1), title: 'Speed' }, '1×');
  const slider = h('input', {
    type: 'range',
    min: 1,
    value: 1,
    'aria-label': 'Move',
    oninput: () => jump(Number(slider.value)),
  });
  const curve = h('div');
  const count = h('span.dim');
  const bar = h(
    'div.bar',
    { role: 'group', 'aria-label': 'Replay' },
    slider,
    curve,
    h(
      'div.row',
      button('‹', 'One move back', () => step(-1)),
      play,
      button('›', 'One move forward', () => step(1)),
      rate,
      count,
      live,
    ),
  );

  /** Shows a version. At the newest one, the game becomes live again. @param {number} version */
  async function seek(version) {
    const before = at;
    at = Math.max(version, 1);
    if (at >= state.version) {
      at = 0;
      pause();
      return show(null, false);
    }
    draw();
    await load();
    if (past[at - 1]) show(past[at - 1], at === before + 1);
    else if (at) seek(Infinity);
  }
  /** Pauses at a version. @param {number} version */
  function jump(version) {
    pause();
    seek(version);
  }
  /** @param {number} n */
  function step(n) {
    jump((at || state.version) + n);
  }
  function pause() {
    clearTimeout(playing);
    playing = 0;
    draw();
  }
  async function toggle() {
    if (playing) return pause();
    if (!at && !state.over) return seek(state.version - 1);
    playing = -1; // until the events are loaded
    await seek(at || 1);
    if (playing < 0) tick();
  }
  function tick() {
    playing = setTimeout(() => {
      // Timers have a minimum delay, so at a high speed each step skips several moves.
      seek(at + Math.ceil(speeds[speed] / 32));
      if (at) tick();
    }, 500 / Math.min(speeds[speed], 32));
    draw();
  }
  /** @param {number} n */
  function faster(n) {
    speed = (speed + n + speeds.length) % speeds.length;
    draw();
  }
  function draw() {
    const newest = state.version || 1;
    slider.max = newest;
    slider.value = at || newest;
    play.textContent = playing ? '❚❚' : '▶';
    play.setAttribute('aria-label', playing ? 'Pause' : 'Play');
    rate.textContent = `${speeds[speed]}×`;
    live.hidden = state.over || !at;
    curve.hidden = !state.over;
    const move = (at ? past[at - 1]?.position : state.game?.position)?.moveCount;
    const text = at && past.length < at ? 'loading …' : `move ${comma(move)}`;
    count.textContent = at ? `${text} of ${comma(state.game?.position?.moveCount)}` : text;
    slider.setAttribute('aria-valuetext', count.textContent);
    changed();
  }

  return {
    /** Binds the keys of the bar. */
    bind() {
      keys([
        [' ', 'play or pause', toggle],
        ['ArrowLeft', 'one move back', () => step(-1)],
        ['ArrowRight', 'one move forward', () => step(1)],
        ['Home', 'first move', () => seek(1)],
        ['End', 'last move', () => seek(Infinity)],
        ['+', 'faster', () => faster(1)],
        ['-', 'slower', () => faster(-1)],
        ['l', 'live', () => seek(Infinity)],
      ]);
    },
    element: bar,
    past,
    load,
    seek,
    /** Handles a new event. @param {any} [event] */
    update(event) {
      add(event);
      draw();
    },
    /** The version shown, or 0 for the newest. */
    get at() {
      return at;
    },
    get playing() {
      return !!playing;
    },
  };
}
