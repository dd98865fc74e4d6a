package contract

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that a game that waits for players is listed for half a minute, and then only while one of its
// players watches it. Its players and those with its link still find it. Games in progress stay listed.
func TestListGames_Absent(t *testing.T) {
	t.Parallel()
	s, clock := startAt(t, 12)
	clock.Stop()
	host := s.player(t)
	id := s.table(t, host, callerSeat, openSeat, openSeat).GetId()
	playing := s.game(t, host, "classic").GetId()
	require.Equal(t, []string{id}, ids(s.listed(t, waiting)))
	lists := func(n int) func() bool {
		return func() bool { return len(s.listed(t, waiting)) == n } // A page may be a second old.
	}
	clock.Pass(20 * time.Second)
	s.table(t, s.player(t), callerSeat, openSeat, openSeat)
	waittest.Until(t, "both are listed", lists(2))
	clock.Pass(40 * time.Second)
	waittest.Until(t, "neither is listed", lists(0))
	assert.Equal(t, []string{playing}, ids(s.listed(t, active)))
	assert.Equal(t, []string{id}, ids(s.list(t, host, &pb.ListGamesRequest{PlayerId: host.GetId(), Status: waiting})))
	s.watch(t, s.anyone, &pb.WatchRequest{GameId: id}).game(t)
	w := s.watch(t, host.ctx, &pb.WatchRequest{GameId: id})
	waittest.Until(t, "it is listed", lists(1))
	w.leave()
	waittest.Until(t, "it is not listed", lists(0))
	s.join(t, s.player(t), id)
	waittest.Until(t, "it is listed again", lists(1))
}
