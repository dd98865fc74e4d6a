// Package streams tests streams of game events as Server-Sent Events, and streams of challenges over
// gRPC, Connect, gRPC-Web and Server-Sent Events, against whole servers over TCP. It contains only
// tests.
package streams
