//go:build slow

package fault

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// follower reads a challenge's snapshots with the client library, from whichever server is running,
// until the stream ends normally, and checks that no snapshot is older than the previous one of the
// same stream.
type follower struct {
	etag    string
	last    *pb.WatchChallengeResponse
	resumed int
}

func (f *follower) take(m *pb.WatchChallengeResponse) error {
	before := f.last
	switch {
	case m.GetChallenge().GetStatus() < before.GetChallenge().GetStatus():
		return fmt.Errorf("status %v after %v", m.GetChallenge().GetStatus(), before.GetChallenge().GetStatus())
	case len(m.GetStandings()) != len(m.GetChallenge().GetEntrants()):
		return fmt.Errorf("%d lines for %d entrants", len(m.GetStandings()), len(m.GetChallenge().GetEntrants()))
	}
	moves := map[string]int32{}
	for _, line := range before.GetStandings() {
		moves[line.GetGameId()] = line.GetMoveCount()
	}
	for _, line := range m.GetStandings() {
		if line.GetMoveCount() < moves[line.GetGameId()] {
			return fmt.Errorf("%d moves after %d", line.GetMoveCount(), moves[line.GetGameId()])
		}
	}
	f.etag, f.last = m.GetEtag(), m
	return nil
}

// watch follows the challenge.
func (f *follower) watch(ctx context.Context, c *client.Client, challengeID string) error {
	updates := c.WatchChallenge(ctx, client.ChallengeWatchOptions{ChallengeID: challengeID})
	defer updates.Close()
	for {
		update, err := updates.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case update.Snapshot == nil:
			f.last = nil
			f.resumed++
		default:
			if err := f.take(update.Snapshot); err != nil {
				return err
			}
		}
	}
}
