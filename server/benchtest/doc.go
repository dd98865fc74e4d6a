// Package benchtest measures a whole server on a real Redis that writes every
// move to disk, beside what gRPC does bare: the same messages, clients and
// streams against handlers that do nothing. Both run in turns in one process,
// so that what the machine does meanwhile meets both, and each figure is the
// median of several rounds. Only the ratios mean something elsewhere.
//
//	go test -run '^$' -bench . ./server/benchtest
package benchtest
