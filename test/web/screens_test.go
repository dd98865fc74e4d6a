package web

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	browsertest "github.com/gridstand/gridstand/internal/testkit/browser"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
)

var update = flag.Bool("update", false, "update the golden screens of TestScreens_long")

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

// blocks returns the mean colors of a picture's blocks, rounded so that files are small.
func blocks(t testing.TB, data []byte) *image.RGBA {
	t.Helper()
	const step = 4
	decoded, err := png.Decode(bytes.NewReader(data))
	require.NoError(t, err)
	size := decoded.Bounds().Size()
	screen := image.NewRGBA(image.Rect(0, 0, size.X, size.Y))
	draw.Draw(screen, screen.Rect, decoded, decoded.Bounds().Min, draw.Src)
	small := image.NewRGBA(image.Rect(0, 0, size.X/blockSize, size.Y/blockSize))
	for y := range small.Rect.Dy() {
		for x := range small.Rect.Dx() {
			var sum [4]int
			for row := range blockSize {
				start := screen.PixOffset(x*blockSize, y*blockSize+row)
				for i, value := range screen.Pix[start : start+4*blockSize] {
					sum[i%4] += int(value)
				}
			}
			for channel, s := range sum {
				small.Pix[small.PixOffset(x, y)+channel] = uint8(min((s/(blockSize*blockSize)+step/2)/step*step, 255))
			}
		}
	}
	return small
}

// differing returns the number of blocks in which two screens of the same size differ.
func differing(t testing.TB, a, b *image.RGBA) int {
	t.Helper()
	require.Equal(t, a.Rect, b.Rect)
	n := 0
	for i := 0; i < len(a.Pix); i += 4 {
		for channel := range 3 {
			if d := int(a.Pix[i+channel]) - int(b.Pix[i+channel]); max(d, -d) > blockLimit {
				n++
				break
			}
		}
	}
	return n
}

// differ reports whether a screen with that many differing blocks counts as different.
func differ(s *image.RGBA, blocks int) bool { return blocks*shareLimit > s.Rect.Dx()*s.Rect.Dy() }

// accepted returns a page's golden screen.
func accepted(t testing.TB, name string) *image.RGBA {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", name+".png"))
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	decoded, err := png.Decode(file)
	require.NoError(t, err)
	s := image.NewRGBA(decoded.Bounds())
	draw.Draw(s, s.Rect, decoded, s.Rect.Min, draw.Src)
	return s
}

// compare compares the screen of a tab with the golden one. With -update, it updates the
// golden screen instead.
func compare(t *testing.T, tab *browsertest.Tab, name string) {
	t.Helper()
	got := screen(t, tab)
	file := filepath.Join("testdata", name+".png")
	if *update {
		var out bytes.Buffer
		require.NoError(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, got))
		require.NoError(t, os.WriteFile(file, out.Bytes(), 0o644))
		return
	}
	n := differing(t, accepted(t, name), got)
	assert.False(t, differ(got, n), "%s differs in %d of %d blocks; run make golden to accept it", file, n, len(got.Pix)/4)
}

// screen returns the blocks of a tab's screen once the screen stops changing. It replaces the
// server's port, which differs between runs.
func screen(t testing.TB, tab *browsertest.Tab) *image.RGBA {
	t.Helper()
	browsertest.Eval[bool](tab, `(async () => {
		for (const e of document.querySelectorAll("code")) e.textContent = e.textContent.replace(/test:\d+/, "test:2048");
		await document.fonts.ready;
		for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
		return true;
	})()`)
	return blocks(t, tab.Screen())
}

// screenDevices lists the windows whose screens are compared. The phone is tall, so that its
// screens show most of each page.
var screenDevices = map[string]browsertest.Device{
	"phone-light":   {Width: 360, Height: 1400, Touch: true, Still: true},
	"phone-dark":    {Width: 360, Height: 1400, Touch: true, Dark: true, Still: true},
	"desktop-light": {Width: 1440, Height: 900, Still: true},
	"desktop-dark":  {Width: 1440, Height: 900, Dark: true, Still: true},
}

// fixedPage is the address of a page, with an expression that reports whether the page is complete,
// a key to press once it is, and an expression to wait for after that. The key "click" means a
// click on the page's first button.
type fixedPage struct{ name, path, ready, key, then string }

const offer = `document.querySelector(".offer button")`

