package web

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	browsertest "github.com/gridstand/gridstand/internal/testkit/browser"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// pollEvery is the interval at which the test polls the server.
const pollEvery = 20 * time.Millisecond

// before makes every page run a script before its own scripts.
func before(tab *browsertest.Tab, script string) {
	browsertest.Call(tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
}

// hostile injects HTML into the names of players, variants and bots that the page reads.
const hostile = `
const markup = '<img class=hacked src=x onerror="window.hacked=1"><script>window.hacked=1</scr' + 'ipt>';
const spoil = (text) => text.replace(/"(ada|Classic|3x3|greedy|[^"]*by arrow keys[^"]*)"/g, () => JSON.stringify(markup));
const original = window.fetch;
window.fetch = async (...request) => {
	const response = await original(...request);
	if (!response.body) return response;
	const spoiled = response.body.pipeThrough(new TextDecoderStream())
		.pipeThrough(new TransformStream({transform: (text, out) => out.enqueue(spoil(text))}))
		.pipeThrough(new TextEncoderStream());
	return new Response(spoiled, {status: response.status, headers: response.headers});
};`

// Ensure that no page interprets text from the server or the address as HTML.
func TestPage_NoHTML_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t)
	ada := s.account("ada")
	live := s.create(ada, "classic")
	over := s.create(ada, "3x3")
	for over.GetResult() == nil {
		s.move(ada, over)
	}
	tribolo := s.create(ada, "tribolo", &pb.SeatRequest{Occupant: &pb.SeatRequest_Caller{Caller: &pb.Caller{}}}, bot("greedy"), bot("minimax"))
	race := s.race(ada, "3x3", time.Minute)
	tab := browsertest.Open(t, s.address)
	before(tab, hostile)
	const (
		markup   = "<img class=hacked src=x"
		unharmed = `!document.querySelector(".hacked, main script") && window.hacked === undefined`
	)
	for _, path := range []string{
		"/", "/g/" + live.GetId(), "/g/" + over.GetId(), "/g/" + tribolo.GetId(), "/play", "/play/classic", "/top", "/top/3x3#all", "/p/ada",
		"/c/" + race, "/race", "/top/%3Cimg%20class=hacked%20src=x%3E",
	} {
		tab.Visit(path)
		tab.Wait(says(markup))
		tab.Wait(unharmed)
	}
	for path, text := range map[string]string{
		"/p/%3Cimg%20class=hacked%20src=x%3E":       "There is no player with this name",
		"/g/%22%3E%3Cimg%20class=hacked%20src=x%3E": "Page not found",
	} {
		tab.Visit(path)
		tab.Wait(says(text))
		tab.Wait(unharmed)
	}
	assert.False(t, tab.Asked("/x"), "the page loaded an image from injected HTML")
}

// Ensure that every page has a content security policy, and that the server sets no cookies.
func TestPage_Headers_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t)
	g := s.create(s.account("ada"), "classic")
	tab := browsertest.Open(t, s.address)
	for _, path := range []string{
		"/", "/g/" + g.GetId(), "/g/none", "/play", "/play/classic", "/top", "/top/5x5", "/p/ada", "/account", "/nothing",
		"/daily", "/daily/classic", "/race", "/c/" + s.race(s.account("grace"), "classic", time.Minute),
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.address+path, nil)
		require.NoError(t, err)
		request.Close = true
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		policy := response.Header.Get("Content-Security-Policy")
		assert.Contains(t, policy, "default-src 'none'", path)
		assert.NotContains(t, policy, "unsafe", path)
		assert.Empty(t, response.Cookies(), path)
		tab.Visit(path)
		tab.Wait(`document.querySelector("main h1, main a, main .tile")`)
	}
	begin(tab, "/play/classic")
	assert.Empty(t, browsertest.Eval[string](tab, "document.cookie"))
	assert.Empty(t, browsertest.Call(tab, network.GetCookies, network.GetCookiesParams{}).Cookies)
}

// denied is a script that makes the browser deny access to storage.
const denied = `Object.defineProperty(window, "localStorage", {get() { throw new DOMException("denied", "SecurityError"); }});`

