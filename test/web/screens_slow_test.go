//go:build slow

package web

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/image/draw"

	"github.com/gridstand/gridstand/test/web/browsertest"
)

var update = flag.Bool("update", false, "record the screens of TestScreens")

// Screens are compared by blocks, the mean colors of squares of this size. A block differs if a
// color channel differs by more than blockLimit, and a screen differs if more than one in
// shareLimit blocks differs. Other versions of Chromium render letter edges differently, but the
// differences stay below these limits. The layout is always the same, because the test provides the
// font.
const (
	blockSize  = 8
	blockLimit = 20
	shareLimit = 400
)

// blocks returns the mean colors of a picture's blocks.
func blocks(picture image.Image) *image.RGBA {
	size := picture.Bounds().Size().Div(blockSize)
	small := image.NewRGBA(image.Rectangle{Max: size})
	mean := draw.Kernel{Support: 0.5, At: func(distance float64) float64 {
		if distance < 0.5 {
			return 1
		}
		return 0
	}}
	mean.Scale(small, small.Rect, picture, image.Rectangle{Max: size.Mul(blockSize)}, draw.Src, nil)
	return small
}

// compare compares the screen of a tab with the recorded one, once the screen stops changing. With
// -update, it records the screen instead. It replaces the server's port, which differs between runs.
func compare(t *testing.T, tab *browsertest.Tab, name string) {
	t.Helper()
	browsertest.Eval[bool](tab, `(async () => {
		for (const e of document.querySelectorAll("code")) e.textContent = e.textContent.replace(/test:\d+/, "test:2048");
		await document.fonts.ready;
		for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
		return true;
	})()`)
	got, file := blocks(decode(t, tab.Screen())), filepath.Join("testdata", name+".png")
	if *update {
		save(t, got, file)
		return
	}
	recorded, err := os.ReadFile(file)
	require.NoError(t, err)
	want := image.NewRGBA(got.Rect)
	draw.Copy(want, image.Point{}, decode(t, recorded), want.Rect, draw.Src, nil)
	n := 0
	for i := 0; i < len(want.Pix); i += 4 {
		for channel := i; channel < i+3; channel++ {
			if d := int(want.Pix[channel]) - int(got.Pix[channel]); max(d, -d) > blockLimit {
				n++
				break
			}
		}
	}
	assert.LessOrEqual(t, n*shareLimit, len(want.Pix)/4, "%s differs in %d blocks; run make golden to accept it", file, n)
}

// decode reads a PNG.
func decode(t testing.TB, file []byte) image.Image {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(file))
	require.NoError(t, err)
	return picture
}

// save writes a picture into a file.
func save(t testing.TB, picture image.Image, file string) {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, picture))
	require.NoError(t, os.WriteFile(file, out.Bytes(), 0o644))
}

// fixedPage is the address of a page, with an expression that reports whether the page is complete,
// a key to press once it is, and an expression to wait for after that. The key "click" means a
// click on the page's first button.
type fixedPage struct {
	name, path, ready, key, then string
	unrecorded                   bool // whether its screen is like that of another page
}

// fixedChallenges returns the pages of challenges.
func fixedChallenges() []fixedPage {
	const boards = `[...document.querySelectorAll(".wall .b48")].every((b) => b.querySelector(".tile")) && document.querySelector(".wall li")`
	return []fixedPage{
		{name: "daily", path: "/daily", ready: offer + " && " + says("1 player-0")},
		{name: "daily-result", path: "/c/done" + filling, ready: offer, key: kb.Enter, then: says("23rd of 87, better than 74%") + " && " + says("play classic for 6 days in a row")},
		{name: "rematch", path: "/c/beat" + filling, ready: offer, key: kb.Enter, then: says("to beat"), unrecorded: true},
		{name: "race-new", path: "/race", ready: says("6x6")},
		{name: "race-invitation", path: "/c/wait" + filling, ready: says("greedy")},
		{name: "race-countdown", path: "/c/soon" + filling, ready: `document.querySelector(".counter")?.textContent === "3"`},
		{name: "race-watch", path: "/c/runs" + filling, ready: boards},
		{name: "race-play", path: "/c/join" + filling, ready: says("greedy"), key: "click", then: boards + " && " + says("bot greedy")},
		{name: "race-over", path: "/c/ends" + filling, ready: boards},
	}
}

