//go:build slow

package web

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/describe"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/test/web/browsertest"
)

// Expressions for the board of 2048 and for the button on the board of a game that has not begun.
const (
	board = `document.querySelector(".b48")`
	offer = `document.querySelector(".offer button")`
)

// says returns an expression that reports whether the page shows the given text.
func says(text string) string {
	return fmt.Sprintf("(document.body?.innerText || '').replace(/\\s+/g, ' ').includes(%q)", text)
}

// label returns the label that a screen reader announces for the board of a 2048 position.
func label(p *pb.Position) string {
	b := p.GetTwenty48()
	var rows []string
	for row := range slices.Chunk(b.GetTiles(), int(b.GetColumns())) {
		cells := []string{"row", strconv.Itoa(len(rows)+1) + ":"}
		for _, tile := range row {
			if tile == 0 {
				cells = append(cells, "empty")
			} else {
				cells = append(cells, strconv.Itoa(int(tile)))
			}
		}
		rows = append(rows, strings.Join(cells, " "))
	}
	return strings.Join(rows, "; ")
}

// waitForBoard waits until the page shows a position of 2048, both visually and to screen readers.
func waitForBoard(tab *browsertest.Tab, p *pb.Position) {
	// Merged tiles stay under the new ones until the next move.
	b := p.GetTwenty48()
	tab.Wait(fmt.Sprintf(`%[1]s?.getAttribute("aria-label") === %[5]q && (() => {
		const shown = Array(%[2]d).fill(0);
		for (const t of %[1]s.querySelectorAll(".tile"))
			shown[t.style.getPropertyValue("--y") * %[3]d + +t.style.getPropertyValue("--x")] = t.value;
		return shown.join(" ") === %[4]q;
	})()`, board, len(b.GetTiles()), b.GetColumns(), strings.Trim(fmt.Sprint(b.GetTiles()), "[]"), label(p)))
}

// pointsOf returns a game's score as pages show it: "1,024 points".
func pointsOf(g *pb.Game) string { return describe.Plural(g.GetPosition().GetScores()[0], "point") }

// account is the account that a tab has stored.
type account struct{ ID, Name, Token string }

// stored returns the account that a tab has stored.
func stored(t testing.TB, tab *browsertest.Tab) (stored account) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(browsertest.Eval[string](tab, `localStorage.getItem("gridstand.account")`)), &stored))
	return stored
}

// begin visits a path, starts a game of 2048 from the keyboard, and waits for the first two tiles.
func begin(tab *browsertest.Tab, path string) {
	tab.Visit(path)
	tab.Wait(offer)
	tab.Press(kb.Enter)
	tab.Wait(board + "?.querySelectorAll('.tile').length === 2")
}

// arrows are the arrow keys, by direction.
var arrows = map[pb.Direction]string{
	pb.Direction_DIRECTION_UP: kb.ArrowUp, pb.Direction_DIRECTION_DOWN: kb.ArrowDown,
	pb.Direction_DIRECTION_LEFT: kb.ArrowLeft, pb.Direction_DIRECTION_RIGHT: kb.ArrowRight,
}

// keyOf returns the key of a move after which a game lasts long.
func keyOf(g *pb.Game) string { return arrows[playertest.Lasting(g.GetVersion(), g.GetPosition())] }

// swipes are the distances in pixels of a swipe on the board, by direction.
var swipes = map[pb.Direction][2]float64{
	pb.Direction_DIRECTION_UP: {0, -60}, pb.Direction_DIRECTION_DOWN: {0, 60},
	pb.Direction_DIRECTION_LEFT: {-60, 0}, pb.Direction_DIRECTION_RIGHT: {60, 0},
}

// center scrolls an element into view and returns the coordinates of its center.
func center(tab *browsertest.Tab, selector string) [2]float64 {
	return browsertest.Eval[[2]float64](tab, fmt.Sprintf(`(() => {
		const e = document.querySelector(%q);
		e.scrollIntoView({block: "nearest"});
		const r = e.getBoundingClientRect();
		return [r.x + r.width / 2, r.y + r.height / 2];
	})()`, selector))
}

