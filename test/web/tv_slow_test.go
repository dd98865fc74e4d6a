//go:build slow

package web

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
	"github.com/gridstand/gridstand/test/web/browsertest"
)

// onTV returns an expression that reports whether TV shows the given game.
func onTV(g *pb.Game) string {
	return fmt.Sprintf(`document.querySelector(".stage")?.getAttribute("href") === "/g/%s"`, g.GetId())
}

// ended is a script that records whether TV has shown the result of a resigned game, then without the
// reason why it showed the game and without reactions, and every game that it or the list of games has
// shown. TV shows a result only for some seconds.
const ended = `
window.ended = false;
window.listed = new Set();
new MutationObserver(() => {
	const caption = document.querySelector(".caption");
	window.ended ||= !!caption?.textContent.includes("Game over: resigned") && !caption.textContent.includes("live game") &&
		!caption.querySelector(".react").checkVisibility({visibilityProperty: true});
	for (const a of document.querySelectorAll("main a[href^='/g/']")) window.listed.add(a.getAttribute("href"));
}).observe(document, {subtree: true, childList: true, characterData: true});`

// fast is a script that sets the viewer's clock ten hours forward.
const fast = `
const right = Date.now;
Date.now = () => right() + 36e6;
Object.defineProperty(performance, "timeOrigin", {value: performance.timeOrigin + 36e6});`

// TestJourney_TV: TV invites the first visitor to play, shows an exhibition of bots until a player's
// game is live, then the most watched game, and after its end the best one. It never shows a private
// game.
func TestJourney_TV(t *testing.T) {
	t.Parallel()
	empty := start(t).open()
	empty.Visit("/")
	empty.Wait(says("No live games"))
	empty.Wait(says("Yours can be the first"))
	empty.Wait(`document.querySelectorAll(".stage .tile").length > 0`)
	assert.True(t, browsertest.Eval[bool](empty, `[...document.querySelectorAll("main a")].some((a) => a.innerText === "Play" && a.pathname === "/play/classic")`))

	s := start(t, func(c *server.Config) { c.BotPace, c.Exhibition = 50*time.Millisecond, true })
	tab := s.open()
	before(tab, ended+fast)
	tab.Visit("/")
	tab.Wait(says("an exhibition: only bots play"))
	const shown = `document.querySelector(".stage [role=img]")?.getAttribute("aria-label")`
	tab.Wait(shown)
	tab.Wait(fmt.Sprintf(`(%[1]s || %[2]q) !== %[2]q`, shown, browsertest.Eval[string](tab, shown)))

	ada, bob, carol := s.player("ada"), s.player("bob"), s.player("carol")
	private := carol.Create(t, &pb.CreateGameRequest{Variant: "classic", Private: true})
	for range 30 { // It would be the best game.
		carol.Move(t, private)
	}
	poor := ada.Create(t, &pb.CreateGameRequest{Variant: "classic"})
	ada.Move(t, poor)
	tab.Wait(onTV(poor))
	tab.Wait(says("● live"))
	ada.Move(t, poor)
	waitForBoard(tab, poor.GetPosition())
	tab.Visit("/account") // Leave TV, which watches the game that it shows.

	best, watched := bob.Create(t, &pb.CreateGameRequest{Variant: "classic"}), carol.Create(t, &pb.CreateGameRequest{Variant: "5x5"})
	for range 20 {
		bob.Move(t, best)
	}
	carol.Move(t, watched)
	_, err := s.games.Watch(t.Context(), &pb.WatchRequest{GameId: watched.GetId()})
	require.NoError(t, err)
	waittest.Until(t, "the watched game is listed first", func() bool {
		listed, err := s.games.ListGames(t.Context(), &pb.ListGamesRequest{Status: pb.GameStatus_GAME_STATUS_ACTIVE, OrderBy: pb.OrderBy_ORDER_BY_WATCHERS, PageSize: 1})
		require.NoError(t, err)
		return listed.GetGames()[0].GetId() == watched.GetId() && listed.GetGames()[0].GetWatchers() == 1
	})
	tab.Visit("/")
	tab.Wait(onTV(watched))
	tab.Wait(says("the most watched live game"))
	for range 3 {
		carol.Move(t, watched)
		waitForBoard(tab, watched.GetPosition())
	}
	bob.Move(t, best)
	tab.Wait(fmt.Sprintf(`document.querySelector('.wall [href="/g/%s"] [role=img]')?.getAttribute("aria-label") === %q`,
		best.GetId(), label(best.GetPosition()))) // The wall shows the games that TV does not.
	carol.Resign(t, watched)
	tab.Wait("window.ended")
	tab.Wait(onTV(best))
	tab.Wait(says("the best live classic game"))
	bob.Move(t, best)
	waitForBoard(tab, best.GetPosition())
	tab.Press("n")
	tab.Wait(onTV(poor))
	assert.False(t, browsertest.Eval[bool](tab, fmt.Sprintf(`window.listed.has("/g/%s")`, private.GetId())), "a private game")
}
