//go:build slow

package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/describe"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
	"github.com/gridstand/gridstand/test/web/browsertest"
)

// TestJourney_Daily: a new player plays the daily game once, sees and shares the result, while the game
// is hidden from others. Midnight ends an attempt in progress, shows the results to everybody, and
// begins a new day.
func TestJourney_Daily(t *testing.T) {
	t.Parallel()
	clock := servertest.ClockAt(12) // so that the day does not end during the test
	s := start(t, func(c *server.Config) {
		c.Daily = "3x3" // because it ends after only a few moves
		c.StoreNow = clock.Now
	})
	tab, late := s.open(), s.open()
	tab.Visit("/")
	tab.Wait(says("Daily game"))
	tab.Press("d")
	tab.Wait(`location.pathname === "/daily" && ` + offer)
	tab.Press(kb.Enter)
	tab.Wait(board + "?.querySelectorAll('.tile').length === 2")
	tab.Visit("/play/3x3") // does not resume an attempt
	tab.Wait(offer)
	tab.Visit("/daily")
	tab.Wait(board + "?.querySelectorAll('.tile').length === 2")
	tab.Wait(says("to beat –"))
	today := &pb.GetChallengeRequest{Daily: &pb.DailyRequest{}}
	g, c := s.playAttempt(tab, today)
	points := pointsOf(g)
	tab.Wait(says(points))
	tab.Wait(says("1st of 1"))
	tab.Wait(says("This game can be verified when its challenge has closed."))
	tab.Wait(says("The next daily game begins in 1"))
	assert.NotContains(t, tab.Text(), "Undo")
	// The page shares the same message as the terminal. If copying fails, the dialog stays open.
	browsertest.Eval[bool](tab, `(document.execCommand = undefined, true)`)
	click(tab, "Share")
	tab.Wait(`document.querySelector("dialog textarea")`)
	assert.Equal(t, describe.Share(describe.Result{
		Challenge: c, Score: g.GetPosition().GetScores()[0], Tiles: g.GetPosition().GetTwenty48().GetTiles(),
		Rank: 1, Total: 1, DayStreak: 1, Link: tab.Origin + "/c/" + c.GetId(),
	}), browsertest.Eval[string](tab, `document.querySelector("dialog textarea").value`))
	tab.Visit("/daily")
	tab.Wait(says("1st of 1"))
	assert.False(t, browsertest.Eval[bool](tab, "!!"+offer), "the page offers a second attempt")
	tab.Visit("/")
	tab.Wait(says(points + ", 1st of 1"))
	before(tab, changing("/GetProfile", "got.daily.streak = 3")) // longer, as a streak of several variants is
	tab.Visit("/")
	tab.Wait(says(points+", 1st of 1") + " && " + says("3 days in a row"))

	// The attempt is hidden from others. The contract test TestFairness shows that no page has its picture.
	late.Visit("/g/" + g.GetId())
	late.Wait(says("Hidden for another"))
	late.Wait(fmt.Sprintf(`document.querySelector("main a").pathname === %q`, "/c/"+c.GetId()))

	begin(late, "/daily")
	cut, _ := s.attempt(late, today)
	for range 3 { // too few to end the game
		cut = s.press(late, cut)
	}
	waitForBoard(late, cut.GetPosition())
	clock.PassTo(clock.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour))
	late.Wait(says("Game over: out of time"))
	late.Wait(says(pointsOf(cut)))
	late.Wait(says("of 2"))
	late.Wait(says("Verified in this browser"))
	old := &pb.GetChallengeRequest{ChallengeId: c.GetId()}
	cut, c = s.attempt(late, old)
	assert.Equal(t, pb.Result_REASON_TIMED_OUT, cut.GetResult().GetReason())
	assert.Equal(t, pb.ChallengeStatus_CHALLENGE_STATUS_CLOSED, c.GetStatus())
	late.Visit("/g/" + g.GetId())
	late.Wait(says("Verified in this browser"))
	late.Visit("/daily")
	late.Wait(fmt.Sprintf(`document.querySelector('main a[href="/daily/3x3?date=%s"]')`, c.GetDate()))
	late.Wait(offer)
	late.Press(kb.Enter)
	late.Wait(board + "?.querySelectorAll('.tile').length === 2")
	_, next := s.attempt(late, today)
	assert.NotEqual(t, c.GetId(), next.GetId())
	late.Visit("/daily?date=" + c.GetDate())
	late.Wait(says(strings.TrimSuffix(points, " points")))
}