// fixedPages returns all pages whose screens are compared.
func fixedPages(f *fixture) []fixedPage {
	return append(fixedChallenges(), []fixedPage{
		{name: "tv", path: "/", ready: says("Daily game") + ` && document.querySelector(".wall li")`},
		{name: "keys", path: "/account", ready: `document.querySelector("main input")`, key: "?", then: `document.querySelector("dialog")`, unrecorded: true},
		{name: "game", path: "/g/" + f.Live[0], ready: says("3 watching")},
		{name: "tribolo", path: "/g/" + f.Live[1], ready: says("3 watching")},
		{name: "over", path: "/g/" + f.Over[0], ready: says("Verified in this browser") + " && " + says("Beat this score")},
		{name: "replay", path: "/g/" + f.Over[0], ready: says("Verified in this browser") + " && " + says("Beat this score"), key: kb.Home, then: says("move 0 of"), unrecorded: true},
		{name: "variants", path: "/play", ready: says("tribolo")},
		{name: "play", path: "/play/classic", ready: offer, key: kb.Enter, then: says("Arrow keys or swipes")},
		{name: "play-tribolo", path: "/play/tribolo", ready: offer, key: kb.Enter, then: says("Go to a marked cell"), unrecorded: true},
		{name: "top", path: "/top", ready: `document.querySelector("tbody tr") && document.querySelector("[aria-label=Variants] a")`},
		{name: "player", path: "/p/ada", ready: `document.querySelectorAll(".wall li").length === 2 && ` + says("Streak: 12 days")},
		{name: "player-new", path: "/p/new", ready: says("new has not played yet"), unrecorded: true},
		{name: "account", path: "/account", ready: `document.querySelector("main input")`},
	}...)
}

// show opens a page and waits until it is complete.
func (p fixedPage) show(tab *browsertest.Tab) {
	tab.Visit(p.path)
	tab.Wait(p.ready)
	if p.key != "" {
		if p.key == "click" {
			browsertest.Eval[bool](tab, `(document.querySelector("main button").click(), true)`)
		} else {
			tab.Press(p.key)
		}
		tab.Wait(p.then)
	}
}

// devices lists the windows in which all pages are shown: both sizes and both themes. The phone is tall,
// so that its screens show most of each page.
var devices = map[string]browsertest.Device{
	"phone-dark":    {Width: 360, Height: 1400, Touch: true, Dark: true, Still: true},
	"desktop-light": {Width: 1440, Height: 900, Still: true},
}

// eachPage shows all pages in all windows.
func eachPage(t *testing.T, visit func(t *testing.T, tab *browsertest.Tab, p fixedPage, device string)) {
	t.Helper()
	s, f := start(t), newFixture(t)
	for name, device := range devices {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := browsertest.Open(t, s.address)
			before(tab, f.script(t))
			tab.Use(device)
			for _, p := range fixedPages(f) {
				p.show(tab)
				visit(t, tab, p, name)
			}
		})
	}
}

// windows are further sizes of windows, which every board, name and heading must fit.
var windows = [][2]int64{{320, 320}, {844, 390}, {800, 600}, {640, 480}, {859, 900}, {390, 844}, {1280, 900}}

