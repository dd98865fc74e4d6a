// Plays a game and a rematch of it to their ends with clients from npm, watches the game, and
// watches a race:
//
//     node clients.mjs ADDRESS DESCRIPTORS CLIENT
//
// DESCRIPTORS is a file with the contract as a FileDescriptorSet. CLIENT is a key of
// clients.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { create, createFileRegistry, fromBinary, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import * as node from '@connectrpc/connect-node';
import * as web from '@connectrpc/connect-web';
import grpcWeb from 'grpc-web';
import xhr2 from 'xhr2';

const [address, descriptors, name] = process.argv.slice(2);
const contract = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(descriptors)));
const baseUrl = `http://${address}`;
const service = (s) => contract.getService(`gridstand.v1.${s}`);

const serviceNames = ['GameService', 'PlayerService', 'LeaderboardService', 'ChallengeService'];

// connect returns clients for the services. They make their calls through a connect-es transport.
const connect = (transport) => (token) => {
  const authenticate = (next) => (request) => {
    if (token) request.header.set('authorization', `Bearer ${token}`);
    return next(request);
  };
  const t = transport({ baseUrl, interceptors: [authenticate] });
  return serviceNames.map((s) => createClient(service(s), t));
};

// failure converts an error from Google's client to a connect-es ConnectError.
function failure(e) {
  const failed = new ConnectError(e.message, e.code);
  const details = e.metadata?.['grpc-status-details-bin'];
  if (details) {
    const status = fromBinary(
      contract.getMessage('google.rpc.Status'),
      Buffer.from(details, 'base64'),
    );
    failed.details = status.details.map((d) => ({
      type: d.typeUrl.split('/').pop(),
      value: d.value,
    }));
  }
  return failed;
}

// google returns Google's gRPC-Web clients for the services. They throw connect-es errors. They
// need XMLHttpRequest, which only browsers provide, so xhr2 stands in for it. They have no streams,
// which Google's client has only in base64.
const google = (token) => {
  globalThis.XMLHttpRequest = xhr2.XMLHttpRequest;
  const base = new grpcWeb.GrpcWebClientBase({ format: 'binary' });
  return serviceNames.map((s) =>
    Object.fromEntries(
      service(s).methods.map((method) => {
        const descriptor = new grpcWeb.MethodDescriptor(
          `/${method.parent.typeName}/${method.name}`,
          grpcWeb.MethodType.UNARY,
          Object,
          Object,
          (m) => toBinary(method.input, create(method.input, m)),
          (bytes) => fromBinary(method.output, bytes),
        );
        const authorization = token ? { authorization: `Bearer ${token}` } : {};
        const unary = (request) =>
          base
            .unaryCall(baseUrl + descriptor.name, request, authorization, descriptor)
            .catch((e) => {
              throw failure(e);
            });
        return [method.localName, unary];
      }),
    ),
  );
};

const clients = {
  'connect-web json': connect((o) => web.createConnectTransport(o)),
  'connect-web binary': connect((o) => web.createConnectTransport({ ...o, useBinaryFormat: true })),
  'connect-web grpc-web': connect((o) => web.createGrpcWebTransport(o)),
  'connect-node json': connect((o) =>
    node.createConnectTransport({ ...o, httpVersion: '1.1', useBinaryFormat: false }),
  ),
  'connect-node binary': connect((o) => node.createConnectTransport({ ...o, httpVersion: '1.1' })),
  'connect-node grpc-web': connect((o) =>
    node.createGrpcWebTransport({ ...o, httpVersion: '1.1' }),
  ),
  'connect-node grpc': connect((o) => node.createGrpcTransport({ ...o, httpVersion: '2' })),
  'connect-node grpc over HTTP/1.1': connect((o) =>
    node.createGrpcTransport({ ...o, httpVersion: '1.1' }),
  ),
  'google grpc-web': google,
};

// refused returns the error of a call that must fail, with the reason and the metadata of its
// ErrorInfo.
async function refused(call, code) {
  const failed = await call.then(
    () => assert.fail('the call must fail'),
    (e) => ConnectError.from(e),
  );
  assert.equal(failed.code, code, failed.message);
  const [info] = failed.findDetails(contract.getMessage('google.rpc.ErrorInfo'));
  return { failed, reason: info?.reason, metadata: info?.metadata };
}

const services = clients[name];
const [, anyone] = services();
const { player, token } = await anyone.createPlayer({
  name: name.replaceAll(/[^a-z]/g, '').slice(0, 20),
});
const [games, players, boards, challenges] = services(token);
const hasStreams = name.startsWith('connect');
assert.equal((await players.getPlayer({ playerId: 'me' })).player.id, player.id);

const { game } = await games.createGame({ variant: '3x3' });
const gameId = game.id;
const seen = [];
const watching =
  hasStreams &&
  (async () => {
    for await (const { update } of games.watch({ gameId, afterVersion: 0 })) {
      if (update.case === 'event') seen.push(update.value);
    }
  })();

