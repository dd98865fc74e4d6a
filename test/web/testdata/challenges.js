// The challenges of the fixture. Runs after fixture.js.
const named = (name) => name + 'gamegamegamegamegamega';
const at = (ms) => new Date(fixture.Now + ms).toISOString();
const me = { id: 'memememememememememememeem', name: 'guest-k3xq7a' };
const ada = { id: 'adaadaadaadaadaadaadaadaad', name: 'ada' };
const hour = 36e5;

/** Returns a challenge. */
const challenge = (name, kind, status, more) => ({
  id: named(name),
  kind: `CHALLENGE_KIND_${kind}`,
  status: `CHALLENGE_STATUS_${status}`,
  variant: 'classic',
  createTime: at(-hour),
  openTime: at(-hour),
  closeTime: at(5 * hour),
  seedCommitment: 'A'.repeat(43) + '=',
  ...more,
});
const race = (name, status, entrants, more) =>
  challenge(name, 'RACE', status, {
    creator: ada,
    limit: '180s',
    openTime: at(-60e3),
    closeTime: at(120e3),
    entrants,
    ...more,
  });
const entrants = [
  { player: ada, ready: true, gameId: fixture.Live[0] },
  { bot: 'greedy', ready: true, gameId: fixture.Bots },
];
const joined = [...entrants, { player: me, gameId: fixture.Mine }];
const later = { openTime: undefined, closeTime: undefined };
const daily = challenge('dail', 'DAILY', 'OPEN', { date: '2026-11-20' });
const all = [
  daily,
  challenge('done', 'DAILY', 'OPEN', { date: '2026-11-20' }),
  challenge('beat', 'REMATCH', 'OPEN', {
    target: { gameId: fixture.Over[0], player: ada, score: 12345 },
  }),
  race('wait', 'WAITING', entrants, later),
  race('soon', 'SCHEDULED', entrants, { openTime: at(2500) }),
  race('runs', 'OPEN', entrants),
  race('join', 'WAITING', entrants, later),
  race('ends', 'CLOSED', entrants, { closeTime: at(-1e3) }),
];
const challenges = Object.fromEntries(all.map((c) => [c.id, c]));
const score = (gameId) => fixture.Games[gameId].position.scores[0];
const lines = (c) =>
  c.entrants
    ? c.entrants
        .map((e) => ({
          ...e,
          score: score(e.gameId),
          largestTile: 128,
          moveCount: fixture.Games[e.gameId].position.moveCount,
        }))
        .toSorted((a, b) => b.score - a.score)
        .map((e, i) => ({ ...e, rank: i + 1 }))
    : fixture.Entries.slice(0, 10);
const news = (c) => ({ challenge: c, standings: lines(c), total: 87, now: at(0), etag: 'e' });
let begun = '';

Object.assign(answers, {
  ListChallenges: () => ({ challenges: all.filter((c) => c.kind.endsWith('RACE')) }),
  GetChallenge: ({ challengeId }) => ({
    challenge: challengeId ? challenges[challengeId] : daily,
    next: daily === challenges[challengeId || daily.id] || challengeId === named('done')
      ? { openTime: daily.closeTime, seedCommitment: 'B'.repeat(43) + '=' }
      : undefined,
    dailyVariants: challengeId && !/^(dail|done)/.test(challengeId) ? undefined : ['classic', 'vt100'],
    attempt: begun ? { gameId: begun, dayStreak: 5 } : undefined,
    now: at(0),
  }),
  JoinChallenge: ({ challengeId }) => ({
    challenge: {
      ...challenges[challengeId],
      creator: me,
      entrants: joined,
      ...(challengeId === named('join') && race('join', 'OPEN', joined, { creator: ada })),
    },
  }),
  ListStandings: ({ playerId }) => ({
    standings: playerId
      ? [{ rank: 23, player: me, score: score(begun), gameId: begun, finished: true }]
      : [{ rank: 1, player: ada, score: 2400, gameId: fixture.Over[0], finished: true }],
    total: 87,
    distribution: playerId ? undefined : [4, 18, 22, 15, 9, 7, 5, 3, 2, 1, 0, 1],
  }),
});
const createGame = answers.CreateGame;
answers.CreateGame = (request) => {
  if (!request.challengeId) return createGame(request);
  begun = request.challengeId === named('done') ? fixture.Done : fixture.Mine;
  return { game: fixture.Games[begun] };
};
