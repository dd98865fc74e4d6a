// A bot that plays one game of 2048 with fetch and JSON. It needs Node.js 20 and ./package.json:
//
//     npx tsx bot.ts http://localhost:2048 classic
//
// It keeps its tiles in a corner. It does not know the rules: the server lists the legal moves.
type Position = { scores: number[]; twenty48: { legalMoves: string[] } };
type Game = { id: string; version: number; position: Position };
type MoveEvent = { version: number; position: Position; result?: { reason: string } };

const [server = 'http://localhost:2048', variant = 'classic'] = process.argv.slice(2);
const preferred = ['LEFT', 'DOWN', 'RIGHT', 'UP'].map((name) => `DIRECTION_${name}`);
let token = '';

// Makes a call, and retries it after a delay if the server is overloaded or the response is
// lost. This is safe because a move that is sent twice counts only once.
async function call(method: string, request: object): Promise<any> {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(`${server}/gridstand.v1.${method}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(request),
      signal: AbortSignal.timeout(15_000),
    }).catch((error) => error as Error);
    if (response instanceof Response && response.ok) return response.json();
    const retry = response instanceof Error || [429, 503].includes(response.status);
    if (!retry || attempt === 8) {
      throw response instanceof Error ? response : new Error(`${method}: ${await response.text()}`);
    }
    const wait = response instanceof Error ? 1 : Number(response.headers.get('retry-after') ?? 1);
    await new Promise((resolve) => setTimeout(resolve, (wait + Math.random()) * 1000));
  }
}

// A secret or request id chosen by the client makes creation calls safe to retry.
const secret = () =>
  Array.from(
    crypto.getRandomValues(new Uint8Array(26)),
    (n) => 'abcdefghijklmnopqrstuvwxyz234567'[n % 32],
  ).join('');
const account = { name: `bot-${secret().slice(0, 6)}`, secret: secret(), bot: true };
({ token } = await call('PlayerService/CreatePlayer', account));
const request = { variant, requestId: secret() };
const { game }: { game: Game } = await call('GameService/CreateGame', request);
console.log(`watch it: ${server}/g/${game.id}`);
let { version, position } = game;
for (let result: MoveEvent['result']; !result; ) {
  const direction = preferred.find((d) => position.twenty48.legalMoves.includes(d));
  const moved = await call('GameService/Move', { gameId: game.id, version, direction });
  ({ version, position, result } = moved.event as MoveEvent);
}
console.log(`${position.scores[0]} points after ${version - 1} moves`);

export {}; // makes this file a module, so that its names are local to it
