package streams

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	connecttest "github.com/gridstand/gridstand/internal/testkit/connect"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

const sse = "Server-Sent Events"

// doors opens a stream of a challenge over each protocol, and returns the streams by protocol.
func doors(t testing.TB, srv *server.Server, challenge, etag string) map[string]stream {
	t.Helper()
	all := map[string]stream{sse: readChallenge(t, dial(t, srv.Addr()), challenge, "Last-Event-ID: "+etag)}
	for _, protocol := range connecttest.Protocols() {
		all[protocol] = watch(t, connecttest.Dial(t, srv.Addr(), protocol), challenge, etag)
	}
	return all
}

// Ensure that over each protocol a stream follows a race from the roster to the players' points,
// that it resumes after the client's last snapshot, and that when the server stops, the stream
// ends in a way that makes the client reconnect.
func TestRace(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	srv, stop := servertest.Start(t, servertest.Config(t))
	ada, bob := newRacer(t, srv.Addr(), "Ada"), newRacer(t, srv.Addr(), "Bob")
	race := ada.create(t, time.Minute)
	streams := doors(t, srv, race, "")
	etag := ""
	for protocol, s := range streams {
		m, err := s.Recv()
		require.NoError(t, err, protocol)
		assert.Equal(t, waiting, m.GetChallenge().GetStatus(), protocol)
		assert.Len(t, m.GetChallenge().GetEntrants(), 1, protocol)
		assert.Len(t, m.GetStandings(), 1, protocol)
		assert.EqualValues(t, 1, m.GetTotal(), protocol)
		assert.NotEmpty(t, m.GetEtag(), protocol)
		etag = m.GetEtag()
	}
	resumed := doors(t, srv, race, etag)
	bob.join(t, race, true)
	for protocol, s := range resumed {
		m, err := s.Recv()
		require.NoError(t, err, protocol)
		assert.Len(t, m.GetChallenge().GetEntrants(), 2, "%s: the client already has the first snapshot", protocol)
	}
	ada.join(t, race, true) // now everyone is ready
	for protocol, s := range streams {
		starts := until(t, s, at(scheduled))
		opened := until(t, s, at(open))
		assert.Equal(t, starts.GetChallenge().GetOpenTime(), opened.GetChallenge().GetOpenTime(), protocol)
		assert.False(t, opened.GetNow().AsTime().Before(opened.GetChallenge().GetOpenTime().AsTime()), protocol)
	}
	for game := ada.attempt(t, race); game.GetPosition().GetScores()[0] == 0; {
		ada.Move(t, game)
	}
	for protocol, s := range streams {
		m := until(t, s, scored)
		assert.Equal(t, ada.ID, m.GetStandings()[0].GetPlayer().GetId(), protocol)
		assert.EqualValues(t, 1, m.GetStandings()[0].GetRank(), protocol)
		assert.Empty(t, m.GetChallenge().GetSeed(), protocol)
	}
	stop()
	for protocol, s := range streams {
		var err error
		for err == nil {
			_, err = s.Recv()
		}
		if protocol != sse {
			assert.Equal(t, codes.Unavailable, status.Code(err), "%s: %v", protocol, err)
			continue
		}
		assert.NotErrorIs(t, err, io.EOF, "the server announced the end of the stream")
	}
}

// Ensure that streams end after the final standings, and immediately for clients that already
// have them.
func TestRace_Ends_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	srv, _ := servertest.Start(t, servertest.Config(t))
	ada, bob := newRacer(t, srv.Addr(), "Ada"), newRacer(t, srv.Addr(), "Bob")
	race := ada.create(t, 20*time.Second)
	bob.join(t, race, true)
	ada.join(t, race, true)
	streams := doors(t, srv, race, "")
	until(t, watch(t, servertest.Dial(t, srv.Addr()), race, ""), at(open))
	bob.Resign(t, bob.attempt(t, race))
	game := ada.attempt(t, race)
	moves := 0
	for moves < 50 && ada.tryMove(game) { // On a slow machine, the race may be over sooner.
		moves++
	}
	assert.Positive(t, moves)
	final := ""
	for protocol, s := range streams {
		until(t, s, at(open))
		var all []*pb.WatchChallengeResponse
		for {
			m, err := s.Recv()
			if err != nil {
				require.ErrorIs(t, err, io.EOF, protocol)
				break
			}
			all = append(all, m)
		}
		for i := 1; i < len(all); i++ {
			gap := all[i].GetNow().AsTime().Sub(all[i-1].GetNow().AsTime())
			assert.Greater(t, gap, 190*time.Millisecond, "%s: more than five snapshots per second", protocol)
			if gap < 5*time.Second { // Idle streams repeat the last snapshot.
				assert.NotEqual(t, all[i-1].GetEtag(), all[i].GetEtag(), protocol)
			}
		}
		last := all[len(all)-1]
		assert.Equal(t, closed, last.GetChallenge().GetStatus(), protocol)
		assert.Len(t, last.GetChallenge().GetSeed(), 32, protocol)
		require.Len(t, last.GetStandings(), 2, protocol)
		for _, line := range last.GetStandings() {
			assert.True(t, line.GetFinished(), protocol)
		}
		assert.Equal(t, game.GetPosition().GetScores()[0], last.GetStandings()[0].GetScore(), protocol)
		if final != "" {
			assert.Equal(t, final, last.GetEtag(), protocol)
		}
		final = last.GetEtag()
	}
	for protocol, s := range doors(t, srv, race, "") {
		m, err := s.Recv()
		require.NoError(t, err, protocol)
		assert.Equal(t, final, m.GetEtag(), protocol)
		_, err = s.Recv()
		require.ErrorIs(t, err, io.EOF, protocol)
	}
	for protocol, s := range doors(t, srv, race, final) {
		if protocol == sse {
			assert.Equal(t, http.StatusNoContent, s.(*events).answer.StatusCode)
			continue
		}
		_, err := s.Recv()
		assert.ErrorIs(t, err, io.EOF, protocol)
	}
}
