//go:build slow

package web

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/test/web/browsertest"
)

// TestJourney_React: a visitor without an account reacts by key and by button, which makes a guest
// account once, and sees it rise beside the board, or counted without motion; TV shows the same.
func TestJourney_React(t *testing.T) {
	t.Parallel()
	s := start(t)
	ada := s.player("ada")
	g := ada.Create(t, &pb.CreateGameRequest{Variant: "6x6"})
	tab, tv := s.open(), s.open()
	tab.Use(browsertest.Device{Width: 1280, Height: 900})
	tv.Use(browsertest.Device{Width: 390, Height: 844, Still: true})
	tab.Visit("/g/" + g.GetId())
	tv.Visit("/")
	const buttons = `document.querySelectorAll(".react button").length === 6`
	tab.Wait(buttons)
	tv.Wait(buttons)
	s.watched(g, 2)
	browsertest.Eval[bool](tv, `(window.counted = [], new MutationObserver(() => document.querySelectorAll(".counts")
		.forEach((e) => counted.push(e.textContent))).observe(document.querySelector(".stage"), {childList: true}), true)`)
	tab.Press("5")
	tv.Wait(`counted.includes("1")`) // gone after two seconds
	me := stored(t, tab)
	assert.Contains(t, me.Name, "guest-")
	tab.Wait(`!document.querySelector(".react .sent")`)
	browsertest.Eval[bool](tab, `(window.seen = new Set(), new MutationObserver(() => document.querySelectorAll(".rising")
		.forEach((e) => seen.add(e))).observe(document.querySelector(".play .board"), {childList: true}), true)`)
	browsertest.Eval[bool](tab, `(document.querySelector(".react button").click(), true)`)
	tab.Wait("seen.size >= 1")
	assert.Equal(t, me, stored(t, tab))
	tab.Wait(`!document.querySelector(".rising")`)

	ada.Resign(t, g)
	tab.Wait(says("Game over"))
	tab.Press("1")
	require.EqualValues(t, 2, s.game(g.GetId()).GetVersion(), "a reaction is not in the log")
}
