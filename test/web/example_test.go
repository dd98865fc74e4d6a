package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	browsertest "github.com/gridstand/gridstand/internal/testkit/browser"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that the watcher in examples/web shows a game from a server with a different origin, only the
// scores if it is a game of Tribolo, and that it requests nothing if no game is named.
func TestExample_Watcher_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t)
	ada := s.account("ada")
	g := s.create(ada, "classic")
	files := http.FileServer(http.Dir("../../examples/web"))
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.NotContains(t, r.URL.Path, "events")
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(site.Close)
	tab := browsertest.Open(t, strings.TrimPrefix(site.URL, "http://"))
	origin := browsertest.Open(t, s.address).Origin
	tab.Others = []string{origin}
	tab.Visit("/watcher.html")
	tab.Wait(says("Name a game"))
	tribolo := s.create(ada, "tribolo")
	tab.Visit("/watcher.html?" + origin + "/g/" + tribolo.GetId())
	tab.Wait(`/^\d+ : \d+ : \d+ points$/.test(document.querySelector("#score").innerText)`)
	tab.Wait(says("This page draws only 2048."))
	tab.Visit("/watcher.html?" + origin + "/g/" + g.GetId())
	shows := func() {
		t.Helper()
		tab.Wait(says(fmt.Sprintf("%d points", g.GetPosition().GetScores()[0])))
		var tiles []string
		for _, tile := range g.GetPosition().GetTwenty48().GetTiles() {
			if tile == 0 {
				tiles = append(tiles, ".")
			} else {
				tiles = append(tiles, strconv.Itoa(int(tile)))
			}
		}
		tab.Wait(fmt.Sprintf(`document.querySelector("#board").innerText.trim().replace(/\s+/g, " ") === %q`, strings.Join(tiles, " ")))
	}
	shows()
	for range 5 {
		s.move(ada, g)
		shows()
	}
	_, err := s.games.Resign(ada, &pb.ResignRequest{GameId: g.GetId()})
	require.NoError(t, err)
	require.Eventually(t, func() bool { return s.game(g.GetId()).GetWatchers() == 0 }, browsertest.Patience, pollEvery)
}
