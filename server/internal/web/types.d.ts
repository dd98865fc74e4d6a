// The JSON form of the contract's messages, as the page uses them: camelCase names, enums by
// name, bytes in base64, times in RFC 3339, durations such as "30s". The server omits fields with
// default values, so they are optional here. The .proto files document each field. The page's
// modules import these types with a comment:
//
//   /** @import { Event, Game } from '../types' */

export type Direction = 'DIRECTION_UP' | 'DIRECTION_DOWN' | 'DIRECTION_LEFT' | 'DIRECTION_RIGHT';
export type CellState =
  | 'CELL_STATE_EMPTY'
  | 'CELL_STATE_WALL'
  | 'CELL_STATE_BLUE'
  | 'CELL_STATE_RED'
  | 'CELL_STATE_GREEN';
export type Kind = 'KIND_TWENTY48' | 'KIND_TRIBOLO';
export type GameStatus = 'GAME_STATUS_WAITING' | 'GAME_STATUS_ACTIVE' | 'GAME_STATUS_FINISHED';
export type Reason =
  | 'REASON_GOAL_REACHED'
  | 'REASON_NO_MOVES'
  | 'REASON_RESIGNED'
  | 'REASON_TIMED_OUT'
  | 'REASON_ABANDONED';
export type OrderBy = 'ORDER_BY_RECENT' | 'ORDER_BY_SCORE' | 'ORDER_BY_WATCHERS';
export type ChallengeKind =
  | 'CHALLENGE_KIND_DAILY'
  | 'CHALLENGE_KIND_RACE'
  | 'CHALLENGE_KIND_LINK'
  | 'CHALLENGE_KIND_REMATCH';
export type ChallengeStatus =
  | 'CHALLENGE_STATUS_WAITING'
  | 'CHALLENGE_STATUS_SCHEDULED'
  | 'CHALLENGE_STATUS_OPEN'
  | 'CHALLENGE_STATUS_CLOSED';
export type Window = 'WINDOW_ALL_TIME' | 'WINDOW_WEEK' | 'WINDOW_DAY';

export interface Player {
  id: string;
  name: string;
  bot?: boolean;
  createTime?: string;
}

/** A seat in a game: held by a player or a bot, or open. */
export interface Seat {
  index?: number;
  player?: Player;
  bot?: string;
  open?: {};
  resigned?: boolean;
  standIn?: string;
}

/** The requested occupant of a seat in CreateGame. */
export interface SeatRequest {
  caller?: {};
  open?: {};
  bot?: string;
}

export interface Cell {
  x?: number;
  y?: number;
}

export interface Spawn {
  index?: number;
  value: number;
}

export interface Twenty48Board {
  rows: number;
  columns: number;
  tiles: number[];
  legalMoves?: Direction[];
  goalReached?: boolean;
}

export interface TriboloMove {
  cell: Cell;
  taken: Cell[];
}

export interface TriboloBoard {
  rows: number;
  columns: number;
  cells: CellState[];
  legalMoves?: TriboloMove[];
}

export interface Position {
  moveCount?: number;
  twenty48?: Twenty48Board;
  tribolo?: TriboloBoard;
  scores: number[];
  turn?: number;
  turnDeadline?: string;
}

export interface Result {
  reason: Reason;
  winners?: number[];
  scores: number[];
}

export interface Game {
  id: string;
  variant: string;
  seats: Seat[];
  status: GameStatus;
  version: number;
  position: Position;
  result?: Result;
  ranked?: boolean;
  private?: boolean;
  watchers?: number;
  seedCommitment: string;
  seed?: string;
  createTime: string;
  updateTime: string;
  turnLimit?: string;
  rulesRevision: number;
  exhibition?: boolean;
  challengeId?: string;
}

export interface Created {
  variant: string;
  seats: Seat[];
  private?: boolean;
  turnLimit?: string;
  seedCommitment: string;
  rulesRevision: number;
  challengeId?: string;
}

export interface Moved {
  direction?: Direction;
  cell?: Cell;
  byBot?: boolean;
  spawned?: Spawn;
  gained?: number;
  taken?: Cell[];
}

/** An event of a game. Exactly one of the actions, from created to clockExtended, is set. */
export interface Event {
  gameId: string;
  version: number;
  time: string;
  seat?: number;
  position: Position;
  ranked?: boolean;
  created?: Created;
  joined?: { seat: Seat };
  moved?: Moved;
  undone?: { toVersion: number };
  resigned?: {};
  abandoned?: {};
  timedOut?: { standIn?: string };
  clockExtended?: { by: string };
  result?: Result;
  seed?: string;
}

