// Rematches: challenges on the tiles of a finished game.
import { copy, h, site, toast } from './dom.js';
import { draw, explain, persist, signIn } from './persist.js';

/** Adds a button that creates a rematch of a game. @param {any} links @param {string} gameId */
export function offerRematch(links, gameId) {
  const button = h('button', { onclick: make }, 'Beat this score');
  links.prepend(button);
  const request = { kind: 'CHALLENGE_KIND_REMATCH', gameId, requestId: draw() };
  async function make() {
    button.disabled = true;
    try {
      await signIn();
      const { challenge } = await persist('CreateChallenge', /** @type {any} */ (request));
      const href = `/c/${challenge.id}`;
      const link = site + href;
      const go = h('a.button.primary', { href }, 'Play the same tiles');
      button.replaceWith(
        go,
        h('p.dim', 'Open for seven days to everyone with the link:', h('code', link)),
      );
      go.focus();
      copy(link);
    } catch (e) {
      button.disabled = false;
      toast(explain(e));
    }
  }
}
