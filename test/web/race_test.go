package web

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gridstand/gridstand/internal/describe"
	browsertest "github.com/gridstand/gridstand/internal/testkit/browser"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// Ensure that a new player can create a race, add a bot and start the race, and that a player
// who leaves the page can return to the race.
func TestRace_Bot_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t)
	tab := browsertest.Open(t, s.address)
	tab.Visit("/race")
	tab.Wait(says("6×6"))
	browsertest.Eval[bool](tab, `(() => {
		document.querySelector("main input").value = "grace";
		document.querySelector("[type=number]").value = 60;
		return true;
	})()`)
	click(tab, "Create race")
	tab.Wait(says("grace not ready"))
	tab.Wait(`document.querySelector("option[value=greedy], option")`)
	click(tab, "Add bot")
	tab.Wait(says("bot ×"))
	click(tab, "Start now")
	tab.Wait(board + `?.querySelectorAll(".tile").length >= 2`)
	tab.Wait(`[...document.querySelectorAll(".wall .b48")].filter((b) => b.querySelectorAll(".tile").length > 2).length >= 1`)
	path := browsertest.Eval[string](tab, "location.pathname")
	tab.Visit("/race")
	tab.Visit(path)
	request := &pb.GetChallengeRequest{ChallengeId: strings.TrimPrefix(path, "/c/")}
	g, _ := s.attempt(tab, request)
	s.press(tab, g, request)
	click(tab, "Give up")
	tab.Wait(`document.querySelector("dialog[open]")`)
	tab.Wait(says("points are kept. You cannot return."))
	tab.Press(kb.Enter)
	tab.Wait(says("so far"))
}

// as creates an account and stores it in a tab, just as if the page had created it.
func (s *testServer) as(tab *browsertest.Tab, name string) context.Context {
	s.t.Helper()
	p := playertest.New(s.t.Context(), s.t, s.conn, name)
	tab.Visit("/race")
	kept, err := json.Marshal(map[string]string{"id": p.ID, "name": name, "token": p.Token})
	require.NoError(s.t, err)
	browsertest.Eval[bool](tab, fmt.Sprintf(`(localStorage.setItem("gridstand.account", %q), true)`, kept))
	return p.Ctx
}

// race creates a race as the caller and returns its id.
func (s *testServer) race(caller context.Context, variant string, limit time.Duration) string {
	s.t.Helper()
	made, err := s.challenges.CreateChallenge(caller, &pb.CreateChallengeRequest{
		Kind: pb.ChallengeKind_CHALLENGE_KIND_RACE, Variant: variant, Limit: durationpb.New(limit),
	})
	require.NoError(s.t, err)
	return made.GetChallenge().GetId()
}

// endRace moves the clock forward until a race has closed. It does so in steps that are too short to
// count as an outage, and makes a move after each. If the machine is so slow that there is an outage
// nevertheless, the race closes later.
func (s *testServer) endRace(now *clock, id string) {
	s.t.Helper()
	pulse := playertest.New(s.t.Context(), s.t, s.conn, "pulse")
	for g := (*pb.Game)(nil); ; now.ahead.Add(int64(2 * time.Second)) {
		if g == nil || g.GetResult() != nil {
			g = pulse.Create(s.t, &pb.CreateGameRequest{Variant: "6x6"})
		} else {
			pulse.Move(s.t, g)
		}
		got, err := s.challenges.GetChallenge(s.t.Context(), &pb.GetChallengeRequest{ChallengeId: id})
		require.NoError(s.t, err)
		if got.GetChallenge().GetStatus() == pb.ChallengeStatus_CHALLENGE_STATUS_CLOSED {
			return
		}
	}
}

// countdown is a script that records what a page's countdown shows.
const countdown = `
window.counted = "";
new MutationObserver(() => {
	const shown = document.querySelector(".counter")?.textContent || "";
	if (!window.counted.endsWith(shown)) window.counted += shown;
}).observe(document, {subtree: true, childList: true, characterData: true});`

// Ensure that the page of a race counts the seconds to its opening.
func TestRace_Countdown_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	now := &clock{}
	s := start(t, func(c *server.Config) { c.StoreNow = now.now })
	ada, bob := s.account("ada"), s.account("bob")
	id := s.race(ada, "classic", time.Minute)
	now.stop() // so that the race does not open before the page has loaded
	for _, player := range []context.Context{ada, bob} {
		_, err := s.challenges.JoinChallenge(player, &pb.JoinChallengeRequest{ChallengeId: id, Ready: true})
		require.NoError(t, err)
	}
	tab := browsertest.Open(t, s.address)
	before(tab, countdown)
	tab.Visit("/c/" + id)
	tab.Wait(`window.counted && !document.querySelector(".counter")`)
	assert.Regexp(t, "^3?2?1?$", browsertest.Eval[string](tab, "window.counted")) // A stalled browser omits some.
}

