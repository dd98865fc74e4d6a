package contract

import (
	"bufio"
	"maps"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// monitor returns a function that runs do and returns the number of times that servers read the
// given challenge's record in Redis while do ran.
func monitor(t *testing.T, redis *redistest.Server) (reads func(challengeID string, do func()) int) {
	t.Helper()
	conn, err := net.Dial("tcp", redis.Addr())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	_, err = conn.Write([]byte("MONITOR\r\n"))
	require.NoError(t, err)
	lines, client := bufio.NewScanner(conn), redistest.NewClient(t, redis.Addr())
	require.True(t, lines.Scan())
	// count counts the reads since the previous call.
	count := func(challengeID string) (n int) {
		end := newID()
		require.NoError(t, client.Echo(t.Context(), end).Err())
		for lines.Scan() {
			line := strings.ToLower(lines.Text())
			if strings.Contains(line, end) {
				return n
			}
			if strings.Contains(line, `"hmget" "challenge:`) && strings.Contains(line, challengeID) && !strings.Contains(line, " lua]") {
				n++
			}
		}
		require.NoError(t, lines.Err())
		return n
	}
	return func(challengeID string, do func()) int {
		count(challengeID)
		do()
		return count(challengeID)
	}
}

// Ensure that each call about a race reads its record once, plus once for each change that the call
// makes (starting the race makes two), and once to schedule attempts.
func TestRace_Reads(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	s, reads := start(t, redis.URL()), monitor(t, redis)
	fewest := map[string]int{}
	want := map[string]int{"join": 3, "be ready": 2, "leave": 2, "get": 1, "standings": 1, "start": 4}
	// Take the fewest reads of several runs: the servers' background work also reads records.
	for n := 0; n < 3 || n < 30 && !maps.Equal(want, fewest); n++ {
		ada, bob, eve := s.player(t), s.player(t), s.player(t)
		id := s.challenge(t, ada, shortRace()).GetId()
		read := func(call string, do func() error) {
			n := reads(id, func() { require.NoError(t, do(), call) })
			if before, ok := fewest[call]; !ok || n < before {
				fewest[call] = n
			}
		}
		join := func(p player, ready bool) func() error {
			return func() error {
				joined, err := s.JoinChallenge(p.ctx, &pb.JoinChallengeRequest{ChallengeId: id, Ready: ready})
				assert.Equal(t, ready, entrantOf(joined.GetChallenge(), p).GetReady())
				return err
			}
		}
		read("join", join(bob, false))
		read("be ready", join(bob, true))
		require.NoError(t, join(eve, false)())
		read("leave", func() error {
			left, err := s.LeaveChallenge(eve.ctx, &pb.LeaveChallengeRequest{ChallengeId: id})
			assert.Len(t, left.GetChallenge().GetEntrants(), 2)
			return err
		})
		read("get", func() error {
			_, err := s.GetChallenge(bob.ctx, &pb.GetChallengeRequest{ChallengeId: id})
			return err
		})
		read("standings", func() error {
			_, err := s.ListStandings(bob.ctx, &pb.ListStandingsRequest{ChallengeId: id})
			return err
		})
		read("start", func() error {
			started, err := s.StartChallenge(ada.ctx, &pb.StartChallengeRequest{ChallengeId: id})
			assert.NotNil(t, started.GetChallenge().GetOpenTime())
			return err
		})
	}
	assert.Equal(t, want, fewest)
}
