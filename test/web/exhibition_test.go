package web

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	browsertest "github.com/gridstand/gridstand/internal/testkit/browser"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// Ensure that TV shows a game that moves to the first visitor of an empty server.
func TestTV_Exhibition(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *server.Config) { c.Exhibition = true })
	tab := browsertest.Open(t, s.address)
	began := time.Now()
	tab.Visit("/")
	tab.Wait(says("classic exhibition"))
	var labels [2]string
	for n := range labels {
		tab.Wait(`(window.lastLabel = ` + board + `?.getAttribute("aria-label")) && window.lastLabel !== window.firstLabel`)
		labels[n] = browsertest.Eval[string](tab, `window.firstLabel = window.lastLabel`)
	}
	t.Logf("moves after %v", time.Since(began))
	assert.NotEqual(t, labels[0], labels[1])
	tab.Wait(says("1 watching"))
	listed, err := s.games.ListGames(t.Context(), &pb.ListGamesRequest{})
	require.NoError(t, err)
	assert.Len(t, listed.GetGames(), 1)
}
