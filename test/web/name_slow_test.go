//go:build slow

package web

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
	"github.com/gridstand/gridstand/test/web/browsertest"
)

// asks is an expression that reports whether the page asks a guest for a name.
const asks = `[...document.querySelectorAll("main button")].some((b) => b.innerText === "Use this name")`

// call enters a name into the form for one.
func call(tab *browsertest.Tab, name string) {
	browsertest.Eval[bool](tab, fmt.Sprintf(`(document.querySelector("main form input:not([type=password])").value = %q, true)`, name))
	click(tab, "Use this name")
}

// TestJourney_Name: a guest who makes a 512 is asked for a name beside the result, and keeps game and
// rank under it; the old name leads to the new one. Another guest is asked once, after the daily game.
func TestJourney_Name(t *testing.T) {
	t.Parallel()
	now := &clock{}
	now.midnight(12 * time.Hour) // so that the day does not end during the test
	s := start(t, func(c *server.Config) {
		c.Daily = "3x3" // because it ends after only a few moves
		c.StoreNow = now.now
	})
	tab := s.open()
	begin(tab, "/play/6x6")
	g, guest := s.newest(tab), stored(t, tab)
	me := &playertest.Player{Games: s.games, Ctx: playertest.WithToken(t.Context(), guest.Token)}
	for slices.Max(g.GetPosition().GetTwenty48().GetTiles()) < 512 {
		me.Move(t, g)
	}
	waitForBoard(tab, g.GetPosition())
	assert.False(t, browsertest.Eval[bool](tab, asks), "the page asks at the end")
	me.Resign(t, g)
	tab.Wait(asks)
	call(tab, "Zoe")
	tab.Wait(says("You are Zoe now.") + ` && document.getElementById("me").innerText === "Zoe"`)
	assert.Equal(t, account{guest.ID, "Zoe", guest.Token}, stored(t, tab))
	tab.Visit("/p/" + guest.Name)
	tab.Wait(`location.pathname === "/p/Zoe" && document.querySelector("h1").innerText === "Zoe" && document.querySelector(".gamerow")`)
	tab.Visit("/top/6x6#all")
	tab.Wait(`document.querySelector(".podium li")?.innerText.includes("Zoe")`)
	tab.Visit("/account")
	tab.Wait(asks)
	call(tab, "Zoe 2")
	tab.Wait(says("The name was changed recently; the next change is possible from "))

	other := s.open()
	daily := &pb.GetChallengeRequest{Daily: &pb.DailyRequest{}}
	begin(other, "/daily")
	s.playAttempt(other, daily)
	other.Wait(asks)
	call(other, "zoe")
	other.Wait(says(`The name "zoe" is already taken.`))
	click(other, "Stay a guest")
	other.Wait("!" + asks)
	other.Visit("/daily")
	other.Wait(says("1st of 1"))
	assert.False(t, browsertest.Eval[bool](other, asks), "a guest is asked once")
	other.Visit("/account")
	other.Wait(says("You are a guest.") + " && " + asks)
}
