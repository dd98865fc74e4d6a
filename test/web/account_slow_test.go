//go:build slow

package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"

	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
	"github.com/gridstand/gridstand/test/web/browsertest"
)

// hostile is a script that injects HTML into the names of players, variants and bots that the page
// reads.
var hostile = `
const markup = '<img class=hacked src=x onerror="window.hacked=1"><script>window.hacked=1</scr' + 'ipt>';
` + rewriting("", `(text) => text
	.replace(/"(ada|[^"]*everyone knows[^"]*|3x3|greedy|[^"]*by arrow keys[^"]*)"/g, () => JSON.stringify(markup))`)

// unlucky is a script that makes the browser deny access to storage and the clipboard and report that
// it is offline. It records what the page copies with the legacy command, which succeeds if
// mayCopy is set.
const unlucky = `
Object.defineProperty(window, "localStorage", {get() { throw new DOMException("denied", "SecurityError"); }});
Object.defineProperty(navigator, "onLine", {value: false});
Object.defineProperty(navigator, "clipboard", {value: undefined});
document.execCommand = (command) => {
	const field = document.activeElement;
	window.copied = command + " " + field.value.slice(field.selectionStart, field.selectionEnd);
	return window.mayCopy;
};`

// reachable is an expression for the elements that the Tab key must reach, in page order.
const reachable = `[...document.querySelectorAll("a[href], button:not(:disabled), input, textarea, select, summary, [tabindex='0']")]
	.filter((e) => e.checkVisibility({visibilityProperty: true}))`

// TestJourney_Account: a player brings an account to the browser, and visits every page with the Tab
// key alone. No page runs what a name contains, needs storage or the clipboard, or sets cookies.
func TestJourney_Account(t *testing.T) {
	t.Parallel()
	// The browser opens the page at another address than the public one, so that is another origin.
	s := start(t, func(c *server.Config) { c.PublicURL, c.WebOrigins = "https://play.example", "*" })
	ada, bob := s.player("ada"), s.player("bob")
	live := ada.Create(t, &pb.CreateGameRequest{Variant: "classic"})
	ada.Move(t, live)
	over := ada.Create(t, &pb.CreateGameRequest{Variant: "6x6"})
	for over.GetPosition().GetScores()[0] == 0 { // The leaderboard omits games without points.
		ada.Move(t, over)
	}
	ada.Resign(t, over)
	greedy := &pb.SeatRequest{Occupant: &pb.SeatRequest_Bot{Bot: "greedy"}}
	tribolo := ada.Create(t, &pb.CreateGameRequest{Variant: "tribolo", Seats: []*pb.SeatRequest{
		{Occupant: &pb.SeatRequest_Caller{Caller: &pb.Caller{}}}, greedy, greedy,
	}})
	made, err := s.challenges.CreateChallenge(ada.Ctx, &pb.CreateChallengeRequest{
		Kind: pb.ChallengeKind_CHALLENGE_KIND_RACE, Variant: "3x3", Limit: durationpb.New(time.Minute),
	})
	require.NoError(t, err)
	race := "/c/" + made.GetChallenge().GetId()
	pages := map[string]string{ // each page, and an expression that reports whether it is complete
		"/":                        says("Daily game"),
		"/g/" + live.GetId():       says("Copy link") + ` && document.querySelector("[aria-label=clap]")`,
		"/g/" + over.GetId():       says("Verified in this browser") + " && " + says("Beat this score"),
		"/g/" + tribolo.GetId():    `document.querySelector(".tri")`,
		"/play":                    says("tribolo"),
		"/play/classic":            offer,
		"/top/6x6#all":             `document.querySelector(".podium li") && document.querySelector("[aria-label=Variants] a")`,
		"/p/ada":                   `document.querySelector(".gamerow")`,
		"/account":                 `document.querySelector("main input")`,
		"/daily":                   offer,
		"/race":                    says("6x6"),
		race:                       says("not ready"),
		"/nothing":                 says("Page not found"),
		"/p/nobody":                says("There is no player with this name"),
		"/daily?date=2020-01-01":   says("There is no daily game on this day"),
		"/g/" + missing:            says("There is no game with this id") + " && " + says("its score stays."),
		"/c/" + missing:            says("There is no challenge with this id"),
		"/g/x%22%3E%3Cimg%20src=x": says("Page not found"),
	}

	t.Run("token", func(t *testing.T) {
		t.Parallel()
		tab := s.open()
		const field = `document.querySelector("input[type=password]")`
		paste := func(token string) {
			t.Helper()
			tab.Wait(field)
			browsertest.Eval[bool](tab, `(document.querySelector("main details:not([open]) summary")?.click(), true)`)
			browsertest.Eval[bool](tab, "("+field+".focus(), "+field+".select(), true)")
			browsertest.Call(tab, input.InsertText, input.InsertTextParams{Text: token})
			click(tab, "Use this account")
		}
		const refused = `[...document.querySelectorAll("[role=alert]")].map((e) => e.innerText).join("") === "The token is not valid: it is mistyped or was replaced, or its session has ended."`
		tab.Visit("/account")
		paste("ada")
		assert.True(t, browsertest.Eval[bool](tab, field+".validity.patternMismatch"))
		assert.False(t, tab.Asked("/gridstand.v1."), "the page sent a text that is no token")
		unknown := strings.Repeat("a", 26) + "." + strings.Repeat("b", 26)
		paste(unknown)
		tab.Wait(refused)
		assert.Contains(t, []string{"", "null"}, browsertest.Eval[string](tab, `localStorage.getItem("gridstand.account") || ""`))
		paste(ada.Token)
		tab.Wait(`document.querySelector("h1").innerText === "ada" && document.getElementById("me").innerText === "ada"`)
		assert.Equal(t, account{ada.ID, "ada", ada.Token}, stored(t, tab))
		tab.Visit("/play/classic")
		waitForBoard(tab, live.GetPosition())
		tab.Visit("/account")
		paste(unknown)
		confirm(tab, "Forget ada on this device?")
		tab.Wait(refused)
		assert.Equal(t, ada.Token, stored(t, tab).Token, "the browser keeps the account that it had")
		paste(bob.Token)
		confirm(tab, "Forget ada on this device?")
		tab.Wait(`document.querySelector("h1").innerText === "bob"`)
		assert.Equal(t, bob.Token, stored(t, tab).Token)
	})

	t.Run("every page", func(t *testing.T) {
		t.Parallel()
		tab := s.open()
		tab.Use(browsertest.Device{Width: 1000, Height: 800, Still: true})
		for path, ready := range pages {
			response, _ := servertest.Get(t, "http://"+s.address+strings.Split(path, "#")[0])
			policy := response.Header.Get("Content-Security-Policy")
			assert.Contains(t, policy, "default-src 'none'", path)
			assert.NotContains(t, policy, "unsafe", path)
			assert.Empty(t, response.Header.Values("Set-Cookie"), path)
			tab.Visit(path)
			tab.Wait(ready)
			if path == "/" || path == "/g/"+tribolo.GetId() {
				continue // Bots change what the Tab key reaches.
			}
			reachesAll(t, tab, path)
		}
		assert.False(t, browsertest.Eval[bool](tab, "isSecureContext"), "the tests must run under the restrictions of a page from another machine")
		assert.Empty(t, browsertest.Call(tab, network.GetCookies, network.GetCookiesParams{}).Cookies)
	})

	t.Run("names with HTML", func(t *testing.T) {
		t.Parallel()
		tab := s.open()
		before(tab, hostile)
		for path, ready := range pages {
			tab.Visit(path)
			if strings.Contains(ready, "There is no") || strings.Contains(ready, "not found") || path == "/account" || path == "/race" || path == "/daily" {
				tab.Wait(ready)
			} else {
				tab.Wait(says("<img class=hacked src=x"))
			}
			tab.Wait(`!document.querySelector(".hacked, main script") && window.hacked === undefined`)
		}
		assert.False(t, tab.Asked("/x"), "the page loaded an image from injected HTML")
	})

	t.Run("without storage, clipboard and scripts", func(t *testing.T) {
		t.Parallel()
		tab := s.open()
		tab.Origin = "http://" + s.address // a loopback address, which others cannot reach
		before(tab, unlucky)
		tab.Visit("/p/nobody")
		tab.Wait(says("There is no player with this name"))
		tab.Wait(`document.querySelector("main a.primary")?.pathname === "/"`)
		begin(tab, "/play/classic")
		tab.Press(kb.ArrowLeft)
		tab.Press(kb.ArrowDown)
		tab.Wait(`document.querySelector(".moves li")`)
		tab.Visit("/g/" + live.GetId())
		tab.Wait(says("--server play.example:443 --tls"))
		tab.Press("c")
		tab.Wait(`document.querySelector("dialog[open] textarea")`)
		link := "https://play.example/g/" + live.GetId()
		assert.Equal(t, "copy "+link, browsertest.Eval[string](tab, "window.copied"))
		assert.Equal(t, link, browsertest.Eval[string](tab, "document.querySelector('textarea').value"))
		tab.Press(kb.Escape)
		tab.Wait(`!document.querySelector("dialog")`)
		browsertest.Eval[bool](tab, "window.mayCopy = true")
		tab.Press("c")
		tab.Wait(says("Copied"))
		tab.Visit("/account")
		fill(tab, "carl")
		browsertest.Eval[bool](tab, `(document.querySelector("main form").requestSubmit(), true)`)
		tab.Wait(says("This browser stores nothing"))
		block(tab, "*://*:*/*/main.js")
		tab.Visit("/top")
		tab.Wait(says("The page has not loaded."))
	})
}

