//go:build !linux && !darwin && !freebsd

package sqlite

import "math"

// freeSpace is not implemented for this platform.
func freeSpace(string) int64 { return math.MaxInt64 }
