package contract

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
	"github.com/gridstand/gridstand/server/limits"
)

// Ensure that page tokens do not contain the ids of games that the caller may not see. In
// particular, a token must not contain the id of the private game where the search for public games
// stopped.
func TestPageTokens_HideGames_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	// With the race detector, SQLite takes seconds to sort this many open games of one player. In
	// production, the limits prevent such numbers.
	s := start(t, "redis://"+redistest.StartMiniredis(t).Addr(), func(c *server.Config) {
		c.Limits = limits.Limits{}
	})
	p, stranger := s.player(t), s.player(t)
	public := s.game(t, p, "classic")
	const private = 2100 // more than the 2,000 or so that one call scans
	ids := make([]string, private)
	var group errgroup.Group
	group.SetLimit(16)
	for i := range ids {
		group.Go(func() error {
			created, err := s.CreateGame(p.ctx, &pb.CreateGameRequest{Variant: "classic", Private: true})
			ids[i] = created.GetGame().GetId()
			return err
		})
	}
	require.NoError(t, group.Wait())

	var listed, tokens []string
	request := &pb.ListGamesRequest{PlayerId: p.GetId(), PageSize: 1}
	for {
		page, err := s.ListGames(stranger.ctx, request)
		require.NoError(t, err)
		for _, g := range page.GetGames() {
			listed = append(listed, g.GetId())
		}
		if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
			break
		}
		tokens = append(tokens, request.PageToken)
	}
	assert.Equal(t, []string{public.GetId()}, listed)
	require.NotEmpty(t, tokens)
	for _, token := range tokens {
		raw, err := base64.RawURLEncoding.DecodeString(token)
		require.NoError(t, err)
		for _, id := range ids {
			if strings.Contains(string(raw), id) || strings.Contains(token, id) {
				require.Fail(t, "a page token names a private game", "%q names %s", raw, id)
			}
		}
	}
}

// Ensure that a page token works on every server that uses the same Redis server, even after the
// server that made it has stopped.
func TestPageTokens_AnyServer(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	first, second := start(t, redis.URL()), start(t, redis.URL())
	p := first.player(t)
	for range 3 {
		first.finish(t, p, "classic")
	}
	games := &pb.ListGamesRequest{Status: finished, PageSize: 1}
	scores := &pb.ListScoresRequest{Variant: "classic", PageSize: 1}
	first.finish(t, first.player(t), "classic") // another entry on the leaderboard
	gamePage, err := first.ListGames(first.anyone, games)
	require.NoError(t, err)
	scorePage, err := first.ListScores(first.anyone, scores)
	require.NoError(t, err)
	first.stop()
	games.PageToken, scores.PageToken = gamePage.GetNextPageToken(), scorePage.GetNextPageToken()
	require.NotEmpty(t, games.GetPageToken())
	require.NotEmpty(t, scores.GetPageToken())
	for _, s := range []*testServer{second, start(t, redis.URL())} {
		next, err := s.ListGames(s.anyone, games)
		require.NoError(t, err)
		require.Len(t, next.GetGames(), 1)
		assert.NotEqual(t, gamePage.GetGames()[0].GetId(), next.GetGames()[0].GetId())
		board, err := s.ListScores(s.anyone, scores)
		require.NoError(t, err)
		require.Len(t, board.GetEntries(), 1)
		assert.EqualValues(t, 2, board.GetEntries()[0].GetRank())
	}
}