// touch puts a finger on the center of an element, moves it, and lifts it.
func touch(tab *browsertest.Tab, selector string, by [2]float64) {
	middle := center(tab, selector)
	send := func(kind input.DispatchTouchEventType, points []*input.TouchPoint) {
		browsertest.Call(tab, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points})
	}
	send("touchStart", []*input.TouchPoint{{X: middle[0], Y: middle[1]}})
	if by != [2]float64{} {
		send("touchMove", []*input.TouchPoint{{X: middle[0] + by[0]/2, Y: middle[1] + by[1]/2}})
		send("touchMove", []*input.TouchPoint{{X: middle[0] + by[0], Y: middle[1] + by[1]}})
	}
	send("touchEnd", []*input.TouchPoint{})
}

// tap taps the center of an element.
func tap(tab *browsertest.Tab, selector string) { touch(tab, selector, [2]float64{}) }

// drag presses the mouse button on the center of an element, moves the mouse, and releases the
// button.
func drag(tab *browsertest.Tab, selector string, by [2]float64) {
	middle := center(tab, selector)
	send := func(kind input.DispatchMouseEventType, part float64, buttons int64) {
		browsertest.Call(tab, input.DispatchMouseEvent, input.DispatchMouseEventParams{
			Type: kind, X: middle[0] + part*by[0], Y: middle[1] + part*by[1], Button: "left", Buttons: buttons, ClickCount: 1,
		})
	}
	send("mousePressed", 0, 1)
	send("mouseMoved", 0.5, 1)
	send("mouseMoved", 1, 1)
	send("mouseReleased", 1, 0)
}

// click clicks the button or link with the given label.
func click(tab *browsertest.Tab, text string) {
	find := fmt.Sprintf(`document.body && [...document.querySelectorAll("main button, main a")].find((b) => b.innerText === %q && !b.disabled)`, text)
	tab.Wait(find)
	browsertest.Eval[bool](tab, "("+find+".click(), true)")
}

// fill writes a text into the first input of the page.
func fill(tab *browsertest.Tab, text string) {
	tab.Wait(`document.querySelector("main input")`)
	browsertest.Eval[bool](tab, fmt.Sprintf(`(document.querySelector("main input").value = %q, true)`, text))
}

// confirm waits for a dialog with the given title, and presses Enter for its first button.
func confirm(tab *browsertest.Tab, title string) {
	tab.Wait(fmt.Sprintf(`document.querySelector("dialog[open] h2")?.innerText === %q && document.activeElement.matches("dialog .primary")`, title))
	tab.Press(kb.Enter)
	tab.Wait(`!document.querySelector("dialog")`)
}

// before makes every page run a script before its own scripts.
func before(tab *browsertest.Tab, script string) {
	browsertest.Call(tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
}

// rewriting returns a script that passes what the page reads from addresses with the given part through a
// function: each record of a stream, and the body of any other response.
func rewriting(part, function string) string {
	return fmt.Sprintf(`
{
	const [original, rewrite] = [window.fetch, %[2]s];
	window.fetch = async (...request) => {
		const response = await original(...request);
		if (!String(request[0]).includes(%[1]q) || !response.body) return response;
		let rest = "";
		const rewritten = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new TransformStream({
			transform(text, out) {
				const records = (rest + text).split("\n\n");
				rest = records.pop();
				for (const r of records) out.enqueue(rewrite(r) + "\n\n");
			},
			flush: (out) => rest && out.enqueue(rewrite(rest)),
		})).pipeThrough(new TextEncoderStream());
		return new Response(rewritten, {status: response.status, headers: response.headers});
	};
}`, part, function)
}

// changing returns a script that runs a statement on each response, got, of a method that the page calls.
func changing(method, statement string) string {
	return rewriting(method, "(text) => { const got = JSON.parse(text); "+statement+"; return JSON.stringify(got); }")
}

// block makes a tab fail to load the files that match a pattern.
func block(tab *browsertest.Tab, pattern string) {
	browsertest.Call(tab, network.SetBlockedURLs, network.SetBlockedURLsParams{
		URLPatterns: []*network.BlockPattern{{URLPattern: pattern, Block: true}},
	})
}
