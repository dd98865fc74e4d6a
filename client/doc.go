// Package client is the Go library for programs that play on a Gridstand server
// or watch its games. The gridstand program is built on it.
//
// These docs explain the types. The contract, proto/gridstand/v1, explains the rules
// of the games and each call and error. The five examples are tests: they share
// startServer (example_server_test.go) and playedGame (example_watch_test.go). Against
// a real server, use its address as the target.
//
// # Use
//
// Dial makes a Client. It needs no account to watch and to read lists. LogIn makes
// it act for an account that a Store keeps in a file, and creates one the first
// time; Adopt stores an account that another program has. A program that keeps tokens
// itself uses CreatePlayer and SetToken.
//
// NewGame, Join and Client.Game return a Game. Client.Seat is the account's seat in
// it: a move made there takes effect once, even if replies are lost. Seat.Play lets
// a bot play to the end. Client.Watch follows a game across lost connections, and
// Game.Apply brings a Game up to date with an event, wherever the event came from.
// PlayerByName and CurrentGame find the game that a player plays now.
//
// The fields Games, Leaderboard and Players of a Client make all other calls of the
// contract.
//
// # Errors
//
// An error that a server or gRPC returns is or wraps an *Error. ErrBadStream,
// ErrClearText and the errors of a Store are not. Compare errors with ErrGameOver and the
// other Err… values by errors.Is.
//
// The calls of a Seat, Join and Rotate are retried until ctx ends or the client is
// closed; NewGame and CreatePlayer are retried once. If the outcome is not known then,
// the error is also ErrUnsettled: the call may have taken effect. After ErrBadStream it
// may have, too; after any other error it has not. To repeat NewGame safely after an
// error, give it a GameOptions.RequestID.
//
// # Servers that are not trusted
//
// What a server sends is checked before it is returned: versions follow each other,
// and boards have the size that they state. Anything else is ErrBadStream. Names and
// other texts may hold any characters; CleanName and CleanText make them fit for a
// terminal.
//
// # Compatibility
//
// Package client follows the contract gridstand.v1. Within v1
//
//   - a client works with servers that are older or newer. A newer server may send
//     messages, fields, kinds of events and reasons for errors that a client does not
//     know: programs must ignore them. Watch skips an update that it does not know,
//     Game.Apply takes the position from every event, and Error.Reason holds a reason
//     that has no Err… value. Only a game of an unknown kind is an ErrBadStream.
//   - identifiers of this package are not removed, and their types stay. Fields,
//     functions, types, methods, constants and errors may be added: use keyed literals, and give a
//     switch over constants a default. The file testdata/api.txt lists them all.
//   - texts may change: those of errors, and String of Cause and ConnectionState.
//     So may timeouts and the waits between retries.
//
// A message type of the contract, in proto/gridstand/v1, only gains fields; the
// service interfaces gain methods, so that only generated code should implement
// them. Package server, which tests use, may change with any release.
//
// The package needs the release of Go that go.mod names, or a later one.
package client
