// Package bench measures a whole server on a real Redis that writes every
// move to disk, beside what gRPC does bare: the same messages, clients and
// streams against handlers that do nothing. Both run in turns on one machine,
// so that what it does meanwhile meets both, and each figure is the median of
// several rounds. Only the ratios mean something elsewhere. What is measured of
// watching has each server in a process of its own, this binary started again,
// which leaves profiles behind if BENCH_PROFILES names a directory.
//
//	go test -run '^$' -bench . ./server/internal/test/bench
package bench
