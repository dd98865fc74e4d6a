package web

import (
	"testing"

	"github.com/stretchr/testify/assert"

	browsertest "github.com/gridstand/gridstand/internal/testkit/browser"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
)

// motion describes how the tiles of a board move.
type motion struct {
	Slide string // duration of a tile's slide
	New   string // animation of the new tile
}

// Ensure that tiles slide and appear without animation if the browser prefers reduced motion, and
// with one otherwise.
func TestPlay_ReducedMotion_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t)
	tab := browsertest.Open(t, s.address)
	tab.Use(browsertest.Device{Width: 1000, Height: 800})
	begin(tab, "/play/classic")
	g := s.newest(tab)
	waitForBoard(tab, g.GetPosition())
	events := s.eventsAfter(g)
	position := g.GetPosition()
	browsertest.Eval[bool](tab, `(() => {
		window.slides = 0;
		`+board+`.addEventListener("transitionrun", () => window.slides++);
		return true;
	})()`)
	slide := func(still bool) motion {
		tab.Use(browsertest.Device{Width: 1000, Height: 800, Still: still})
		// Two frames, so that the slide starts from a board that was drawn, and later slides are not
		// counted with earlier ones.
		browsertest.Eval[bool](tab, `new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => {
			window.slides = 0;
			drawn(true);
		})))`)
		tab.Press(keyOf(position.GetTwenty48().GetLegalMoves()[0]))
		position = events.next().GetPosition()
		waitForBoard(tab, position)
		return browsertest.Eval[motion](tab, `(() => {
			const tile = document.querySelector(".b48 .tile.new");
			return {Slide: getComputedStyle(tile).transitionDuration, New: getComputedStyle(tile.firstChild).animationName};
		})()`)
	}
	assert.Equal(t, motion{"0.1s", "new"}, slide(false))
	tab.Wait("window.slides > 0")
	assert.Equal(t, motion{"0s", "none"}, slide(true))
	assert.Zero(t, browsertest.Eval[int](tab, `new Promise((drawn) =>
		requestAnimationFrame(() => requestAnimationFrame(() => drawn(window.slides))))`))
	assert.Equal(t, motion{"0.1s", "new"}, slide(false))
	tab.Wait("window.slides > 0")
}
