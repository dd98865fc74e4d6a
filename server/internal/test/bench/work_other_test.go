//go:build !unix

package benchtest

import "time"

func work() time.Duration { return 0 }
