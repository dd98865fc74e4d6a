// Tests the page of the best scores.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dispatch, element, serve, settle } from './dom.mjs';

const { default: show } = await import('../site/top.js');
const { showProfile } = await import('../site/profile.js');

test('an answer for a time that is no longer chosen is dropped, and its tab keeps the focus', async () => {
  const answers = {};
  serve((method, { window }) => {
    if (method === 'ListVariants') return { variants: [] };
    return new Promise((resolve) => {
      const player = { id: 'p', name: `best of ${window}` };
      const entry = { rank: 1, player, score: 4, gameId: 'g', time: '2026-11-20T12:00:00Z' };
      answers[window] = (failure) => resolve(failure || { entries: [entry], total: 1 });
    });
  });
  const root = element();
  document.body.append(root);
  location.hash = '#day';
  show(root, {});
  const late = answers.WINDOW_DAY;
  dispatch('hashchange'); // asks again
  await settle();
  const tab = root.find('a', 'This week');
  tab.focus();
  location.hash = '#week';
  dispatch('hashchange');
  await settle();
  answers.WINDOW_WEEK();
  await settle();
  late();
  answers.WINDOW_DAY({ code: 'internal', message: 'late' });
  await settle();
  assert.ok(root.textContent.includes('best of WINDOW_WEEK'), root.textContent);
  assert.equal(document.activeElement, tab);
  assert.equal(tab.getAttribute('aria-current'), 'page');
  assert.equal(root.find('a', 'Today').getAttribute('aria-current'), null);
});

test("a player's page says that its best scores are not only those of the rankings", () => {
  const root = element();
  root.append(...showProfile({ variants: [{ variant: 'classic', games: 1, bestScore: 4 }] }));
  assert.match(root.textContent, /classic41 gameRankings leave out races and daily games/);
});

test('a page of something unknown leads to the start of the pages of its kind', async (t) => {
  const near = { href: '/top', textContent: 'Scores' };
  t.mock.method(document, 'querySelector', () => near);
  serve(() => ({ code: 'not_found', message: 'there is no variant with this id' }));
  const root = element();
  await show(root, { id: 'nosuch' });
  await settle();
  assert.equal(root.find('a', 'Scores')?.href, '/top', root.textContent);
});

test('a ranking without scores shows places to take', async () => {
  serve((method) => (method === 'ListScores' ? {} : { variants: [] }));
  const root = element();
  await show(root, { id: '3x3' });
  await settle();
  assert.match(root.textContent, /1stTake it2ndTake it3rdTake it0 players/);
  assert.equal(root.find('a', 'Take it').href, '/play/3x3');
});

test('a ranking of an unknown variant leads to the others', async () => {
  const failure = {
    code: 'not_found',
    message: 'there is no variant with this id; ListVariants …',
  };
  failure.details = [{ debug: { reason: 'VARIANT_NOT_FOUND' } }];
  serve((method) => (method === 'ListScores' ? failure : { variants: [{ id: 'classic' }] }));
  const root = element();
  await show(root, { id: 'nosuch' });
  await settle();
  assert.match(root.textContent, /There is no variant nosuch\. Choose another one above\./);
  assert.doesNotMatch(root.textContent, /ListVariants/);
  assert.equal(root.find('a', 'classic').href, '/top/classic');
});

test("a player's page counts one race and one game", () => {
  const root = element();
  const latest = [{ variant: 'classic', score: 4, time: '2026-11-20T12:00:00Z' }];
  root.append(...showProfile({ variants: [{ variant: 'classic' }], latest, races: { total: 1 } }));
  assert.match(root.textContent, /Last games.*Last races0 of 1 won/);
});

test("the calendar of daily games is as wide as a player's card", () => {
  const root = element();
  const results = [{ day: '2026-11-20', variant: 'classic', score: 4 }];
  root.append(...showProfile({ variants: [{ variant: 'classic' }], daily: { results } }));
  const picture = root.all().find((e) => e.getAttribute('class') === 'calendar');
  const [, , width, height] = picture.getAttribute('viewBox').split(' ');
  const ends = picture.all().map((e) => e.getAttribute('x') + e.getAttribute('width'));
  assert.equal(Math.max(...ends), +width);
  assert.ok(width / height > 3, 'the narrowest card is 300 pixels wide, and a picture 130 high');
});