// cut is an expression for the boards that a window cannot show whole, at the top of the page if a board is
// a game's first, for names of which it shows only the beginning, for headings in columns of few letters, and
// the width of a page that is wider than its window, also if the rival in a race has a long name.
const cut = `(() => {
	const [page, boards] = [document.documentElement, [...document.querySelectorAll("main .board")]];
	for (const rival of document.querySelectorAll(".cards .cut")) rival.textContent = "a-name-of-24-characters.";
	scrollTo(0, 0);
	const found = boards.map((b, i) => {
		if (i > 0 || b.closest(".wall, .tv")) b.scrollIntoView({block: "nearest"});
		const r = b.getBoundingClientRect();
		const whole = Math.min(r.left, r.top, innerWidth - r.right, innerHeight - r.bottom) > -1 && r.width >= 60;
		return whole ? "" : ["left", "top", "width", "height"].map((side) => Math.round(r[side])).join(" ");
	});
	scrollTo(0, 0);
	const names = [...document.querySelectorAll("main b")];
	found.push(...names.filter((b) => b.clientWidth && b.scrollWidth > b.clientWidth + 1).map((b) => b.innerText));
	const headings = [...document.querySelectorAll("main h1")];
	found.push(...headings.filter((h) => h.clientWidth > 1 && h.clientWidth < 110).map((h) => h.innerText));
	return found.filter(Boolean).join() + (page.scrollWidth > innerWidth ? " page " + page.scrollWidth : "");
})()`

// moments maps the names of pages to selectors of what they show moments on.
var moments = map[string]string{"play": ".play .board", "race-watch": ":has(> .wall)"}

// hidden is the format of an expression for the number of cells whose numbers a moment on an element hides, and
// of lines of facts, given the element's selector.
const hidden = `(() => {
	const [play, note] = [document.querySelector(%q), document.createElement("p")];
	note.className = "moment";
	note.textContent = "a-name-of-24-characters. overtakes you";
	play.append(note);
	const over = note.getBoundingClientRect();
	const rects = (of) => [...of].map((e) => e.getBoundingClientRect());
	const cells = rects(play.querySelectorAll("i")).filter((r) =>
		(r.top + r.bottom) / 2 < over.bottom && (r.left + r.right) / 2 > over.left && (r.left + r.right) / 2 < over.right);
	const lines = rects(document.querySelectorAll(".facts")).filter((r) => r.bottom > over.top + 4 && r.top < over.bottom);
	note.remove();
	return cells.length + lines.length;
})()`

// Ensure that all pages look the same as before, that none is wider than its window, also if the viewer
// has chosen larger letters, and that every board fits its window. Run make golden to accept changes.
func TestScreens(t *testing.T) {
	t.Parallel()
	eachPage(t, func(t *testing.T, tab *browsertest.Tab, p fixedPage, device string) {
		width := browsertest.Eval[int64](tab, "document.documentElement.scrollWidth")
		assert.LessOrEqual(t, width, devices[device].Width, "%s is wider than its window", p.name)
		if !p.unrecorded {
			compare(t, tab, p.name+"-"+device)
		}
		if board := moments[p.name]; board != "" {
			covered := browsertest.Eval[int](tab, fmt.Sprintf(hidden, board))
			assert.Zero(t, covered, "%s: a moment hides what the viewer needs", p.name)
		}
		for _, size := range windows {
			small := devices[device]
			small.Width, small.Height = size[0], size[1]
			tab.Use(small)
			assert.Empty(t, browsertest.Eval[string](tab, cut), "%s at %v", p.name, size)
		}
		tab.Use(devices[device])
		letters := func(size int64) {
			browsertest.Call(tab, page.SetFontSizes, page.SetFontSizesParams{FontSizes: &page.FontSizes{Standard: size}})
			tab.Wait(fmt.Sprintf(`getComputedStyle(document.body).fontSize === "%dpx"`, size))
		}
		letters(32)
		limit := devices[device].Width
		if p.name == "top" {
			limit += 100 // its table has four columns
		}
		width = browsertest.Eval[int64](tab, "document.documentElement.scrollWidth")
		assert.LessOrEqual(t, width, limit, "%s in letters of twice the size", p.name)
		letters(16)
	})
}
