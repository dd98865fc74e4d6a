package web

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	browsertest "github.com/gridstand/gridstand/internal/testkit/browser"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// replaying is a script that records the versions that the replay shows, and defines two functions.
// stopTimers stops the page's timers. After that, time passes only in advance, by a number of
// milliseconds.
const replaying = `
window.replayed = [];
new MutationObserver(() => {
	const at = +document.querySelector(".bar input")?.value;
	if (at !== window.replayed.at(-1)) window.replayed.push(at);
}).observe(document, {subtree: true, attributes: true, attributeFilter: ["aria-valuetext"]});
const realTimeout = window.setTimeout;
window.stopTimers = () => {
	const timers = new Map();
	let now = 0;
	let id = 1e9; // the page's earlier timers have lower numbers
	window.setTimeout = (action, ms = 0) => (timers.set(++id, {at: now + ms, action}), id);
	window.clearTimeout = (id) => timers.delete(id);
	window.advance = async (ms) => {
		for (const end = now + ms; ; ) {
			const [next] = [...timers].sort(([, a], [, b]) => a.at - b.at);
			if (!next || next[1].at > end) return (now = end);
			timers.delete(next[0]);
			now = next[1].at;
			next[1].action();
			await new Promise((resolve) => realTimeout(resolve)); // what follows from the action
		}
	};
	return true;
};`

// Ensure that a replay shows one version after another until the last, that its speed button sets how
// many versions it shows in a second, and that it skips every other version only at 64 times the
// speed.
func TestReplay_Speed_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t)
	ada := s.account("ada")
	g := s.create(ada, "6x6")
	positions := []*pb.Position{nil, g.GetPosition()} // by version
	for range 120 {
		s.move(ada, g)
		positions = append(positions, g.GetPosition())
	}
	_, err := s.games.Resign(ada, &pb.ResignRequest{GameId: g.GetId()})
	require.NoError(t, err)
	last := s.game(g.GetId()).GetVersion()
	tab := browsertest.Open(t, s.address)
	before(tab, replaying)
	tab.Visit("/g/" + g.GetId())
	tab.Wait(says("Verified in this browser"))
	shows := func(speed int) string {
		return fmt.Sprintf(`document.querySelector(".bar [title=Speed]").innerText === "%d×"`, speed)
	}
	const paused = `document.querySelector(".bar [title=Play]").innerText === "▶"`
	fromStart := func() {
		tab.Press(kb.Home)
		waitForBoard(tab, positions[1])
		browsertest.Eval[bool](tab, `(window.replayed = [1], true)`)
	}

	tab.Press("-") // The slowest speed is next to the fastest one.
	tab.Wait(shows(64))
	fromStart()
	click(tab, "▶")
	tab.Wait(fmt.Sprintf("window.replayed.at(-1) === %d && %s", last, paused))
	waitForBoard(tab, positions[last-1])
	var want []int
	for v := 1; v < int(last); v += 2 {
		want = append(want, v)
	}
	assert.Equal(t, append(want, int(last)), browsertest.Eval[[]int](tab, "window.replayed"))

	fromStart()
	browsertest.Eval[bool](tab, "stopTimers()")
	at := 1
	want = []int{1}
	for _, speed := range []int{1, 2, 4, 8, 16, 64} {
		click(tab, browsertest.Eval[string](tab, `document.querySelector(".bar [title=Speed]").innerText`))
		tab.Wait(shows(speed))
		click(tab, "▶")
		tab.Wait("!(" + paused + ")")
		browsertest.Eval[float64](tab, "advance(500)")
		step := 1
		if speed == 64 {
			step = 2
		}
		for end := at + speed; at < end; {
			at += step
			want = append(want, at)
		}
		assert.Equal(t, want, browsertest.Eval[[]int](tab, "window.replayed"), "at %d×", speed)
		waitForBoard(tab, positions[at])
		click(tab, "❚❚")
		tab.Wait(paused)
		browsertest.Eval[float64](tab, "advance(5000)")
		assert.Equal(t, want, browsertest.Eval[[]int](tab, "window.replayed"), "a paused replay")
	}
}
