package redistest

import "go.uber.org/goleak"

// StillDialing makes goleak ignore the goroutine that go-redis leaves behind for a second if a
// client is closed while its Redis is unavailable, because the goroutine redials once per second.
var StillDialing = goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial")
