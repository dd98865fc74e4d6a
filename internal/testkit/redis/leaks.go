package redistest

import "go.uber.org/goleak"

// StillDialing has goleak pass over what go-redis leaves behind for a second when a
// client is closed whose Redis was away: it goes on looking for it once a second.
var StillDialing = goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial")
