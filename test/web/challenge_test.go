package web

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
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

// withDaily makes 3x3 the daily game, because it ends after only a few moves.
func withDaily(c *server.Config) { c.Daily = "3x3" }

var today = &pb.GetChallengeRequest{Daily: &pb.DailyRequest{}}

// attempt returns the attempt at a challenge by the tab's account, and the challenge.
func (s *testServer) attempt(tab *browsertest.Tab, request *pb.GetChallengeRequest) (*pb.Game, *pb.Challenge) {
	s.t.Helper()
	ctx := playertest.WithToken(s.t.Context(), stored(s.t, tab).Token)
	got, err := s.challenges.GetChallenge(ctx, request)
	require.NoError(s.t, err)
	g, err := s.games.GetGame(ctx, &pb.GetGameRequest{GameId: got.GetAttempt().GetGameId()})
	require.NoError(s.t, err)
	return g.GetGame(), got.GetChallenge()
}

// playAttempt plays the tab's attempt from the keyboard until it is over.
func (s *testServer) playAttempt(tab *browsertest.Tab, request *pb.GetChallengeRequest) (*pb.Game, *pb.Challenge) {
	s.t.Helper()
	g, c := s.attempt(tab, request)
	for g.GetResult() == nil {
		g = s.press(tab, g, request)
	}
	waitForBoard(tab, g.GetPosition())
	return g, c
}

// pointsOf returns a game's score as pages show it: "1,024 points".
func pointsOf(g *pb.Game) string { return describe.Plural(g.GetPosition().GetScores()[0], "point") }

// Ensure that a new player can play the daily game to its end from the keyboard and sees the result
// there and on the start page, and that the game is hidden from others until they have played.
func TestDaily_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	now := &clock{}
	now.noon(t) // so that the day does not end during the test
	s := start(t, withDaily, func(c *server.Config) { c.StoreNow = now.now })
	tab := browsertest.Open(t, s.address)
	tab.Visit("/")
	tab.Wait(says("Daily game"))
	assert.True(t, browsertest.Eval[bool](tab, `document.querySelector("main").firstElementChild.matches(".daily")`), "the daily game comes first")
	tab.Press("d")
	tab.Wait(`location.pathname === "/daily" && document.querySelector(".offer button")`)
	tab.Press(kb.Enter)
	tab.Wait(board + "?.querySelectorAll('.tile').length === 2")
	tab.Visit("/play/3x3") // The page /play/3x3 must not resume an attempt.
	tab.Wait(`document.querySelector(".offer button")`)
	tab.Visit("/daily")
	tab.Wait(board + "?.querySelectorAll('.tile').length === 2")
	tab.Wait(says("to beat –"))
	g, c := s.playAttempt(tab, today)
	points := pointsOf(g)
	tab.Wait(says(points))
	tab.Wait(says("1st of 1"))
	tab.Wait(says("This game can be verified in"))
	tab.Wait(says("The next daily game begins in"))
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
	tab.Wait(says(points))
	tab.Wait(says("1st of 1"))
	tab.Visit("/")
	tab.Wait(says(points + ", 1st of 1"))

	other := browsertest.Open(t, s.address)
	other.Visit("/g/" + g.GetId())
	other.Wait(says("Hidden for another"))
	other.Wait(fmt.Sprintf(`document.querySelector("main a").pathname === %q`, "/c/"+c.GetId()))

	// Everyone, including the player, gets the link preview of the challenge.
	token := stored(t, tab).Token
	var page string
	require.Eventually(t, func() bool { // A busy server serves the page without the description.
		status, text := s.fetch("/g/"+g.GetId(), token)
		assert.Equal(t, http.StatusOK, status)
		page = text
		return strings.Contains(page, `og:title" content="Daily `+c.GetDate())
	}, browsertest.Patience, pollEvery)
	assert.Equal(t, 1, strings.Count(page, `property="og:image`))
	assert.Contains(t, page, `/apple-touch-icon.png">`+"\n"+`<meta name="twitter:card" content="summary">`)
	assert.NotContains(t, page, points) // The number alone may be a part of the date or of a file's name.
	for _, token := range []string{token, ""} {
		status, _ := s.fetch("/g/"+g.GetId()+"/picture.png", token)
		assert.Equal(t, http.StatusBadRequest, status)
	}
}

// fetch requests a path over HTTP. It sends the token unless the token is empty.
func (s *testServer) fetch(path, token string) (status int, body string) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, "http://"+s.address+path, nil)
	require.NoError(s.t, err)
	request.Close = true
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(s.t, err)
	defer func() { _ = response.Body.Close() }()
	read, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	return response.StatusCode, string(read)
}

