// Rematches: challenges on the tiles of a finished game.
import { copy, h, site, toast } from './dom.js';
import { draw, explain, persist, signIn } from './persist.js';

/** Makes a button that creates a rematch of a game. @param {string} gameId @param {string} [tag] */
export function rematchButton(gameId, tag = 'button') {
  const button = h(tag, { onclick: make }, 'Beat this score');
  const request = { kind: 'CHALLENGE_KIND_REMATCH', gameId, requestId: draw() };
  async function make() {
    button.disabled = true;
    try {
      await signIn();
      const { challenge } = await persist('CreateChallenge', /** @type {any} */ (request));
      const href = `/c/${challenge.id}`;
      const link = site + href;
      const go = h('a.button', { href }, 'Play the same tiles');
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
  return button;
}