// missing is an id that no game or challenge has.
var missing = strings.Repeat("a", 26)

// reachesAll checks that the Tab key reaches every control of a page in order, and that the focus is
// visible.
func reachesAll(t *testing.T, tab *browsertest.Tab, path string) {
	t.Helper()
	// The page's lists may change during the test, so look at the controls of the moment.
	want := browsertest.Eval[int](tab, fmt.Sprintf(`(() => {
		addEventListener("focusin", (e) => {
			const all = %[1]s;
			window.moved = {From: all.indexOf(window.focused), To: all.indexOf(e.target), Of: all.length};
			window.focused = e.target;
		});
		return %[1]s.length;
	})()`, reachable))
	require.Positive(t, want)
	for range want {
		tab.Press(kb.Tab)
		// After the last element, the focus moves to the browser itself.
		if browsertest.Eval[bool](tab, "document.activeElement === document.body") {
			tab.Press(kb.Tab)
		}
		got := browsertest.Eval[struct {
			From, To, Of  int
			Outline, HTML string
		}](tab, `(() => {
			const e = document.activeElement, moved = window.moved;
			window.moved = undefined;
			return {...moved, Outline: getComputedStyle(e).outlineStyle, HTML: e.outerHTML.slice(0, 90)};
		})()`)
		require.Positive(t, got.Of, "%s: the focus stays on %s", path, got.HTML)
		if got.From >= 0 { // The first stop depends on where the page placed the focus.
			require.Equal(t, (got.From+1)%got.Of, got.To, "%s: the focus is on %s", path, got.HTML)
		}
		assert.NotEqual(t, "none", got.Outline, "%s: the focus on %s is not visible", path, got.HTML)
	}
}
