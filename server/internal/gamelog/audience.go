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

// AudienceTTL is after how long the watchers of a server that says nothing,
// because it died, are counted no more.
const AudienceTTL = 30 * time.Second

// Audience says that count people watch a game through the given server, and
// returns how many do on all servers. Followers hear the total. It has to be
// said anew within AudienceTTL.
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
