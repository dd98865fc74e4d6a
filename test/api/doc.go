// Package api holds no code, only tests: they start whole servers, on the
// store in memory and on a real Redis, and try every sentence of the contract
// through the API, as a stranger's program would. They know nothing of the
// rooms beneath. Every answer that any of them gets, wanted or not, is also
// held against what is true of all answers (see checks_test.go).
package api
