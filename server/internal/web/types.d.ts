// Shapes of the contract's messages in JSON, as the page uses them: names in camelCase,
// enums by name, bytes in base64, times as RFC 3339, durations as "30s". The server omits
// fields with their default value; such a field is optional here. The .proto files document
// each field. A module of the page imports them with a comment:
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
export type Window = 'WINDOW_ALL_TIME' | 'WINDOW_WEEK' | 'WINDOW_DAY';

export interface Player {
  id: string;
  name: string;
  bot?: boolean;
  createTime?: string;
}

/** A place in a game: a player's, a bot's, or open. */
export interface Seat {
  index?: number;
  player?: Player;
  bot?: string;
  open?: {};
  resigned?: boolean;
  standIn?: string;
}

/** What CreateGame puts into a seat. */
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
}

export interface Created {
  variant: string;
  seats: Seat[];
  private?: boolean;
  turnLimit?: string;
  seedCommitment: string;
  rulesRevision: number;
}

export interface Moved {
  direction?: Direction;
  cell?: Cell;
  byBot?: boolean;
  spawned?: Spawn;
  gained?: number;
  taken?: Cell[];
}

/** One event of a game. Exactly one of the actions, created to clockExtended, is set. */
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

/** An update of a watched game: one of the three is set. */
export interface WatchResponse {
  game?: Game;
  event?: Event;
  audience?: number;
}

/** Requests and responses of the calls that the page makes. */
export interface Calls {
  GetServerInfo: [{}, { name?: string; version?: string }];
  ListVariants: [{}, { variants: Variant[] }];
  CreateGame: [
    {
      variant: string;
      seats?: SeatRequest[];
      private?: boolean;
      turnLimit?: string;
      requestId?: string;
    },
    { game: Game },
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
  RotateToken: [{ secret?: string }, { token: string }];
}

/** What verify.js says of a transcript. */
export type Verdict =
  | {
      ok: true;
      checks: {
        /** Events, each with its board, scores and legal moves. */
        versions: number;
        moves: number;
        /** Tiles that appeared at random, with those of the start. */
        tiles: number;
        /** Seed in base64. */
        seed: string;
      };
    }
  | {
      ok: false;
      /** Version of the first event that is wrong. */
      version: number;
      problem: string;
      /** Whether the page cannot tell: the game is not over, or newer than the page. */
      unknown: boolean;
    };

/** Draws a number from 0 to n - 1; see draws.js. */
export type Draw = (n: number | bigint) => bigint;

/** What distinguishes a variant of 2048. */
export interface Twenty48Rules {
  /** Number of rows and of columns. */
  side: number;
  /** Number of start tiles that are drawn. */
  start: number;
  /** One start tile in so many is a 4; 0 for none. */
  startFours: number;
  /** One later tile in so many is a 4; 0 for none. */
  fours: number;
  /** Whether the game ends with a tile of 2048. */
  ends?: boolean;
  /** Whether a tile appears after the move that ends it. */
  lastTile?: boolean;
  /** Whether a merge counts half of the merged tile. */
  half?: boolean;
  /** Whether moves that change nothing are legal while a cell is empty. */
  idle?: boolean;
}

/** Slides all tiles of a board of 2048; see slide in twenty48.js. */
export type Slide = (
  tiles: number[],
  rows: number,
  columns: number,
  direction: Direction,
  /** Needed for gained only. */
  variant?: string,
) => {
  tiles: number[];
  gained: number;
  /**
   * From which cell to which each tile goes, also those that stay, and whether it merges there
   * with the tile of an earlier move.
   */
  moves: { from: number; to: number; merged: boolean }[];
};

/** A board with the seat to move. It never changes; moves return another. */
export interface Board {
  turn: number | undefined;
  /** Why the board has ended. */
  ended: Reason | undefined;
  /** Seats that win if the game ends now for this reason. */
  winners(reason: Reason): number[];
  /** The board after a seat has resigned. */
  resign(seat: number): Board;
  /** The position but for its turn; without legal moves unless active. */
  position(active: boolean): Position;
  /** A move of the seat to move, and what its event says; undefined if illegal. */
  move(seat: number, moved: Moved, draw: Draw): { board: Board; moved: Moved } | undefined;
}

/** A game at one version, as verify.js recomputes it. */
export interface GameState {
  board: Board;
  seats: Seat[];
  /** Whether a seat is open. */
  waiting: boolean;
  /** Why the game ended. */
  reason?: Reason;
  ranked: boolean;
  /** Limit of a turn, 0 for none; times and durations are in nanoseconds. */
  limit: bigint;
  /** Time of the event. */
  at: bigint;
  /** When the running clock runs out. */
  deadline?: bigint;
}
