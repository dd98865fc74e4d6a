// Package contract contains only tests. They start complete servers and check the contract through the
// API, as an independent client would. They use no internals of the server. Each response, including
// errors, is also checked against the rules for all responses (see checks_test.go).
//
// Behaviors that depend on the protocol are checked over gRPC, Connect and gRPC-Web, and streams also
// as Server-Sent Events. Servers keep games in memory. The flag -store runs the same tests on Redis,
// with a process for each test, or on a Redis Cluster with one node:
//
//	go test ./test/contract -store=redis
//	go test ./test/contract -store=cluster
//
// With the build tag slow, the package also plays and verifies games with programs in other languages:
// the examples in Python and TypeScript, and clients from npm that use the server's protocols.
package contract
