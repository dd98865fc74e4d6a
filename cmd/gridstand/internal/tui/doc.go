// Package tui draws Gridstand in the terminal: the lobby, the screens on which
// games are played, one for each kind, and those on which they are watched.
//
// Every screen is a Bubble Tea model whose View is a pure function of what the
// model holds: the game as the server acknowledged it, the size of the window,
// the theme and a clock that was handed in. What takes time (a move, the next
// update of a stream, a rank) runs in commands and comes back as a message; no
// screen waits for the network.
//
// What all screens share is drawn by functions without state: the board
// (board.go) on a canvas of half-height pixels (canvas.go) in the tones of a
// palette (palette.go), the badge, the panel and the boxes that lie over the
// board. A new kind of game adds its board, as a picture (picture.go), and the
// screen on which it is played (NewPlayer) beside these.
package tui
