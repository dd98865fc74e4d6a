// Code generated from internal/describe/words.go by make generate. DO NOT EDIT.
export const owners = ['blue', 'red', 'green'];
export const reactions = ['clap', 'wow', 'laugh', 'heart', 'fire', 'ouch'];
export const squares = [...'⬛⬛🟦🟦🟩🟩🟧🟧🟥🟪🟨⬜'];
/** @type {Record<string, string>} */
export const endings = {
  REASON_GOAL_REACHED: '2048 reached',
  REASON_NO_MOVES: 'No moves left',
  REASON_RESIGNED: 'Resigned',
  REASON_TIMED_OUT: 'Out of time',
  REASON_ABANDONED: 'Abandoned',
};
/** @type {Record<string, string>} */
export const bots = {
  expectimax: 'looks ahead; the strongest',
  greedy: 'most points now',
  minimax: 'looks ahead; the strongest',
  montecarlo: 'tries random games; strong',
  original: 'as in the first version; strong',
  random: 'any move',
  rote: 'the same pattern again and again',
};
export const open = 'open';
export const youWin = 'You win';
export const gameOver = 'Game over';
export const noWinner = 'No winner';
/** @param {string} a */
export const wins = (a) => `${a} wins`;
/** @param {string} a */
export const shareWin = (a) => `${a} share the win`;
export const and = ' and ';
export const othersResigned = 'others resigned';
/** @param {string} a */
export const joins = (a) => `${a} joins`;
/** @param {string} a */
export const undoneTo = (a) => `undone, back to move ${a}`;
/** @param {string} a */
export const resigns = (a) => `${a} resigns`;
/** @param {string} a */
export const ranOut = (a) => `${a} ran out of time`;
/** @param {string} a @param {string} b */
export const extended = (a, b) => `${a} gets an extra ${b} s`;
export const abandoned = 'abandoned';
/** @param {string} a */
export const watching = (a) => `${a} watching`;
export const noWatchers = 'no watchers';
/** @param {string} a */
export const ago = (a) => `${a} ago`;
export const justNow = 'just now';
/** @param {string} a */
export const kept = (a) => `Your ${a} are kept. You cannot return.`;
/** @param {string} a @param {string} b */
export const beat = (a, b) => `beat ${a} by ${b}`;
/** @param {string} a */
export const level = (a) => `level with ${a}`;
/** @param {string} a @param {string} b */
export const behind = (a, b) => `${a} behind ${b}`;
export const tie = 'A tie: the earlier one wins.';
/** @param {string} a */
export const newTile = (a) => `${a}!`;
export const newBest = 'Your new best';
/** @param {string} a */
export const newBestOf = (a) => `${a} has a new best`;
/** @param {string} a */
export const secondsLeft = (a) => `${a} seconds left`;
/** @param {string} a */
export const overtakes = (a) => `${a} overtakes you`;
/** @param {string} a */
export const overtaken = (a) => `You overtake ${a}`;
/** @param {string} a */
export const leads = (a) => `${a} takes the lead`;
