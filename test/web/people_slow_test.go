//go:build slow

package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/test/web/browsertest"
)

// TestJourney_Table: a player creates a game of Tribolo with open seats in a browser and waits. Another one
// finds it on the start page, a third one with a program. It starts when all are there, and goes on if one
// gives up.
func TestJourney_Table(t *testing.T) {
	t.Parallel()
	s := start(t)
	ada, bob := s.open(), s.open()
	ada.Visit("/play/tribolo")
	ada.Wait(`document.querySelectorAll("main select").length === 2`)
	browsertest.Eval[bool](ada, `([...document.querySelectorAll("main select")].forEach((s) => { s.value = ""; }), true)`)
	click(ada, "Start")
	ada.Wait(says("Waiting for 2 players") + " && " + says("1 player here"))
	g := s.newest(ada)
	assert.Equal(t, pb.GameStatus_GAME_STATUS_WAITING, g.GetStatus())
	link := "/play/tribolo?game=" + g.GetId()
	browsertest.Eval[bool](ada, "(document.execCommand = undefined, true)") // so that a dialog shows the link
	click(ada, "Copy link")
	ada.Wait(fmt.Sprintf(`document.querySelector("dialog textarea")?.value === %q`, "http://gridstand.test"+s.address[strings.LastIndex(s.address, ":"):]+link))

	bob.Visit(link)
	bob.Wait(says("Take a seat") + " && " + says("Here: guest-"))
	bob.Visit("/")
	bob.Wait(says("Open places") + " && " + says("tribolo, 2 seats free"))
	click(bob, "Join")
	bob.Wait(fmt.Sprintf("location.pathname + location.search === %q", link))
	for _, tab := range []*browsertest.Tab{ada, bob} {
		tab.Wait(says("Waiting for 1 player") + " && " + says("2 players here"))
	}
	ada.Visit("/play")
	ada.Wait(says("Open places") + ` && [...document.querySelectorAll("main a")].some((a) => a.innerText === "Return")`)
	ada.Visit("/play/tribolo") // The game that waits is the player's own.
	ada.Wait(says("Waiting for 1 player"))

	_, err := s.games.JoinGame(s.player("carl").Ctx, &pb.JoinGameRequest{GameId: g.GetId()})
	require.NoError(t, err)
	for _, tab := range []*browsertest.Tab{ada, bob} {
		tab.Wait("!" + says("Waiting for") + " && " + says("carl"))
	}
	assert.Equal(t, pb.GameStatus_GAME_STATUS_ACTIVE, s.game(g.GetId()).GetStatus())

	// The others play on without a player who gives up, who is not asked to give up again.
	click(ada, "Give up")
	confirm(ada, "Give up this game?")
	ada.Wait(says("(you), gave up") + " && !" + says("Give up"))
	click(ada, "New game")
	ada.Wait(says("Waiting for 2 players"))
	assert.Equal(t, pb.GameStatus_GAME_STATUS_ACTIVE, s.game(g.GetId()).GetStatus())
}