// Ensure that a finished game can become a rematch, which shows the score to beat and whose
// attempts are verified.
func TestRematch_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t)
	ada := s.account("ada")
	g := s.create(ada, "3x3")
	for g.GetResult() == nil {
		s.move(ada, g)
	}
	score := g.GetPosition().GetScores()[0]
	tab := browsertest.Open(t, s.address)
	tab.Visit("/g/" + g.GetId())
	click(tab, "Beat this score")
	tab.Wait(says("/c/"))
	path := browsertest.Eval[string](tab, `[...document.querySelectorAll("main a")].find((a) => a.innerText === "Play the same tiles").pathname`)
	tab.Visit(path)
	tab.Wait(says("Rematch: beat ada's " + describe.Comma(score)))
	tab.Wait(`document.querySelector(".offer button") && document.querySelectorAll(".offer .b48 > i").length === 9`)
	tab.Press(kb.Enter)
	tab.Wait(says("to beat " + describe.Comma(score)))
	request := &pb.GetChallengeRequest{ChallengeId: strings.TrimPrefix(path, "/c/")}
	mine, c := s.playAttempt(tab, request)
	assert.Equal(t, g.GetSeedCommitment(), mine.GetSeedCommitment())
	assert.Equal(t, g.GetId(), c.GetTarget().GetGameId())
	tab.Wait(says("1st of 1"))
	tab.Wait(says(describe.Margin(mine.GetPosition().GetScores()[0], score, "ada")))
	tab.Wait(says("Verified in this browser"))

	other := browsertest.Open(t, s.address)
	before(other, `
		const original = window.fetch;
		window.fetch = async (...request) => {
			const response = await original(...request);
			if (!request[0].endsWith("/GetChallenge")) return response;
			const got = await response.json();
			got.challenge.seedCommitment = got.challenge.seed;
			return Response.json(got);
		};`)
	other.Visit("/g/" + mine.GetId())
	other.Wait(says("the commitment is not that of the challenge"))
}

// Ensure that an attempt at a link can be played by touch and ends when its time is up, and
// that the page of races creates links.
func TestLink_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	now := &clock{}
	s := start(t, func(c *server.Config) { c.StoreNow = now.now })
	made, err := s.challenges.CreateChallenge(s.account("ada"), &pb.CreateChallengeRequest{
		Kind: pb.ChallengeKind_CHALLENGE_KIND_LINK, Variant: "classic", Limit: durationpb.New(time.Hour),
	})
	require.NoError(t, err)
	tab := browsertest.Open(t, s.address)
	tab.Use(devices["phone-light"])
	tab.Visit("/c/" + made.GetChallenge().GetId())
	tab.Wait(says("Challenge by ada"))
	tap(tab, ".offer button")
	tab.Wait(board + "?.querySelectorAll('.tile').length === 2")
	request := &pb.GetChallengeRequest{ChallengeId: made.GetChallenge().GetId()}
	g, _ := s.attempt(tab, request)
	waitForBoard(tab, g.GetPosition())
	touch(tab, ".b48", 60, 0)
	touch(tab, ".b48", 0, 60)
	now.ahead.Add(int64(time.Hour))
	tab.Wait(says("Out of time"))
	tab.Wait(says("Share"))
	g, _ = s.attempt(tab, request)
	assert.Equal(t, pb.Result_REASON_TIMED_OUT, g.GetResult().GetReason())

	tab.Visit("/race")
	click(tab, "Create a link instead")
	tab.Wait(says("Challenge by guest-"))
}

// Ensure that links and commands on a page that was opened at a loopback address contain the
// server's public address, and that the page itself stays at its own.
func TestShare_PublicURL_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t, func(c *server.Config) { c.PublicURL = "https://play.example" })
	ada := s.account("ada")
	g := s.create(ada, "3x3")
	_, err := s.games.Resign(ada, &pb.ResignRequest{GameId: g.GetId()})
	require.NoError(t, err)
	tab := browsertest.Open(t, s.address)
	tab.Origin = "http://" + s.address
	before(tab, `Object.defineProperty(navigator, "clipboard", {value: undefined}); document.execCommand = undefined;`)
	race := "/c/" + s.race(ada, "3x3", time.Minute)
	tab.Visit(race)
	tab.Wait(says("ada not ready"))
	tab.Press("c")
	tab.Wait(fmt.Sprintf(`document.querySelector("dialog textarea")?.value === %q`, "https://play.example"+race))

	tab.Visit("/g/" + g.GetId())
	tab.Wait(says("--server play.example:443 --tls"))
	click(tab, "Beat this score")
	tab.Wait(says("https://play.example/c/"))
	assert.Equal(t, tab.Origin, browsertest.Eval[string](tab,
		`[...document.querySelectorAll("main a")].find((a) => a.innerText === "Play the same tiles").origin`))
}

// click clicks the button with the given label.
func click(tab *browsertest.Tab, text string) {
	const find = `document.body && [...document.querySelectorAll("main button, main a.button")].find((b) => b.innerText === %q && !b.disabled)`
	tab.Wait(fmt.Sprintf(find, text))
	browsertest.Eval[bool](tab, fmt.Sprintf("("+find+".click(), true)", text))
}

