//go:build slow

package web

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
	"github.com/gridstand/gridstand/server/limits"
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
	s := start(t, func(c *server.Config) {
		c.Daily = "3x3"                         // because it ends after only a few moves
		c.StoreNow = servertest.ClockAt(12).Now // so that the day does not end during the test
		c.Limits[limits.MovesPerSecond] = 0
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
	const first = `document.querySelector(".podium li")?.innerText.includes("Zoe")`
	tab.Wait(first)
	browsertest.Eval[bool](tab, `(window.fetch = () => Promise.reject(new TypeError("offline")), location.hash = "#week", true)`)
	tab.Wait(says("The server cannot be reached."))
	click(tab, "Try again")
	tab.Wait(first)
	tab.Visit("/account")
	tab.Wait(asks)
	call(tab, "Zoe 2")
	tab.Wait(says("The name was changed recently; the next change is possible from "))
	browsertest.Eval[bool](tab, `(() => {
		localStorage.setItem("gridstand.account", JSON.stringify({name: "Zed", token: "another tab's"}));
		return dispatchEvent(new StorageEvent("storage"));
	})()`)
	tab.Wait(`document.getElementById("me").innerText === "Zed"`)

	other := s.open()
	daily := &pb.GetChallengeRequest{Daily: &pb.DailyRequest{}}
	begin(other, "/daily")
	s.playAttempt(other, daily)
	other.Wait(asks)
	call(other, "zoe")
	other.Wait(says(`The name "zoe", or one that looks like it, is already taken.`))
	click(other, "Stay a guest")
	other.Wait("!" + asks)
	other.Visit("/daily")
	other.Wait(says("1st of 1"))
	assert.False(t, browsertest.Eval[bool](other, asks), "a guest is asked once")
	other.Visit("/account")
	other.Wait(says("You are a guest.") + " && " + asks)
}

// TestJourney_Link: a browser continues with an account by a link, once, keeps its guest for later,
// and gives the account back; the account's owner sees and ends the browser's session.
func TestJourney_Link(t *testing.T) {
	t.Parallel()
	s := start(t)
	ada := s.player("ada")
	players := pb.NewPlayerServiceClient(s.conn)
	link := func() string {
		code, err := players.CreateSessionLink(ada.Ctx, &pb.CreateSessionLinkRequest{})
		require.NoError(t, err)
		return "/link#" + code.GetCode()
	}
	sessions := func() int {
		listed, err := players.ListSessions(ada.Ctx, &pb.ListSessionsRequest{})
		require.NoError(t, err)
		return len(listed.GetSessions())
	}
	tab := s.open()
	begin(tab, "/play/classic")
	guest, first := stored(t, tab), link()
	asks := says("Play here with your account?") + " && " + says("It keeps "+guest.Name)
	tab.Visit(first)
	tab.Wait(asks)
	click(tab, "No")
	tab.Wait(`location.pathname === "/"`)
	assert.Equal(t, guest, stored(t, tab))
	assert.Zero(t, sessions(), "a link that nobody accepts opens no session")
	tab.Visit(first)
	tab.Wait(asks)
	click(tab, "Play here")
	tab.Wait(says("You are ada") + ` && location.hash === "" && document.getElementById("me").innerText === "ada"`)
	assert.Equal(t, ada.ID, stored(t, tab).ID)
	assert.NotEqual(t, ada.Token, stored(t, tab).Token)
	begin(tab, "/play/classic")
	assert.Equal(t, ada.ID, s.newest(tab).GetSeats()[0].GetPlayer().GetId())
	tab.Visit("/account")
	tab.Wait(says("and return to "+guest.Name) + ` && document.querySelector("main li")?.innerText.includes("since")`)
	assert.False(t, browsertest.Eval[bool](tab, says("Show token")), "a session's token is for this browser only")
	click(tab, "Stop playing as ada")
	tab.Wait(fmt.Sprintf(`document.querySelector("h1").innerText === %q`, guest.Name))
	assert.Equal(t, guest, stored(t, tab))
	assert.Zero(t, sessions())

	tab.Visit("/link") // the address that stays after the link was accepted
	tab.Wait(says("This link was used or is incomplete Print another: gridstand account link, or over SSH: link."))
	tab.Visit(first)
	click(tab, "Play here")
	tab.Wait(says("This link is unknown, used or expired") + " && " + says("Print another: gridstand account link"))
	tab.Visit(link())
	click(tab, "Play here")
	tab.Wait(says("You are ada"))
	owner := s.open()
	owner.Visit("/")
	browsertest.Eval[bool](owner, fmt.Sprintf(`(localStorage.setItem("gridstand.account", JSON.stringify({id: %q, name: "ada", token: %q})), true)`, ada.ID, ada.Token))
	owner.Visit("/account")
	owner.Wait(says("gridstand account keys add"))
	click(owner, "End")
	owner.Wait(`!document.querySelector("main li")`)
	assert.Zero(t, sessions())
	owner.Visit(link())
	click(owner, "Play here")
	owner.Wait(says("You are ada here already"))
	assert.Zero(t, sessions())
}
