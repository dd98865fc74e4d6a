// Moments to remember: short texts on the board, and sounds if the viewer wants them.
import { attempt } from './api.js';
import { announce, h, toast } from './dom.js';

const shown = 2000; // milliseconds
const least = 700; // milliseconds until a key removes the text; a player presses keys all the time
const key = 'gridstand.sound';

const note = h('p.moment', { 'aria-hidden': 'true' });
let since = 0;
let timer = 0;
const hide = () => {
  clearTimeout(timer);
  note.remove();
};
addEventListener('keydown', () => performance.now() - since > least && hide());

/**
 * Shows a text on a board for two seconds or until a key.
 * @param {string} text @param {string} [board] the board's selector
 */
export function celebrate(text, board = '.play .board') {
  hide();
  note.textContent = text;
  document.querySelector(board)?.append(note);
  since = performance.now();
  timer = setTimeout(hide, shown);
  announce(text, 0);
  chord([523, 659, 784]);
}

/** @type {AudioContext | undefined} */
let audio;
let loud = attempt(() => localStorage.getItem(key)) === 'on';
/** Plays tones one after another. @param {number[]} tones in hertz */
function chord(tones) {
  if (!loud) return;
  audio ??= new AudioContext();
  for (const [i, tone] of tones.entries()) {
    const at = audio.currentTime + 0.09 * i;
    const wave = new OscillatorNode(audio, { type: 'triangle', frequency: tone });
    const volume = new GainNode(audio, { gain: 0 });
    volume.gain.setValueAtTime(0.15, at);
    volume.gain.exponentialRampToValueAtTime(0.001, at + 0.2);
    wave.connect(volume).connect(audio.destination);
    wave.start(at);
    wave.stop(at + 0.2);
  }
}
/** Plays the sound of a move: the more points, the higher. @param {number} gained */
export const sound = (gained) => gained && chord([220 * 2 ** (Math.log2(gained) / 8)]);

/** The key that pages with sounds bind. @type {import('./dom.js').Key} */
export const soundKey = [
  'm',
  'sound on or off',
  () => {
    loud = !loud;
    attempt(() => localStorage.setItem(key, loud ? 'on' : 'off'));
    toast(loud ? 'Sound on' : 'Sound off');
    chord([440]);
  },
];