// Ensure that two players in tabs and two players elsewhere can race on the same tiles while
// a third tab watches all boards, that the results are shown and verified, both of a player who
// finishes and of one who runs out of time, and that they can race again.
func TestRace_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	now := &clock{}
	// On a quick machine, endRace makes more moves a second than the default allows.
	s := start(t, func(c *server.Config) { c.StoreNow, c.Limits.MovesPerSecond = now.now, 0 })
	tabs := []*browsertest.Tab{browsertest.Open(t, s.address), browsertest.Open(t, s.address), browsertest.Open(t, s.address)}
	ada, bob := tabs[0], tabs[1] // the third tab only watches
	id := s.race(s.as(ada, "ada"), "3x3", 10*time.Minute)
	for _, tab := range tabs {
		tab.Visit("/c/" + id)
		tab.Wait(says("Race of 10 min, 3x3"))
		tab.Wait(says("ada not ready"))
	}
	browsertest.Eval[bool](bob, `(document.querySelector("main input").value = "bob", true)`)
	click(bob, "Join")
	for _, tab := range tabs {
		tab.Wait(says("bob not ready"))
	}
	// The page polls the boards of the last two players, because the streams of the others
	// use up its connections.
	var apart []*playertest.Player
	for _, name := range []string{"carl", "dora"} {
		p := playertest.New(t.Context(), t, s.conn, name)
		_, err := s.challenges.JoinChallenge(p.Ctx, &pb.JoinChallengeRequest{ChallengeId: id, Ready: true})
		require.NoError(t, err)
		apart = append(apart, p)
	}
	ada.Press("r")
	bob.Wait(says("ada ✓ ready"))
	click(bob, "Ready")
	request := &pb.GetChallengeRequest{ChallengeId: id}
	games := []*pb.Game{nil, nil}
	for i, tab := range tabs[:2] {
		tab.Wait(board + `?.querySelectorAll(".tile").length === 2 && document.querySelectorAll(".wall li").length === 4`)
		games[i], _ = s.attempt(tab, request)
		waitForBoard(tab, games[i].GetPosition())
	}
	assert.Equal(t, label(games[0].GetPosition()), label(games[1].GetPosition()), "the players must have the same tiles")
	for _, p := range apart {
		got, err := s.challenges.GetChallenge(p.Ctx, request)
		require.NoError(t, err)
		games = append(games, s.game(got.GetAttempt().GetGameId()))
	}
	for range 5 {
		for i, tab := range tabs[:2] {
			games[i] = s.press(tab, games[i], request)
		}
		for i, p := range apart {
			p.Move(t, games[2+i])
		}
		for _, tab := range tabs { // Each tab shows all boards.
			for _, g := range games {
				tab.Wait(fmt.Sprintf(`[...document.querySelectorAll(".b48")].some((b) => b.getAttribute("aria-label") === %q)`, label(g.GetPosition())))
			}
		}
	}
	require.Eventually(t, func() bool { return s.game(games[0].GetId()).GetWatchers() == 1 }, browsertest.Patience, pollEvery,
		"only the third tab counts as a watcher")
	for i, tab := range tabs[:2] { // The others' last moves came after the player's own.
		var best int32
		for k, g := range games {
			if k != i {
				best = max(best, g.GetPosition().GetScores()[0])
			}
		}
		tab.Wait(says("to beat " + describe.Comma(best)))
	}
	for i, p := range apart {
		p.Resign(t, games[2+i])
	}
	for games[1].GetResult() == nil {
		games[1] = s.press(bob, games[1], request)
	}
	bob.Wait(says(pointsOf(games[1])))
	s.endRace(now, id)
	tabs[2].Wait(says("closed"))
	for i, tab := range tabs[:2] {
		tab.Wait(says(pointsOf(games[i])))
		tab.Wait(says("of 4") + " && !" + says("so far"))
	}
	// Only ada's tab verifies now: bob's tab waits for the close by the browser's clock, which
	// this test does not advance.
	ada.Wait(says("Verified in this browser"))
	click(ada, "Race again")
	ada.Wait(fmt.Sprintf(`location.pathname !== %q && %s`, "/c/"+id, says("ada not ready")))
	click(bob, "Race again")
	bob.Wait(says("ada not ready") + " && " + says("bob not ready"))
}