export interface Variant {
  id: string;
  title: string;
  summary: string;
  rules: string;
  kind: Kind;
  rows: number;
  columns: number;
  seats: number;
  bots?: string[];
}

/** An entry of a leaderboard. */
export interface Entry {
  rank: number;
  player: Player;
  score: number;
  gameId: string;
  time: string;
}

/** A challenge: several games with the same seed. */
export interface Challenge {
  id: string;
  kind: ChallengeKind;
  variant: string;
  creator?: Player;
  createTime: string;
  openTime?: string;
  closeTime?: string;
  limit?: string;
  status: ChallengeStatus;
  seedCommitment: string;
  seed?: string;
  private?: boolean;
  entrants?: Entrant[];
  target?: { gameId: string; player?: Player; score?: number };
  startTime?: string;
  date?: string;
  credited?: string;
}

export interface Entrant {
  player?: Player;
  bot?: string;
  ready?: boolean;
  gameId: string;
}

export interface Attempt {
  gameId: string;
  status: GameStatus;
  score?: number;
  deadline?: string;
  dayStreak?: number;
}

/** A line of the standings of a challenge. */
export interface Standing {
  rank?: number;
  player?: Player;
  bot?: string;
  score?: number;
  gameId: string;
  time: string;
  finished?: boolean;
  largestTile?: number;
  moveCount?: number;
}

/** An update of a watched challenge. */
export interface WatchChallengeResponse {
  challenge: Challenge;
  standings?: Standing[];
  total?: number;
  now: string;
  etag: string;
}

export interface GetChallengeResponse {
  challenge: Challenge;
  next?: Challenge;
  attempt?: Attempt;
  now: string;
  dailyVariants?: string[];
}

/** An update of a watched game. Exactly one of the three is set. */
export interface WatchResponse {
  game?: Game;
  event?: Event;
  audience?: number;
  /** The number of each reaction since the last audience, only with an audience. */
  reactions?: number[];
}

/** Requests and responses of the calls that the page makes. */
export interface Calls {
  GetServerInfo: [{}, { name?: string; version?: string; reactions?: boolean }];
  ListVariants: [{}, { variants: Variant[] }];
  CreateGame: [
    {
      variant?: string;
      challengeId?: string;
      seats?: SeatRequest[];
      private?: boolean;
      turnLimit?: string;
      requestId?: string;
    },
    { game: Game },
  ];
  CreateChallenge: [
    {
      kind: ChallengeKind;
      variant?: string;
      limit?: string;
      gameId?: string;
      private?: boolean;
      requestId?: string;
      previousChallengeId?: string;
    },
    { challenge: Challenge },
  ];
  RaceNow: [{}, { challenge: Challenge }];
  GetChallenge: [
    { challengeId?: string; daily?: { variant?: string; date?: string } },
    GetChallengeResponse,
  ];
  JoinChallenge: [{ challengeId: string; ready?: boolean; bot?: string }, { challenge: Challenge }];
  LeaveChallenge: [{ challengeId: string; gameId?: string }, { challenge: Challenge }];
  StartChallenge: [{ challengeId: string }, { challenge: Challenge }];
  ListStandings: [
    { challengeId: string; pageSize?: number; playerId?: string; neighbors?: number },
    { standings?: Standing[]; total?: number },
  ];
  JoinGame: [{ gameId: string; seat?: number }, { game: Game }];
  GetGame: [{ gameId: string }, { game: Game }];
  ListGames: [
    {
      status?: GameStatus;
      variant?: string;
      playerId?: string;
      orderBy?: OrderBy;
      pageSize?: number;
      pageToken?: string;
      playerName?: string;
    },
    { games?: Game[]; nextPageToken?: string; movingGames?: number },
  ];
  Move: [
    { gameId: string; version: number; direction?: Direction; cell?: Cell; byBot?: boolean },
    { event: Event },
  ];
  Undo: [{ gameId: string; version: number; toVersion?: number }, { event: Event }];
  Resign: [{ gameId: string; version?: number; seat?: number }, { event: Event }];
  ListScores: [
    { variant: string; window?: Window; pageSize?: number; pageToken?: string },
    { entries?: Entry[]; nextPageToken?: string; total?: number },
  ];
  GetRank: [
    { variant: string; window?: Window; playerId?: string; neighbors?: number },
    { entry: Entry; neighbors?: Entry[] },
  ];
  CreatePlayer: [
    { name: string; secret?: string; bot?: boolean },
    { player: Player; token: string },
  ];
  GetPlayer: [{ playerId?: string; name?: string }, { player: Player }];
  Rename: [{ name: string }, { player: Player }];
  OpenSession: [
    { code: string; secret?: string; comment?: string },
    { player: Player; token: string },
  ];
  ListSessions: [{}, { sessions?: { id: string; comment?: string; createTime: string }[] }];
  EndSession: [{ sessionId?: string }, {}];
  RotateToken: [{ secret?: string }, { token: string }];
}

