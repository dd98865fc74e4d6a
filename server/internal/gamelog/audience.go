package gamelog

import (
	"context"
	_ "embed" // script
	"fmt"
	"time"
)

//go:embed audience.lua
var audienceSource string

var audienceScript = newScript(audienceSource)

// AudienceTTL is how long a server's count of watchers is valid.
const AudienceTTL = 30 * time.Second

// Audience reports how many watch a game on the given server, and returns how many do
// on all servers, which is also published on the feed. The report has to be repeated
// within AudienceTTL.
func (l *Log) Audience(ctx context.Context, gameID, serverID string, count int) (int, error) {
	reply, err := l.run(ctx, audienceScript, []string{audienceKey(gameID), metaKey(gameID)},
		serverID, count, feedKey(gameID), int(AudienceTTL.Seconds())).Slice()
	if err != nil {
		return 0, err
	}
	if len(reply) == 1 {
		if total, ok := reply[0].(int64); ok {
			return int(total), nil
		}
	}
	return 0, fmt.Errorf("audience: reply %v", reply)
}
