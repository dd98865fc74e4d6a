import"./tribolo-board.js";import{default as e}from"./game-view.js";export{e as default};
