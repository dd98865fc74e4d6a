package redistest

import "go.uber.org/goleak"

// StillDialing makes goleak ignore the goroutine that go-redis leaves behind
// for a second when a client is closed while its Redis is unavailable: it
// redials once a second.
var StillDialing = goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial")
