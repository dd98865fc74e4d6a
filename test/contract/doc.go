// Package contract contains only tests. They start complete servers, with the store in memory and
// with a real Redis, and check every sentence of the contract through the API, as an
// independent client would. They use no internals of the server. Each response, including
// errors, is also checked against the rules for all responses (see checks_test.go).
//
// Some tests also play and verify games with programs in other languages: the examples in
// Python and TypeScript, and clients from npm that use the server's protocols.
package contract
