// Package client is what a program needs to play on a Gridstand server or to
// watch one: the terminal client is built on it, and a bot can be.
//
//   - Dial makes a Client. Through its fields every call of the contract can be
//     made; calls that a server was not available for are tried again.
//   - LogIn makes it act for an account, which a Store keeps; the first time, it
//     creates one.
//   - Client.NewGame creates a game and Client.Play takes the account's seat in
//     it. A move made there takes effect once, whatever is lost on the way.
//   - Client.Watch follows a game to its end: each event once and in order, over
//     as many connections as it takes.
//   - Errors are values: compare them with ErrGameOver and the others, or look
//     into the *Error.
//
// What a server sends is checked before it is passed on: versions follow each
// other, boards have the size that they say. Names and other texts may hold
// anything all the same; draw them through CleanName and CleanText.
package client
