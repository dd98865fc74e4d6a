package streams

import (
	"io"
	"net/http"
	"strings"
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
)

// Ensure that every protocol reports the same error for a stream that cannot be opened.
func TestChallenge_Errors(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	c := servertest.Config(t)
	c.Limits.WatchesPerAddress = 2
	srv, _ := servertest.Start(t, c)
	ada := newRacer(t, srv.Addr(), "Ada")
	race := ada.create(t, time.Minute)
	for _, tt := range []struct {
		challenge, header string
		status            int
		body              string
	}{
		{"nothing", "Last-Event-ID: x", http.StatusNotFound, `"CHALLENGE_NOT_FOUND"`},
		{strings.Repeat("a", 26), "Origin: https://example.com", http.StatusNotFound, `"CHALLENGE_NOT_FOUND"`},
		{race, "Authorization: Bearer wrong", http.StatusUnauthorized, `"BAD_TOKEN"`},
	} {
		r := readChallenge(t, dial(t, srv.Addr()), tt.challenge, "Connection: close", tt.header)
		assert.Equal(t, tt.status, r.answer.StatusCode, tt.challenge)
		body, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		assert.Contains(t, string(body), tt.body)
	}
	for _, protocol := range connecttest.Protocols() {
		conn := connecttest.Dial(t, srv.Addr(), protocol)
		_, err := watch(t, conn, strings.Repeat("a", 26), "").Recv()
		assert.Equal(t, codes.NotFound, status.Code(err), protocol)
		_, err = watch(t, conn, "", "").Recv()
		assert.Equal(t, codes.InvalidArgument, status.Code(err), protocol)
	}
	// Refused streams do not count against the limit.
	shared := readChallenge(t, dial(t, srv.Addr()), race, "Origin: https://example.com")
	assert.Equal(t, "*", shared.answer.Header.Get("Access-Control-Allow-Origin"))
	assert.Equal(t, "text/event-stream", shared.answer.Header.Get("Content-Type"))
	until(t, shared, entrants(1))
	until(t, watch(t, servertest.Dial(t, srv.Addr()), race, ""), entrants(1))
	assert.Equal(t, http.StatusTooManyRequests, readChallenge(t, dial(t, srv.Addr()), race).answer.StatusCode)
	_, err := watch(t, servertest.Dial(t, srv.Addr()), race, "").Recv()
	assert.Equal(t, codes.ResourceExhausted, status.Code(err))
	require.NoError(t, shared.conn.Close()) // The server notices within seconds that the stream is closed.
	for deadline := time.Now().Add(patience); ; <-time.After(50 * time.Millisecond) {
		if r, err := tryReadChallenge(t, dial(t, srv.Addr()), "HEAD", race); err == nil && r.answer.StatusCode == http.StatusOK {
			break
		}
		require.True(t, time.Now().Before(deadline), "the closed stream still counts against the limit")
	}
}

// Ensure that a page can resume after an etag by sending it as a query parameter, and that the
// header that a browser sends when it reconnects takes precedence.
func TestRace_ResumeQuery(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	srv, _ := servertest.Start(t, servertest.Config(t))
	ada := newRacer(t, srv.Addr(), "Ada")
	race := ada.create(t, time.Minute)
	old := until(t, readChallenge(t, dial(t, srv.Addr()), race), entrants(1)).GetEtag()
	ada.addBots(t, race, 1)
	latest := until(t, readChallenge(t, dial(t, srv.Addr()), race), entrants(2)).GetEtag()
	require.NotEqual(t, old, latest)

	for _, tt := range []struct{ query, header string }{
		{"?etag=LATEST", "Accept: text/event-stream"},
		{"?etag=" + old, "Last-Event-ID: LATEST"},
	} {
		path := "/c/" + race + "/events" + strings.Replace(tt.query, "LATEST", latest, 1)
		s, err := tryReadPath(t, dial(t, srv.Addr()), "GET", path, strings.Replace(tt.header, "LATEST", latest, 1))
		require.NoError(t, err)
		ada.addBots(t, race, 1)
		m, err := s.Recv()
		require.NoError(t, err)
		assert.NotEqual(t, latest, m.GetEtag(), "%s: the reader already has this snapshot", tt)
		latest = m.GetEtag()
	}
	s, err := tryReadPath(t, dial(t, srv.Addr()), "GET", "/c/"+race+"/events?etag="+old)
	require.NoError(t, err)
	m, err := s.Recv()
	require.NoError(t, err)
	// The etag may differ from latest, which may lack the game of a bot that had just joined.
	assert.Len(t, m.GetChallenge().GetEntrants(), 4, "a reader with an old etag gets the current roster")
}

// Ensure that idle streams repeat the last snapshot, so that proxies do not close them.
func TestRace_KeepAlive_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	srv, _ := servertest.Start(t, servertest.Config(t))
	ada := newRacer(t, srv.Addr(), "Ada")
	race := ada.create(t, time.Minute)
	for protocol, s := range doors(t, srv, race, "") {
		first := until(t, s, entrants(1))
		again, err := s.Recv()
		require.NoError(t, err)
		assert.Equal(t, first.GetEtag(), again.GetEtag(), protocol)
		assert.True(t, again.GetNow().AsTime().After(first.GetNow().AsTime()), protocol)
	}
}

// Ensure that the standings of a link challenge show an attempt soon after it ends.
func TestLink(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	srv, _ := servertest.Start(t, servertest.Config(t))
	ada := newRacer(t, srv.Addr(), "Ada")
	link := ada.link(t)
	streams := doors(t, srv, link, "")
	for _, s := range streams {
		assert.Empty(t, until(t, s, at(open)).GetStandings())
	}
	game := ada.attempt(t, link)
	for game.GetPosition().GetScores()[0] == 0 {
		ada.Move(t, game)
	}
	ada.Resign(t, game)
	for protocol, s := range streams {
		m := until(t, s, func(m *pb.WatchChallengeResponse) bool { return m.GetTotal() == 1 })
		require.Len(t, m.GetStandings(), 1, protocol)
		assert.Equal(t, ada.ID, m.GetStandings()[0].GetPlayer().GetId(), protocol)
		assert.Equal(t, game.GetPosition().GetScores()[0], m.GetStandings()[0].GetScore(), protocol)
		assert.Empty(t, m.GetChallenge().GetSeed(), protocol)
	}
}