// Ensure that a browser that denies storage can play, and that the page tells the player
// about the consequences.
func TestPlay_NoStorage_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t)
	tab := browsertest.Open(t, s.address)
	before(tab, denied)
	begin(tab, "/play/classic")
	listed, err := s.games.ListGames(t.Context(), &pb.ListGamesRequest{})
	require.NoError(t, err)
	require.Len(t, listed.GetGames(), 1)
	for range 3 {
		g := s.game(listed.GetGames()[0].GetId())
		tab.Press(keyOf(g.GetPosition().GetTwenty48().GetLegalMoves()[0]))
		require.Eventually(t, func() bool { return s.game(g.GetId()).GetVersion() > g.GetVersion() }, browsertest.Patience, pollEvery)
		waitForBoard(tab, s.game(g.GetId()).GetPosition())
	}
	tab.Visit("/account")
	tab.Wait(`document.querySelector("main input")`)
	browsertest.Eval[bool](tab, `(() => {
		document.querySelector("main input").value = "ada";
		document.querySelector("main form").requestSubmit();
		return true;
	})()`)
	tab.Wait(says("This browser stores nothing"))
}

// noted is a script that records what a page copies. Copying succeeds if mayCopy is set.
const noted = `document.execCommand = (command) => {
	const field = document.activeElement;
	window.copied = command + " " + field.value.slice(field.selectionStart, field.selectionEnd);
	return window.mayCopy;
};`

// Ensure that a link can be copied on a page without clipboard access: with the legacy command, or
// by hand.
func TestCopy_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t)
	g := s.create(s.account("ada"), "classic")
	tab := browsertest.Open(t, s.address)
	before(tab, noted)
	tab.Visit("/g/" + g.GetId())
	waitForBoard(tab, g.GetPosition())
	require.True(t, browsertest.Eval[bool](tab, "navigator.clipboard === undefined"))
	tab.Press("c")
	tab.Wait(`document.querySelector("dialog[open] textarea")`)
	link := tab.Origin + "/g/" + g.GetId()
	assert.Equal(t, "copy "+link, browsertest.Eval[string](tab, "window.copied"))
	assert.Equal(t, link, browsertest.Eval[string](tab, "document.querySelector('textarea').value"))
	tab.Press(kb.Escape)
	tab.Wait(`!document.querySelector("dialog")`)
	browsertest.Eval[bool](tab, "window.mayCopy = true")
	tab.Press("c")
	tab.Wait(says("Copied"))
	tab.Wait(`!document.querySelector("dialog")`)
}

// hiding is a script that defines hide, which hides or shows the tab.
const hiding = `window.hide = (hidden) => {
	Object.defineProperty(document, "hidden", {configurable: true, get: () => hidden});
	document.dispatchEvent(new Event("visibilitychange"));
	return true;
};`

// Ensure that a hidden tab has no open stream, and shows what it missed when it becomes
// visible again.
func TestWatch_Hidden_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t)
	ada := s.account("ada")
	g := s.create(ada, "classic")
	watchers := func(n int32) {
		t.Helper()
		require.Eventually(t, func() bool { return s.game(g.GetId()).GetWatchers() == n }, browsertest.Patience, pollEvery)
	}
	tab := browsertest.Open(t, s.address)
	before(tab, hiding)
	tab.Visit("/g/" + g.GetId())
	waitForBoard(tab, g.GetPosition())
	watchers(1)
	browsertest.Eval[bool](tab, "hide(true)")
	watchers(0)
	for range 5 {
		s.move(ada, g)
	}
	assert.NotEqual(t, label(g.GetPosition()), browsertest.Eval[string](tab, board+".getAttribute('aria-label')"))
	browsertest.Eval[bool](tab, "hide(false)")
	waitForBoard(tab, g.GetPosition())
	watchers(1)
	s.move(ada, g)
	waitForBoard(tab, g.GetPosition())
	tab.Wait(`document.querySelectorAll(".moves li").length >= 6`)
}

// Ensure that players do not count as spectators of their own games, and that others do.
func TestPlay_Audience_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t)
	tab := browsertest.Open(t, s.address)
	begin(tab, "/play/classic")
	g := s.newest(tab)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	stream, err := s.games.Watch(ctx, &pb.WatchRequest{GameId: g.GetId()})
	require.NoError(t, err)
	tab.Wait(says("1 watching"))
	s.move(playertest.WithToken(t.Context(), stored(t, tab).Token), g)
	waitForBoard(tab, g.GetPosition()) // The player's stream is open, but does not count.
	assert.Equal(t, int32(1), s.game(g.GetId()).GetWatchers())
	leave()
	for err == nil {
		_, err = stream.Recv()
	}
	tab.Wait(says("no watchers"))
}
