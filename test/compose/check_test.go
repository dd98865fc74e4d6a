package compose

import (
	"context"
	"errors"
	"io"
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/internal/verify"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// check compares everything that players and spectators received with each server's current data.
func (p *party) check(servers ...string) {
	p.t.Helper()
	events, watched := 0, 0
	for _, server := range servers {
		c := dial(p.t, server)
		for _, one := range p.players {
			best := int32(0)
			for _, g := range one.games {
				log := transcript(p.t, c, g.id)
				report, err := verify.Transcript(yield(log))
				require.NoError(p.t, err, "%s on %s", g.id, server)
				require.Equal(p.t, log[len(log)-1].GetVersion(), int32(len(log)))
				for _, e := range g.acked {
					require.LessOrEqual(p.t, int(e.GetVersion()), len(log), "%s on %s: an acknowledged move was lost", g.id, server)
					if !proto.Equal(log[e.GetVersion()-1], e) {
						require.Fail(p.t, "an acknowledged move was changed", "%v\nis now\n%v", e, log[e.GetVersion()-1])
					}
				}
				for _, history := range g.seen {
					require.NoError(p.t, history.Within(log), "a spectator of %s", g.id)
					watched += len(history.Events())
				}
				events += len(log)
				// In Tribolo the score of a resigned seat does not count.
				var start client.Game
				start.Apply(log[0])
				if report.Ranked && (one.variant != "tribolo" || report.Reason == game.NoMoves) {
					best = max(best, report.Scores[one.Seat(start).Index()])
				}
			}
			onBoard(p.t, c, one, best)
		}
	}
	p.t.Logf("%d servers agree on %d events of %d games, each shown to others %d times in all",
		len(servers), events/len(servers), p.count(), watched/len(servers))
}

func (p *party) count() (games int) {
	for _, one := range p.players {
		games += len(one.games)
	}
	return games
}

// transcript returns all events of a finished game.
func transcript(t *testing.T, c *client.Client, gameID string) []*pb.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	w := c.Watch(ctx, client.WatchOptions{GameID: gameID, AfterVersion: proto.Int32(0), EveryEvent: true})
	defer w.Close()
	var events []*pb.Event
	for {
		u, err := w.Next()
		if errors.Is(err, io.EOF) {
			require.NotEmpty(t, events)
			return events
		}
		require.NoError(t, err, "the transcript of %s", gameID)
		if u.Event != nil {
			events = append(events, u.Event)
		}
	}
}

func yield(events []*pb.Event) iter.Seq2[*pb.Event, error] {
	return func(yield func(*pb.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// onBoard waits until the leaderboard has a player's best score. It does not wait for a score of 0,
// which is never listed. If a game's server died, another server records the result about ten
// seconds later.
func onBoard(t *testing.T, c *client.Client, p *player, best int32) {
	t.Helper()
	if best == 0 {
		return
	}
	require.EventuallyWithT(t, func(t *assert.CollectT) {
		response, err := c.Leaderboard.GetRank(context.Background(), &pb.GetRankRequest{Variant: p.variant, PlayerId: p.PlayerID()})
		require.NoError(t, err)
		require.Equal(t, best, response.GetEntry().GetScore())
		var listed bool
		for _, g := range p.games {
			listed = listed || g.id == response.GetEntry().GetGameId()
		}
		require.True(t, listed)
	}, patience, 200*time.Millisecond, "the score in %s", p.variant)
}
