// Requests of a player: sent one after the other, each at the version that the player saw.

import { explain, persist } from './persist.js';

/** @import { Cell, Direction, Event, Game } from '../types' */
/** @typedef {{undo?: boolean, direction?: Direction, cell?: Cell}} Request */

/**
 * Reports whether an event is what a request became.
 * @param {Event} e @param {Request} r
 */
function became({ moved, undone }, { undo, direction, cell }) {
  if (undo) return !!undone;
  if (direction) return moved?.direction === direction;
  return !!moved?.cell && (moved.cell.x ?? 0) === cell?.x && (moved.cell.y ?? 0) === cell?.y;
}

/** Moves has at most one request in flight, and a few that wait for its answer. */
export class Moves {
  /** @type {Request[]} */
  waiting = [];
  /** @type {{request: Request, version: number, answered: (e: Event) => void}|null} */
  inFlight = null;

  /**
   * @param {object} on
   * @param {number} on.ahead how many moves may wait
   * @param {() => Game} on.game the game as it is now
   * @param {(r: Request) => boolean} on.legal whether the rules allow a move now
   * @param {(r: Request) => void} on.sent is called before a request is sent
   * @param {(u: {event?: Event, game?: Game}) => void} on.update gets an answer
   * @param {(text: string) => void} on.refused is called with the reason
   * @param {(text: string) => void} on.delayed is called with the reason, '' after the answer
   */
  constructor(on) {
    this.on = on;
  }

  /** Sends a request after those before it. An undo replaces those that wait. @param {Request} r */
  push(r) {
    if (r.undo) this.waiting = [];
    else if (this.inFlight && this.waiting.length >= this.on.ahead) return;
    this.waiting.push(r);
    if (!this.inFlight) this.#send();
  }

  /**
   * Takes note that the game has changed, by an event if that is known. Moves that were chosen
   * for another position are dropped.
   * @param {Event} [e]
   */
  changed(e) {
    const flight = this.inFlight;
    if (e && flight && e.version === flight.version + 1 && became(e, flight.request))
      flight.answered(e);
    else this.waiting = [];
  }

  async #send() {
    for (let r = this.waiting.shift(); r; r = this.waiting.shift()) {
      if (r.undo || this.on.legal(r)) await this.#make(r);
    }
  }

  /** @param {Request} request */
  async #make(request) {
    const { undo, ...move } = request;
    const { id: gameId, version } = this.on.game();
    const done = new AbortController();
    const seen = new Promise((answered) => {
      this.inFlight = { request, version, answered };
    });
    this.on.sent(request);
    const onWait = (/** @type {any} */ e) => this.on.delayed(explain(e));
    const options = { signal: done.signal, onWait };
    const answer = undo
      ? persist('Undo', { gameId, version }, options)
      : persist('Move', { gameId, version, ...move }, options);
    try {
      // The stream may bring the event before the answer, or when the answer is lost.
      await Promise.race([seen, answer.then((a) => this.on.update(a))]);
      this.on.delayed('');
    } catch (e) {
      this.waiting = [];
      await this.#refused(e);
    }
    this.inFlight = null;
    done.abort();
  }

  /** Asks for the game as it is, after a request that may have been for another version. @param {any} e */
  async #refused(e) {
    let text = explain(e);
    if (/VERSION_CONFLICT|GAME_OVER|NOT_YOUR_TURN|ILLEGAL_MOVE/.test(e.reason)) {
      text = 'The game has changed since.';
      try {
        this.on.update(await persist('GetGame', { gameId: this.on.game().id }));
      } catch (problem) {
        text = explain(problem);
      }
    }
    this.on.refused(text);
  }
}
