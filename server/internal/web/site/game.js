// The page of a game.
import './tribolo-board.js';

export { default } from './game-view.js';
