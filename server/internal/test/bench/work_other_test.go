//go:build !unix

package bench

import "time"

func work() time.Duration { return 0 }
