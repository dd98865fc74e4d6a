// Tests the pages of a server without daily games, whose header has no link to one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element, serve, settle } from './dom.mjs';

const { setAccount } = await import('../site/api.js');
const pages = {
  player: { player: { id: 'p', name: 'ada' } },
  top: { entries: [{ rank: 1, player: { name: 'ada' }, score: 4 }], total: 1, variants: [] },
};

for (const [page, answer] of Object.entries(pages)) {
  test(`without daily games, the page ${page} does not lead to one`, async () => {
    setAccount({ id: 'p', name: 'ada', token: 'a.b' });
    serve(() => answer);
    const { default: show } = await import(`../site/${page}.js`);
    const root = element();
    await show(root, { id: 'ada' });
    await settle();
    const links = root.all().filter((e) => e.name === 'a');
    assert.notEqual(links.length, 0);
    for (const { href } of links) assert.doesNotMatch(href, /daily/);
    assert.doesNotMatch(root.textContent, /daily/i);
  });
}
