//go:build slow

package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/test/web/browsertest"
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

// altering is a script that changes the new tile of version 3 in the events that the page reads.
var altering = rewriting("/events",
	`(r) => r.startsWith("id: 3\n") ? r.replace(/("spawned":{[^}]*"value":)2/, "$14") : r`)

// TestJourney_Replay: a visitor verifies a finished game, replays it with the keys and at every speed,
// and beats its score on the same tiles. The page refuses a game that was altered.
func TestJourney_Replay(t *testing.T) {
	t.Parallel()
	s := start(t)
	ada := s.player("ada")
	g := ada.Create(t, &pb.CreateGameRequest{Variant: "6x6"})
	positions := []*pb.Position{nil, g.GetPosition()} // by version
	for range 120 {
		ada.Move(t, g)
		positions = append(positions, g.GetPosition())
	}
	ada.Resign(t, g)
	tab := s.open()
	before(tab, replaying)
	tab.Visit("/g/" + g.GetId())
	tab.Wait(says("Game over: resigned"))
	tab.Wait(says("Verified in this browser"))
	tab.Press(kb.Home)
	for _, p := range positions[1:6] {
		waitForBoard(tab, p)
		tab.Press(kb.ArrowRight)
	}
	tab.Press(kb.ArrowLeft)
	waitForBoard(tab, positions[5])
	tab.Press("l")
	waitForBoard(tab, positions[121])

	tab.Press(kb.Home)
	waitForBoard(tab, positions[1])
	browsertest.Eval[bool](tab, "(window.replayed = [1], stopTimers())")
	const paused = `document.querySelector(".bar [title=Play]").innerText === "▶"`
	at, want := 1, []int{1}
	for _, speed := range []int{1, 2, 4, 8, 16, 64} {
		tab.Wait(fmt.Sprintf(`document.querySelector(".bar [title=Speed]").innerText === "%d×"`, speed))
		click(tab, "▶")
		tab.Wait("!(" + paused + ") && " + says("▶ replay"))
		browsertest.Eval[float64](tab, "advance(500)")
		step := 1
		if speed == 64 { // A timer cannot run 128 times a second, so every other version is skipped.
			step = 2
		}
		for end := at + speed; at < end; {
			at += step
			want = append(want, at)
		}
		assert.Equal(t, want, browsertest.Eval[[]int](tab, "window.replayed"), "at %d×", speed)
		waitForBoard(tab, positions[at])
		click(tab, "❚❚")
		tab.Wait(paused + " && " + says("❚❚ replay"))
		browsertest.Eval[float64](tab, "advance(5000)")
		assert.Equal(t, want, browsertest.Eval[[]int](tab, "window.replayed"), "a paused replay")
		tab.Press("+")
	}
	tab.Press("-") // The slowest speed is next to the fastest one.
	tab.Wait(`document.querySelector(".bar [title=Speed]").innerText === "64×"`)
	click(tab, "▶")
	browsertest.Eval[float64](tab, "advance(5000)")
	tab.Wait(paused)
	waitForBoard(tab, positions[121])

	// A link to a move opens there, and a click on the curve of the scores goes to its move.
	moment := s.open()
	moment.Visit("/g/" + g.GetId() + "#40")
	waitForBoard(moment, positions[41])
	moment.Wait(`document.querySelectorAll(".curve polyline").length === 1`)
	browsertest.Eval[bool](moment, "(document.execCommand = undefined, true)") // so that a dialog shows the link
	moment.Press(kb.ArrowRight)
	waitForBoard(moment, positions[42])
	click(moment, "Copy link")
	moment.Wait(`document.querySelector("dialog textarea")?.value.endsWith("/g/` + g.GetId() + `#41")`)
	moment.Press(kb.Escape)
	browsertest.Eval[bool](moment, `(() => {
		const at = document.querySelector(".curve svg"), {left, width, top} = at.getBoundingClientRect();
		return at.dispatchEvent(new MouseEvent("click", {clientX: left + width / 4, clientY: top, bubbles: true}));
	})()`)
	waitForBoard(moment, positions[1+(len(positions)-1)/4])
	browsertest.Eval[bool](moment, `(location.hash = "#7", true)`) // as a link to another move does
	waitForBoard(moment, positions[8])

	altered := s.open()
	before(altered, altering)
	twos := ada.Create(t, &pb.CreateGameRequest{Variant: "twos"}) // the variant never spawns a 4
	for range 5 {
		ada.Move(t, twos)
	}
	ada.Resign(t, twos)
	altered.Visit("/g/" + twos.GetId())
	altered.Wait(`document.querySelector(".verdict.bad")`)
	verdict := browsertest.Eval[string](altered, `document.querySelector(".verdict").innerText`)
	assert.NotContains(t, verdict, "Verified")
	assert.Contains(t, verdict, "version 3,")

	target := ada.Create(t, &pb.CreateGameRequest{Variant: "3x3"})
	for target.GetResult() == nil {
		ada.Move(t, target)
	}
	score := target.GetPosition().GetScores()[0]
	tab.Visit("/g/" + target.GetId())
	click(tab, "Beat this score")
	tab.Wait(says("Challenge: beat ada's " + describe.Comma(score)))
	tab.Wait(offer + ` && document.querySelectorAll(".offer .b48 > i").length === 9`)
	tab.Press(kb.Enter)
	tab.Wait(says("to beat " + describe.Comma(score)))
	request := &pb.GetChallengeRequest{ChallengeId: strings.TrimPrefix(browsertest.Eval[string](tab, "location.pathname"), "/c/")}
	mine, c := s.playAttempt(tab, request)
	assert.Equal(t, target.GetSeedCommitment(), mine.GetSeedCommitment())
	assert.Equal(t, target.GetId(), c.GetTarget().GetGameId())
	tab.Wait(says("1st of 1"))
	tab.Wait(says(describe.Margin(mine.GetPosition().GetScores()[0], score, "ada")))
	tab.Wait(says("Verified in this browser"))
	before(altered, changing("/GetChallenge", "got.challenge.seedCommitment = got.challenge.seed"))
	altered.Visit("/g/" + mine.GetId())
	altered.Wait(says("the challenge is not that of the game"))
}