/** The result of verify.js for a transcript. */
export type Verdict =
  | {
      ok: true;
      checks: {
        /** Number of events, each with a checked board, scores and legal moves. */
        versions: number;
        moves: number;
        /** Number of random tiles, including the start tiles. */
        tiles: number;
        /** The seed in base64. */
        seed: string;
      };
    }
  | {
      ok: false;
      /** The version of the first wrong event. */
      version: number;
      problem: string;
      /** Whether the page cannot decide, because the game is not over or is newer than the page. */
      unknown?: boolean;
    };

/** Draws a number from 0 to n - 1; see draws.js. */
export type Draw = (n: number | bigint) => bigint;

/** The rules in which variants of 2048 differ. */
export interface Twenty48Rules {
  /** Number of rows and of columns. */
  side: number;
  /** Number of random start tiles. */
  start: number;
  /** On average, one in this many start tiles is a 4; 0 for none. */
  startFours: number;
  /** On average, one in this many later tiles is a 4; 0 for none. */
  fours: number;
  /** Whether the game ends when a 2048 tile appears. */
  ends?: boolean;
  /** Whether a tile appears after a move that ends the game in this way. */
  lastTile?: boolean;
  /** Whether a merge scores only half of the merged tile. */
  half?: boolean;
  /** Whether moves that change nothing are legal while a cell is empty. */
  idle?: boolean;
}

/** Slides all tiles of a 2048 board; see slide in twenty48.js. */
export type Slide = (
  tiles: number[],
  rows: number,
  columns: number,
  direction: Direction,
  /** Needed only for gained. */
  variant?: string,
) => {
  tiles: number[];
  gained: number;
  /**
   * The moves of the tiles between cells, including tiles that stay. merged is set if the tile
   * merges with the tile of an earlier move.
   */
  moves: { from: number; to: number; merged: boolean }[];
};

/** A board with the seat to move. It is immutable; moves return a new one. */
export interface Board {
  turn: number | undefined;
  /** Why the board allows no more moves. */
  ended: Reason | undefined;
  /** Returns the winning seats if the game ends now for this reason. */
  winners(reason: Reason): number[];
  /** Returns the board after a seat has resigned. */
  resign(seat: number): Board;
  /** Returns the position without its turn, and without legal moves unless active. */
  position(active: boolean): Position;
  /**
   * Makes a move for the seat to move. Returns the new board and the event's content, or
   * undefined if the move is illegal.
   */
  move(seat: number, moved: Moved, draw: Draw): { board: Board; moved: Moved } | undefined;
}

/** The state of a game at one version, recomputed by verify.js. */
export interface GameState {
  board: Board;
  seats: Seat[];
  /** Whether a seat is open. */
  waiting: boolean;
  /** Whether the game is an attempt at a challenge. */
  attempt: boolean;
  /** Why the game ended. */
  reason?: Reason;
  ranked: boolean;
  /** Time limit of a turn, or 0 for none. Times and durations are in nanoseconds. */
  limit: bigint;
  /** Time of the event. */
  at: bigint;
  /** The time at which the running clock expires, and the time at which it started. */
  deadline?: bigint;
  started: bigint;
}

/** What a player has achieved. */
export interface GetProfileResponse {
  player: Player;
  variants?: VariantRecord[];
  /** The latest finished games, oldest first. */
  latest?: FinishedGame[];
  daily?: DailyRecord;
  races?: RaceRecord;
}

/** The latest races, at most 50. */
export interface RaceRecord {
  total?: number;
  won?: number;
  /** The player of the latest race first. */
  rivals?: { player: Player; won?: number; lost?: number }[];
}

export interface VariantRecord {
  variant: string;
  games: number;
  wins?: number;
  bestScore?: number;
  bestGameId?: string;
  bestTime?: string;
}

export interface FinishedGame {
  gameId: string;
  variant: string;
  score?: number;
  time: string;
}

export interface DailyRecord {
  streak?: number;
  longestStreak?: number;
  results?: { day: string; variant: string; challengeId: string; score?: number }[];
}
