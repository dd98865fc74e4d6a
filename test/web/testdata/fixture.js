// Runs before the page's own modules, after a line that defines fixture.
performance.now = () => 0;
const headers = { date: new Date(fixture.Now).toUTCString() };
try {
  localStorage.clear(); // Each page starts without an account.
} catch {}

window.restyle = (css) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.adoptedStyleSheets.push(sheet);
};
if (fixture.Font) {
  const bytes = Uint8Array.from(atob(fixture.Font), (c) => c.charCodeAt(0));
  const font = new FontFace('Fixture', bytes);
  document.fonts.add(font);
  font.load();
  restyle('* { font-family: Fixture !important; }');
}
restyle('* { caret-color: transparent !important; }');

const answers = {
  GetServerInfo: () => ({ reactions: true }),
  ListVariants: () => fixture.Variants,
  GetProfile: ({ name }) => {
    if (name === 'new') return { player: { ...fixture.Player, id: 'memememememememememememeem', name } };
    const date = (back, length) => new Date(fixture.Now - back * 864e5).toISOString().slice(0, length);
    const games = ['classic', 'classic', 'tribolo', 'classic', '3x3'];
    const scores = { classic: 9000, tribolo: 80, '3x3': 400 };
    const score = (variant, n) => Math.round(scores[variant] * (0.3 + ((n * n * 7 + n) % 71) / 71));
    return {
      player: fixture.Player,
      variants: [
        { variant: 'classic', games: 1204, bestScore: 31284, bestGameId: fixture.Over[0] },
        { variant: '3x3', games: 40, bestScore: 712, bestGameId: fixture.Over[0] },
        { variant: 'tribolo', games: 218, wins: 97, bestScore: 118, bestGameId: fixture.Over[0] },
      ],
      latest: Array.from({ length: 100 }, (_, n) => {
        const variant = games[n % games.length];
        return { gameId: fixture.Over[0], variant, score: score(variant, n), time: date(100 - n) };
      }),
      daily: {
        streak: 12,
        longestStreak: 31,
        results: Array.from({ length: 60 }, (_, n) => n)
          .filter((n) => n > 47 || n % 7 > 1)
          .map((n) => ({ day: date(59 - n, 10), variant: 'classic', score: score('classic', n) })),
      },
      races: {
        total: 34,
        won: 19,
        rivals: ['bob', 'carla', 'hexa', 'Zoe', 'dora'].map((name, n) => ({
          player: { id: `${n}`, name },
          won: 7 - n,
          lost: n * n,
        })),
      },
    };
  },
  CreatePlayer: ({ name, secret }) => ({
    player: { id: 'memememememememememememeem', name: 'guest-k3xq7a' },
    token: `memememememememememememeem.${secret}`,
  }),
  CreateGame: ({ variant }) => ({ game: fixture.Games[fixture.New[variant]] }),
  GetGame: ({ gameId }) => ({ game: fixture.Games[gameId] }),
  ListGames: ({ playerId, playerName, status }) => {
    if (playerId || status === 'GAME_STATUS_WAITING') return {};
    let ids = [...fixture.Live, ...fixture.Over];
    if (status) ids = status === 'GAME_STATUS_ACTIVE' ? fixture.Live : fixture.Over;
    if (playerName === 'new') return {};
    if (playerName) ids = [fixture.Live[0], fixture.Over[0]];
    return { games: ids.map((id) => fixture.Games[id]), movingGames: fixture.Live.length };
  },
  ListScores: ({ pageSize = 20 }) => ({ entries: fixture.Entries.slice(0, pageSize), total: 12 }),
};

/** Returns the stream of a game: its state or its events, and the end if the game is over. */
function stream(id, after, signal) {
  const record = (version, data) => `id: ${version}\ndata: ${JSON.stringify(data)}\n\n`;
  const game = fixture.Games[id];
  let text = 'data: {"audience":3}\n\n';
  if (after === undefined) text = record(game.version, { game }) + text;
  else for (const event of fixture.Events[id].slice(+after)) text += record(event.version, { event });
  const over = game.status === 'GAME_STATUS_FINISHED';
  if (over) text += 'event: end\ndata: {}\n\n';
  return open(text, over, signal);
}

/** Returns a stream with a text. It stays open unless over is set. */
const open = (text, over, signal) =>
  new ReadableStream({
    start(out) {
      out.enqueue(new TextEncoder().encode(text));
      if (over) out.close();
      else signal?.addEventListener('abort', () => out.error(signal.reason));
    },
  });

window.fetch = async (address, { body, signal, headers: asked } = {}) => {
  const url = new URL(address, location.href);
  const [, page, id, last] = url.pathname.split('/');
  if (page === 'c' && last === 'events') {
    const text = `id: e\ndata: ${JSON.stringify(news(challenges[id]))}\n\n`;
    return new Response(open(text, false, signal), { headers });
  }
  if (last === 'events') return new Response(stream(id, asked['last-event-id'], signal), { headers });
  const answer = answers[url.pathname.split('/').at(-1)];
  if (answer) return Response.json(answer(JSON.parse(body)), { headers });
  return Response.json({ code: 'not_found', message: 'there is no such thing' }, { status: 404 });
};
