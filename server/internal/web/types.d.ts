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
