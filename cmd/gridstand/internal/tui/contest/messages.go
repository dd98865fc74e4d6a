package contest

import (
	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Snapshot returns the message that delivers a snapshot from the contest's stream. It is
// for tests of pages.
func Snapshot(c *Contest, s *pb.WatchChallengeResponse) ui.ChallengeMsg {
	live := client.Connection{State: client.Live}
	return ui.ChallengeMsg{Stream: c.stream, Update: client.ChallengeUpdate{Snapshot: s, Connection: live}}
}

// BoardUpdate returns the message that delivers an update of a followed board. It is for
// tests of pages.
func BoardUpdate(c *Contest, gameID string, u client.Update) ui.UpdateMsg {
	return ui.UpdateMsg{GameID: gameID, Stream: c.boards.of(gameID).stream, Update: u}
}

// Followed returns the number of boards that a contest follows. It is for tests of pages.
func (c *Contest) Followed() int { return len(c.boards.all) }
