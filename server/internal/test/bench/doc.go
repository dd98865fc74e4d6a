// Package bench measures what a move and a watcher cost a server: processor time and memory of the
// server's process, which little depends on the machine's load, and latency. The server runs with its
// default configuration, but without limits, in its own process, started from the test binary.
//
//	make bench                       # all benchmarks, once
//	make bench-compare BASE=HEAD~1   # six times for each of two commits, alternately
package bench
