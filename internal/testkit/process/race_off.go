//go:build !race

package process

// Race reports whether the race detector is enabled. Tests and programs then take several
// times the memory and time.
const Race = false
