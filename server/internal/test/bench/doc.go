// Package bench compares a whole server on a real Redis server that syncs every move to disk
// with bare gRPC: the same messages, clients and streams, but handlers that do nothing. The two
// sides take turns on one machine, so that other load affects both, and each result is the
// median of several rounds. Only the ratios are meaningful on other machines. Benchmarks with
// watchers run each server in its own process, started from the same test binary. If
// BENCH_PROFILES names a directory, the servers write profiles to it.
//
//	go test -tags slow -run '^$' -bench . ./server/internal/test/bench
package bench
