//go:build race

package process

// Race says that the race detector watches tests and programs, which take
// several times the memory and time then.
const Race = true
