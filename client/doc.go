// Package client is the Go library for programs that play on a Gridstand server
// or watch its games. The gridstand program is built on it.
//
// This documentation covers the types. The contract in proto/gridstand/v1 describes the
// rules of the games and every call and error. The five examples run as tests and share
// two helpers: startServer (example_server_test.go) and playedGame
// (example_watch_test.go). To use a real server, pass its address as the target.
//
// # Use
//
//	go get github.com/gridstand/gridstand/client
//
// Dial makes a Client. Watching games and reading lists need no account. LogIn makes the
// client act for an account that a Store keeps in a file, and creates the account the
// first time; LogInBot does the same for a program that chooses its own moves. Create stores
// another account, and Adopt one that was created in another program. A program that stores tokens
// itself uses CreatePlayer and SetToken.
//
// NewGame, Join and Client.Game return a Game. Client.Seat returns the account's seat in
// it: a move made there takes effect at most once, even if replies are lost. Seat.Play
// lets a bot play to the end. Client.Watch follows a game across lost connections, and
// Game.Apply updates a Game with an event from any source. PlayerByName and CurrentGame
// find the game that a player is playing now.
//
// NewChallenge creates a challenge, AddBot adds a bot to a race, and Attempt returns the
// account's game in a challenge. Client.WatchChallenge follows the challenge's roster,
// times and standings as Watch follows a game.
//
// All other calls of the contract are made through the fields Games, Leaderboard,
// Challenges and Players of a Client.
//
// # Errors
//
// Every error that comes from a server or from gRPC is or wraps an *Error. ErrBadStream,
// ErrClearText, ErrNotBot and the errors of a Store are not. Use errors.Is to compare
// errors with ErrGameOver and the other Err… values. Besides the errors that its comment
// lists, a call may return ErrBadToken, ErrRateLimited, ErrServerUnavailable,
// ErrStorageUnavailable and, if it needs a game, ErrGameDamaged, ErrChallengeOpen and
// ErrChallengeNotOpen.
//
// The calls of a Seat, Join and Rotate are retried until ctx is done or the client is
// closed; NewGame, NewChallenge, RaceNow, AddBot, Attempt, CreatePlayer and Rename are
// tried up to 4 times. If the outcome is still unknown, the error also matches
// ErrUnsettled: the call may have taken effect. A call that fails with ErrBadStream may
// have taken effect too; after any other error it has not. To repeat NewGame safely after
// an error, set GameOptions.RequestID.
//
// # Untrusted servers
//
// The methods of this package check what a server sends before they return it: versions
// must follow each other, and boards must have their stated size. Anything else is
// ErrBadStream. Messages from calls through the fields of a Client are not checked: see
// CheckGame and CheckEvent. Names and other strings may contain any characters; CleanName and
// CleanText make them safe to print on a terminal.
//
// # Compatibility
//
// Package client follows the contract gridstand.v1. Within v1:
//
//   - A client works with older and newer servers. A newer server may send
//     messages, fields, kinds of events and error reasons that the client does not
//     know, and programs must ignore them. Watch skips an update that it does not know,
//     Game.Apply takes the position from every event, and Error.Reason is set even if
//     no Err… value has that reason. Only a game of an unknown kind is an ErrBadStream.
//   - Identifiers of this package are not removed and do not change their types. Fields,
//     functions, types, methods, constants and errors may be added, so use keyed
//     literals, and give a switch over constants a default. The file testdata/api.txt
//     lists all identifiers.
//   - Error messages may change, and so may timeouts and the waits between retries.
//
// A message type of the contract, in proto/gridstand/v1, only gains fields. The service
// interfaces gain methods, so only generated code should implement them. Package server,
// which is meant for tests, may change with any release.
//
// The package needs the Go release that go.mod names, or a later one.
package client