// fixedChallenges returns the pages of challenges.
func fixedChallenges() []fixedPage {
	const boards = `[...document.querySelectorAll(".wall .b48")].every((b) => b.querySelector(".tile")) && document.querySelector(".wall li")`
	return []fixedPage{
		{name: "daily", path: "/daily", ready: offer + " && " + says("1 player-0")},
		{name: "daily-result", path: "/c/done" + filling, ready: offer, key: kb.Enter, then: says("23rd of 87, better than 74%, 5 days in a row")},
		{name: "rematch", path: "/c/beat" + filling, ready: offer, key: kb.Enter, then: says("to beat")},
		{name: "race-new", path: "/race", ready: says("6×6")},
		{name: "race-invitation", path: "/c/wait" + filling, ready: says("greedy")},
		{name: "race-roster", path: "/c/wait" + filling, ready: says("greedy"), key: "click", then: `document.querySelector("option")`},
		{name: "race-countdown", path: "/c/soon" + filling, ready: `document.querySelector(".counter")?.textContent === "3"`},
		{name: "race-watch", path: "/c/runs" + filling, ready: boards},
		{name: "race-play", path: "/c/join" + filling, ready: says("greedy"), key: "click", then: boards + " && " + says("to beat")},
		{name: "race-over", path: "/c/ends" + filling, ready: boards},
	}
}

// fixedPages returns all pages whose screens are compared.
func fixedPages(f *fixture) []fixedPage {
	return append(fixedChallenges(), []fixedPage{
		{name: "tv", path: "/", ready: says("Daily game") + ` && document.querySelector(".games li") && document.querySelector(".best li")`},
		{name: "keys", path: "/account", ready: `document.querySelector("main input")`, key: "?", then: `document.querySelector("dialog")`},
		{name: "game", path: "/g/" + f.Live[0], ready: says("3 watching")},
		{name: "tribolo", path: "/g/" + f.Live[1], ready: says("3 watching")},
		{name: "over", path: "/g/" + f.Over[0], ready: says("Verified in this browser") + " && " + says("Beat this score")},
		{name: "replay", path: "/g/" + f.Over[0], ready: says("Verified in this browser") + " && " + says("Beat this score"), key: kb.Home, then: says("move 0 of")},
		{name: "variants", path: "/play", ready: says("Tribolo")},
		{name: "start", path: "/play/classic", ready: offer},
		{name: "play", path: "/play/classic", ready: offer, key: kb.Enter, then: says("Arrow keys or swipes")},
		{name: "play-tribolo", path: "/play/tribolo", ready: offer, key: kb.Enter, then: says("Go to a marked cell")},
		{name: "top", path: "/top", ready: `document.querySelector("tbody tr") && document.querySelector("[aria-label=Variants] a")`},
		{name: "player", path: "/p/ada", ready: `document.querySelectorAll(".games li").length === 2 && ` + says("Account created on")},
		{name: "account", path: "/account", ready: `document.querySelector("main input")`},
		{name: "missing", path: "/nothing", ready: says("Page not found")},
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

// Ensure that all pages look the same as before, in every window and color scheme. Run make
// golden to accept changes.
func TestScreens_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t)
	f := newFixture(t)
	script := f.script(t)
	browsertest.Open(t, s.address) // skips the test if there is no browser
	for name, device := range screenDevices {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := browsertest.Open(t, s.address)
			before(tab, script)
			tab.Use(device)
			for _, p := range fixedPages(f) {
				p.show(tab)
				compare(t, tab, p.name+"-"+name)
			}
		})
	}
}

// Ensure that TestScreens_long detects real changes and ignores insignificant ones.
func TestScreens_Differ_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t)
	f := newFixture(t)
	tab := browsertest.Open(t, s.address)
	before(tab, f.script(t))
	tab.Use(screenDevices["desktop-light"])
	pages := fixedPages(f)
	p := pages[slices.IndexFunc(pages, func(p fixedPage) bool { return p.name == "over" })]
	want := accepted(t, "over-desktop-light")
	look := func(css string) int {
		t.Helper()
		p.show(tab)
		browsertest.Eval[bool](tab, fmt.Sprintf("(restyle(%q), true)", css))
		return differing(t, want, screen(t, tab))
	}
	for name, css := range map[string]string{
		"no cards":         ".cards { visibility: hidden; }",
		"no moves":         ".moves { visibility: hidden; }",
		"no bar":           ".bar { visibility: hidden; }",
		"a shifted column": ".game > :last-child { translate: 12px; }",
		"a shifted board":  ".play { translate: 0 6px; }",
		"colors of tiles":  ".tile b { filter: hue-rotate(60deg); }",
		"a color of text":  "body { color: silver; }",
		"a background":     "body { background: lightyellow; }",
		"smaller letters":  "body { font-size: 13px; }",
	} {
		n := look(css)
		t.Logf("%s: %d blocks", name, n)
		assert.True(t, differ(want, n), "%s changes only %d blocks", name, n)
	}
	for name, css := range map[string]string{
		"nothing":                "",
		"other edges of letters": "* { text-rendering: geometricPrecision; -webkit-text-stroke: 0.2px; }",
	} {
		n := look(css)
		t.Logf("%s: %d blocks", name, n)
		assert.False(t, differ(want, n), "%s changes %d blocks", name, n)
	}
}