// counting is a script that records what a page's countdown shows.
const counting = `
window.counted = "";
new MutationObserver(() => {
	const shown = document.querySelector(".counter")?.textContent || "";
	if (!window.counted.endsWith(shown)) window.counted += shown;
}).observe(document, {subtree: true, childList: true, characterData: true});`

// TestJourney_Race: two players with browsers and one with a program race on the same tiles, while
// another browser watches all boards. After everybody has given up, they see their places, and two race
// again.
func TestJourney_Race(t *testing.T) {
	t.Parallel()
	s := start(t)
	ada, bob, viewer := s.open(), s.open(), s.open()
	tabs := []*browsertest.Tab{ada, bob, viewer}
	ada.Visit("/race")
	ada.Wait(says("6x6"))
	fill(ada, "ada")
	browsertest.Eval[bool](ada, `(document.querySelector("[type=number]").value = 60, true)`)
	click(ada, "Create race")
	ada.Wait(says("ada (you) not ready") + " && " + says("Nobody else plays right now"))
	dora := s.player("dora")
	dora.Move(t, dora.Create(t, &pb.CreateGameRequest{Variant: "classic"}))
	ada.Wait(says("Playing now: dora. Those on this site are told that you wait."))
	click(ada, "Add bot")
	ada.Wait(says("bot random any move"))
	click(ada, "×")
	ada.Wait("!" + says("bot random any move"))
	path := browsertest.Eval[string](ada, "location.pathname")
	before(viewer, counting)
	for _, tab := range tabs[1:] {
		tab.Visit(path)
		tab.Wait(says("ada not ready"))
	}
	fill(bob, "bob")
	click(bob, "Join")
	carl := s.player("carl")
	id := strings.TrimPrefix(path, "/c/")
	_, err := s.challenges.JoinChallenge(carl.Ctx, &pb.JoinChallengeRequest{ChallengeId: id, Ready: true})
	require.NoError(t, err)
	for _, tab := range tabs {
		tab.Wait(says("carl ✓ ready"))
	}
	ada.Wait(says("bob not ready"))
	bob.Wait(says("bob (you) not ready"))
	viewer.Wait(says("bob not ready"))
	ada.Press("r")
	bob.Wait(says("ada ✓ ready"))
	click(bob, "Ready")
	for _, tab := range tabs {
		tab.Wait(`document.querySelectorAll(".wall li").length === 3 && [...document.querySelectorAll(".b48")].every((b) => b.querySelector(".tile"))`)
	}
	assert.Regexp(t, "^3?2?1?$", browsertest.Eval[string](viewer, "window.counted")) // A busy browser omits some.
	viewer.Wait(says("left · you watch"))
	assert.False(t, browsertest.Eval[bool](bob, says("you watch")))

	got, err := s.challenges.GetChallenge(t.Context(), &pb.GetChallengeRequest{ChallengeId: id})
	require.NoError(t, err)
	games := map[string]*pb.Game{}
	for _, e := range got.GetChallenge().GetEntrants() {
		games[e.GetPlayer().GetName()] = s.game(e.GetGameId())
	}
	require.Len(t, games, 3)
	for range 5 {
		shown := games["ada"].GetPosition()
		for _, g := range games {
			assert.Equal(t, label(shown), label(g.GetPosition()), "the players must have the same tiles")
		}
		for _, tab := range tabs { // Each tab shows all boards.
			tab.Wait(fmt.Sprintf(`[...document.querySelectorAll(".b48")].every((b) => b.getAttribute("aria-label") === %q)`, label(shown)))
		}
		ada.Press(keyOf(games["ada"]))
		bob.Press(keyOf(games["bob"]))
		carl.Move(t, games["carl"])
		for name, g := range games {
			waittest.Until(t, name+" has moved", func() bool {
				games[name] = s.game(g.GetId())
				return games[name].GetVersion() == games["carl"].GetVersion()
			})
		}
	}
	s.watched(games["ada"], 1) // only the viewer
	carl.Move(t, games["carl"])
	for _, tab := range tabs[:2] {
		tab.Wait(fmt.Sprintf(`document.querySelector(".cards > :nth-child(4) b")?.innerText === %q`, describe.Comma(games["carl"].GetPosition().GetScores()[0])))
	}
	_, err = pb.NewPlayerServiceClient(s.conn).Rename(carl.Ctx, &pb.RenameRequest{Name: "carla"})
	require.NoError(t, err)
	for _, tab := range tabs {
		tab.Wait(`[...document.querySelectorAll(".wall b")].some((b) => b.innerText === "carla")`)
	}
	ada.Visit("/")
	ada.Wait(`document.querySelector(".reminder")?.innerText.startsWith("Your race is running: ")`)
	click(ada, "Return")
	ada.Wait(fmt.Sprintf("location.pathname === %q", path)) // TV may have shown the same board
	waitForBoard(ada, games["ada"].GetPosition())

	carl.Resign(t, games["carl"])
	for _, tab := range tabs[:2] {
		click(tab, "Give up")
		tab.Wait(says("points are kept. You cannot return."))
		confirm(tab, "Give up this attempt?")
		tab.Wait(says("of 3"))
		if tab == ada { // bob still plays
			ada.Visit("/")
			ada.Wait(`document.querySelector(".reminder")?.innerText.startsWith("Your race is running: ")`)
		}
	}
	viewer.Wait(says("· closed"))
	ada.Wait(`document.querySelector(".reminder")?.innerText === "Your race is over: see the result"`)
	browsertest.Eval[bool](ada, `(document.querySelector(".reminder").click(), true)`)
	ada.Wait(says(pointsOf(games["ada"])) + " && !" + says("so far"))
	ada.Wait(says("you 1, bob 0"))                                     // with the same score, but earlier
	ada.Wait(`document.querySelectorAll(".wall .board").length === 2`) // The player's own one is beside them.
	width := `document.querySelector(".wall .board").offsetWidth`
	wide := browsertest.Eval[int](ada, width)
	single := browsertest.Eval[int](ada, `(document.querySelector(".wall li").remove(), `+width+`)`)
	assert.InDelta(t, wide, single, 10, "the board of a single rival")
	viewer.Visit("/g/" + games["ada"].GetId())
	viewer.Wait(says("Verified in this browser"))
	click(ada, "Race again")
	ada.Wait(fmt.Sprintf(`location.pathname !== %q && %s`, path, says("ada (you) not ready")))
	click(bob, "Race again")
	bob.Wait(says("ada not ready") + " && " + says("bob (you) not ready") + " && " + says("you 0, ada 1") + " && " + says("leads the others of the last race here"))
	next := browsertest.Eval[string](ada, "location.pathname")
	ada.Visit("/race")
	click(ada, "Create race")
	ada.Wait(fmt.Sprintf(`location.pathname.startsWith("/c/") && location.pathname !== %q && document.querySelectorAll(".reminder").length === 1`, next))
	click(ada, "Leave")
	ada.Visit(next)
	ada.Wait(says("bob not ready") + ` && !document.querySelector(".reminder")`)
	viewer.Visit("/p/ada")
	viewer.Wait(says("Last races 0 of 1 won") + " && " + says("1–0 against bob"))

	// Somebody who plays alone is told that they wait.
	eve, fay := s.open(), s.open()
	eve.Visit("/play/classic")
	click(eve, "Start")
	eve.Wait(`document.querySelector(".reminder")?.innerText === "ada waits for a race: join"`)
	browsertest.Eval[bool](eve, `(document.querySelector(".reminder").click(), true)`)
	ada.Wait(`document.querySelectorAll("main li:not(.free)").length === 3`)
	click(eve, "Leave")

	// Two visitors who want to race somebody get the same race, in place of the first one's bot.
	for _, tab := range []*browsertest.Tab{eve, fay} {
		tab.Visit("/")
		click(tab, "Race somebody now")
		tab.Wait(`location.pathname.startsWith("/c/")`)
	}
	for _, tab := range []*browsertest.Tab{ada, bob, eve, fay} {
		tab.Wait(says("It starts in 0:") + ` && document.querySelectorAll("main li:not(.free)").length === 4`)
	}
}