let { version, position } = game;
const illegal = [1, 2, 3, 4].find((d) => !position.board.value.legalMoves.includes(d));
if (illegal) {
  const move = { case: 'direction', value: illegal };
  assert.equal(
    (await refused(games.move({ gameId, version, move }), Code.FailedPrecondition)).reason,
    'ILLEGAL_MOVE',
  );
}

// play plays a game to its end and returns the last event.
async function play({ id: gameId, version, position }) {
  for (;;) {
    const move = { case: 'direction', value: position.board.value.legalMoves[0] };
    const { event } = await games.move({ gameId, version, move });
    if (event.result) return event;
    ({ version, position } = event);
  }
}
({ version, position } = await play(game));
await watching;
if (hasStreams) {
  assert.deepEqual(
    seen.map((e) => e.version),
    Array.from({ length: version }, (_, i) => i + 1),
  );
  assert.ok(seen.at(-1).result);
}

const conflict = await refused(games.undo({ gameId, version: 1 }), Code.FailedPrecondition);
assert.equal(conflict.reason, 'GAME_OVER');
const open = await games.createGame({ variant: 'twos' });
const late = await refused(games.undo({ gameId: open.game.id, version: 7 }), Code.Aborted);
assert.deepEqual([late.reason, late.metadata], ['VERSION_CONFLICT', { version: '1' }]);
const nobody = await refused(games.getGame({ gameId: 'nope' }), Code.NotFound);
assert.equal(nobody.reason, 'GAME_NOT_FOUND');
const { failed } = await refused(games.listGames({ pageSize: -1 }), Code.InvalidArgument);
const [bad] = failed.findDetails(contract.getMessage('google.rpc.BadRequest'));
assert.equal(bad.fieldViolations[0].field, 'page_size');
const [, forger] = services(`${token}x`);
assert.equal(
  (await refused(forger.getPlayer({ playerId: 'me' }), Code.Unauthenticated)).reason,
  'BAD_TOKEN',
);
if (hasStreams) {
  const stream = games.watch({ gameId: 'nope' })[Symbol.asyncIterator]();
  assert.equal((await refused(stream.next(), Code.NotFound)).reason, 'GAME_NOT_FOUND');
}
assert.ok((await boards.listScores({ variant: '3x3' })).total >= 0);

// Play a rematch of the game.
const kinds = contract.getEnum('gridstand.v1.ChallengeKind').value;
const kind = (s) => Object.values(kinds).find((v) => v.name === `CHALLENGE_KIND_${s}`).number;
const { challenge } = await challenges.createChallenge({ kind: kind('REMATCH'), gameId });
const challengeId = challenge.id;
assert.equal(challenge.target.score, position.scores[0]);
const attempt = (await games.createGame({ challengeId })).game;
const { score } = (await challenges.getChallenge({ challengeId })).attempt;
assert.equal(score, attempt.position.scores[0]);
const end = await play(attempt);
for (let standings = []; !standings.length; ) {
  ({ standings } = await challenges.listStandings({ challengeId }));
  if (standings.length) assert.equal(standings[0].score, end.position.scores[0]);
}
let listed = [];
for (let page = {}; !listed.includes(challengeId); ) {
  page = await challenges.listChallenges({ kind: challenge.kind, pageToken: page.nextPageToken });
  listed = page.challenges.map((c) => c.id);
}

// Start a race, and watch how its roster changes.
const limit = { seconds: 60n };
const race = (await challenges.createChallenge({ kind: kind('RACE'), variant: '3x3', limit }))
  .challenge;
const raceId = { challengeId: race.id };
const alone = await refused(challenges.startChallenge(raceId), Code.FailedPrecondition);
assert.equal(alone.reason, 'TOO_FEW_ENTRANTS');
const roster = hasStreams && challenges.watchChallenge(raceId)[Symbol.asyncIterator]();
const entrants = async (n) => {
  while (roster && (await roster.next()).value.challenge.entrants.length !== n);
};
await entrants(1);
const bot = { ...raceId, bot: 'greedy' };
const joined = (await challenges.joinChallenge(bot)).challenge.entrants;
await entrants(2);
const { gameId: botsGame } = joined.find((e) => e.who.case === 'bot');
const left = await challenges.leaveChallenge({ ...raceId, gameId: botsGame });
assert.equal(left.challenge.entrants.length, 1);
await entrants(1);
await challenges.joinChallenge(bot);
assert.ok((await challenges.startChallenge(raceId)).challenge.openTime);
const none = { challengeId: 'nope' };
const unknown = await refused(challenges.getChallenge(none), Code.NotFound);
assert.equal(unknown.reason, 'CHALLENGE_NOT_FOUND');
if (hasStreams) {
  const stream = challenges.watchChallenge(none)[Symbol.asyncIterator]();
  assert.equal((await refused(stream.next(), Code.NotFound)).reason, 'CHALLENGE_NOT_FOUND');
}
console.log(`${name}: ${version} versions`);
process.exit(0); // Idle connections would delay the exit for seconds.
