// Code generated from internal/describe/words.go by make generate. DO NOT EDIT.
export default {
  owners: ['blue', 'red', 'green'],
  reactions: ['clap', 'wow', 'laugh', 'heart', 'fire', 'ouch'],
  squares: [...'⬛⬛🟦🟦🟩🟩🟧🟧🟥🟪🟨⬜'],
  /** @type {Record<string, string>} */
  endings: {
    REASON_GOAL_REACHED: '2048 reached',
    REASON_NO_MOVES: 'No moves left',
    REASON_RESIGNED: 'Resigned',
    REASON_TIMED_OUT: 'Out of time',
    REASON_ABANDONED: 'Abandoned',
  },
  /** @type {Record<string, string>} */
  bots: {
    expectimax: 'looks ahead; the strongest',
    greedy: 'most points now',
    minimax: 'looks ahead; the strongest',
    montecarlo: 'tries random games; strong',
    original: 'as in the first version; strong',
    random: 'any move',
    rote: 'the same pattern again and again',
  },
  open: 'open',
  youWin: 'You win',
  gameOver: 'Game over',
  noWinner: 'No winner',
  /** @param {string} a */
  wins: (a) => `${a} wins`,
  /** @param {string} a */
  shareWin: (a) => `${a} share the win`,
  and: ' and ',
  /** @param {string} a */
  joins: (a) => `${a} joins`,
  /** @param {string} a */
  undoneTo: (a) => `undone, back to move ${a}`,
  /** @param {string} a */
  resigns: (a) => `${a} resigns`,
  /** @param {string} a */
  ranOut: (a) => `${a} ran out of time`,
  /** @param {string} a @param {string} b */
  extended: (a, b) => `${a} gets an extra ${b} s`,
  abandoned: 'abandoned',
  /** @param {string} a */
  watching: (a) => `${a} watching`,
  noWatchers: 'no watchers',
  /** @param {string} a */
  ago: (a) => `${a} ago`,
  justNow: 'just now',
  /** @param {string} a */
  kept: (a) => `Your ${a} are kept. You cannot return.`,
  /** @param {string} a @param {string} b */
  beat: (a, b) => `beat ${a} by ${b}`,
  /** @param {string} a */
  level: (a) => `level with ${a}`,
  /** @param {string} a @param {string} b */
  behind: (a, b) => `${a} behind ${b}`,
  tie: 'A tie: the earlier one wins.',
  /** @param {string} a */
  newTile: (a) => `${a}!`,
  newBest: 'Your new best',
  /** @param {string} a */
  newBestOf: (a) => `${a} has a new best`,
  /** @param {string} a */
  secondsLeft: (a) => `${a} seconds left`,
  /** @param {string} a */
  overtakes: (a) => `${a} overtakes you`,
  /** @param {string} a */
  overtaken: (a) => `You overtake ${a}`,
  /** @param {string} a */
  leads: (a) => `${a} takes the lead`,
};