// press makes the first legal move of a tab's attempt by pressing its key, unless the attempt is
// over, and returns the resulting game.
func (s *testServer) press(tab *browsertest.Tab, g *pb.Game, request *pb.GetChallengeRequest) *pb.Game {
	s.t.Helper()
	if g.GetResult() != nil {
		return g
	}
	waitForBoard(tab, g.GetPosition())
	tab.Press(keyOf(g.GetPosition().GetTwenty48().GetLegalMoves()[0]))
	before := g.GetVersion()
	require.Eventually(s.t, func() bool {
		g, _ = s.attempt(tab, request)
		return g.GetVersion() > before
	}, browsertest.Patience, pollEvery, "the key made no move")
	return g
}

// clock is a store's clock, which a test can move forward or stop.
type clock struct {
	ahead   atomic.Int64
	stopped atomic.Pointer[time.Time]
}

func (c *clock) now() time.Time {
	if at := c.stopped.Load(); at != nil {
		return *at
	}
	return time.Now().Add(time.Duration(c.ahead.Load()))
}

func (c *clock) stop() {
	at := c.now()
	c.stopped.Store(&at)
}

// forward moves the clock to the given time of the same day, which must not have passed yet.
func (c *clock) forward(t testing.TB, of time.Duration) {
	t.Helper()
	now := c.now().UTC()
	jump := now.Truncate(24 * time.Hour).Add(of).Sub(now)
	require.Positive(t, jump)
	c.ahead.Add(int64(jump))
}

// noon moves the clock forward to noon of the next day.
func (c *clock) noon(t testing.TB) {
	t.Helper()
	c.forward(t, 24*time.Hour) // to midnight first, because noon may have passed today
	c.forward(t, 12*time.Hour)
}

// Ensure that pages of the daily game that are open at midnight UTC show the ending day's result,
// both for an attempt that midnight cuts off and for one that was already over, and then offer the
// new day's game. The ending day's results stay linked.
func TestDaily_Midnight_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	now := &clock{}
	now.noon(t)
	s := start(t, withDaily, func(c *server.Config) { c.StoreNow = now.now })
	got, err := s.challenges.GetChallenge(t.Context(), today)
	require.NoError(t, err)
	old := &pb.GetChallengeRequest{ChallengeId: got.GetChallenge().GetId()}

	playing, finished, idle := browsertest.Open(t, s.address), browsertest.Open(t, s.address), browsertest.Open(t, s.address)
	points := map[*browsertest.Tab]string{}
	for _, tab := range []*browsertest.Tab{playing, finished} {
		begin(tab, "/daily")
		g, _ := s.attempt(tab, old)
		for range 3 {
			g = s.press(tab, g, old)
		}
		waitForBoard(tab, g.GetPosition())
		if tab == finished {
			g, _ = s.playAttempt(tab, old)
			tab.Wait(says("The next daily game begins in 1"))
		}
		points[tab] = pointsOf(g)
	}
	// There was no daily game on the day before.
	const dayBefore = `!!document.querySelector('main a[href*="date="]')`
	idle.Visit("/")
	idle.Wait(says("Daily game"))
	assert.False(t, browsertest.Eval[bool](idle, dayBefore))
	idle.Visit("/daily")
	idle.Wait(`document.querySelector(".offer button")`)
	assert.False(t, browsertest.Eval[bool](idle, dayBefore))

	now.forward(t, 24*time.Hour-2*time.Second)
	for tab, score := range points {
		tab.Wait(says(score))
		tab.Wait(says("of 2"))
	}
	// Only the playing tab verifies now: the finished tab waits for midnight by the browser's
	// clock, which this test does not advance.
	playing.Wait(says("Verified in this browser"))
	assert.Contains(t, playing.Text(), "Out of time")
	idle.Wait(says("· closed"))
	for _, score := range points {
		idle.Wait(says(strings.TrimSuffix(score, " points")))
	}
	g, c := s.attempt(playing, old)
	assert.Equal(t, pb.Result_REASON_TIMED_OUT, g.GetResult().GetReason())
	assert.Equal(t, pb.ChallengeStatus_CHALLENGE_STATUS_CLOSED, c.GetStatus())

	for tab, link := range map[*browsertest.Tab]string{playing: "Play today's game", finished: "Play today's game", idle: "Play"} {
		follow := fmt.Sprintf(`[...document.querySelectorAll("main a")].find((a) => a.innerText === %q)`, link)
		tab.Wait(follow)
		browsertest.Eval[bool](tab, "("+follow+".click(), true)")
		tab.Wait(`document.querySelector(".offer button")`)
		tab.Press(kb.Enter)
		tab.Wait(board + "?.querySelectorAll('.tile').length === 2")
		g, c := s.attempt(tab, today)
		assert.NotEqual(t, old.GetChallengeId(), c.GetId())
		g = s.press(tab, g, today)
		waitForBoard(tab, g.GetPosition())
	}

	// The start page and the new day's page link to the ending day's results.
	idle.Visit("/")
	for start, results := range map[string]string{"/": "/daily?date=", "/daily": "/daily/3x3?date="} {
		idle.Visit(start)
		idle.Wait(fmt.Sprintf(`document.querySelector('main a[href="%s%s"]')`, results, c.GetDate()))
		idle.Visit(results + c.GetDate())
		idle.Wait(says("· closed"))
		for _, score := range points {
			idle.Wait(says(strings.TrimSuffix(score, " points")))
		}
	}
}
