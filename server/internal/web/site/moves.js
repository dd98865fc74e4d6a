// The queue of a player's requests. They are sent one after another, each for the version that
// the player saw.

import { explain, persist } from './persist.js';

/** @import { Cell, Direction, Event, Game } from '../types' */
/** @typedef {{undo?: boolean, direction?: Direction, cell?: Cell}} Request */

/**
 * Reports whether a cell from the server equals a cell that the player chose.
 * @param {Cell} [a]
 * @param {Cell} [b]
 */
export const same = (a, b) => !!a && (a.x ?? 0) === b?.x && (a.y ?? 0) === b?.y;

/**
 * Reports whether an event is the result of a request.
 * @param {Event} e
 * @param {Request} r
 */
function became({ moved, undone }, { undo, direction, cell }) {
  if (undo) return !!undone;
  if (direction) return moved?.direction === direction;
  return same(moved?.cell, cell);
}

/**
 * Makes a queue with at most one request in flight, and a few that wait for its response.
 * @param {object} on
 * @param {number} on.ahead maximum number of waiting moves
 * @param {() => Game} on.game returns the current game
 * @param {(r: Request) => boolean} on.legal reports whether a move is legal now
 * @param {(r: Request) => void} on.sent is called before a request is sent
 * @param {(u: {event: Event}) => void} on.update is called with a response
 * @param {() => Promise<unknown>} on.refresh reads the current game from the server
 * @param {(text: string) => void} on.refused is called with the reason
 * @param {(text: string) => void} on.delayed is called with the reason before a retry
 */
export function createMoves(on) {
  /** @type {Request[]} */
  let waiting = [];
  /** @type {{request: Request, version: number, seen: () => void} | null} */
  let inFlight = null;

  async function send() {
    for (let r = waiting.shift(); r; r = waiting.shift()) if (r.undo || on.legal(r)) await make(r);
  }
  /** @param {Request} request */
  async function make(request) {
    const { undo, ...move } = request;
    const { id: gameId, version } = on.game();
    let done = false;
    const seen = new Promise((resolve) => {
      inFlight = { request, version, seen: () => resolve(null) };
    });
    on.sent(request);
    const answer = persist(
      undo ? 'Undo' : 'Move',
      /** @type {any} */ ({ gameId, version, ...move }),
      { settled: () => done, onWait: on.delayed },
    );
    try {
      // The stream may deliver the event before the response, or even if the response is lost.
      await Promise.race([seen, answer.then(on.update)]);
      done = true;
    } catch (e) {
      waiting = [];
      await refused(e);
    }
    inFlight = null;
  }
  /** Rereads the game if the request may have been for an older version. @param {any} e */
  async function refused(e) {
    let text = explain(e);
    if (/VERSION_CONFLICT|GAME_OVER|NOT_YOUR_TURN|ILLEGAL_MOVE/.test(e.reason)) {
      text = 'The game has changed. Try again.';
      try {
        await on.refresh();
      } catch (problem) {
        text = explain(problem);
      }
    }
    on.refused(text);
  }

  return {
    /**
     * Sends a request after the previous ones. An undo replaces the waiting requests.
     * @param {Request} r
     */
    push(r) {
      if (r.undo) waiting = [];
      else if (inFlight && waiting.length >= on.ahead) return;
      waiting.push(r);
      if (!inFlight) send();
    },
    /**
     * Handles a change of the game, with its event if known. Waiting moves that were chosen for
     * another position are dropped.
     * @param {Event} [e]
     */
    changed(e) {
      if (e && inFlight?.version === e.version - 1 && became(e, inFlight.request)) inFlight.seen();
      else waiting = [];
    },
  };
}
