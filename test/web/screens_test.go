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
)

var update = flag.Bool("update", false, "write the screens that TestScreens compares with")

// Screens are compared by blocks: the mean color of each square of this size. A block
// differs if a channel does by more than blockLimit, and a screen if more than one block
// in shareLimit does. Other versions of Chromium draw letters with other edges, which is
// less; the layout is the same, because the test brings its font.
const (
	blockSize  = 8
	blockLimit = 20
	shareLimit = 400
)

// blocks returns the mean colors of a picture's blocks, in steps that make small files.
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

// differing counts the blocks in which two screens of the same size differ.
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

// differ reports whether screens differ by so many blocks.
func differ(s *image.RGBA, blocks int) bool { return blocks*shareLimit > s.Rect.Dx()*s.Rect.Dy() }

// accepted returns the screen that a page should have.
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

// compare compares the screen of a tab with the accepted one, or accepts it with -update.
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
	assert.False(t, differ(got, n), "%s differs in %d of %d blocks; make golden accepts it", file, n, len(got.Pix)/4)
}

// screen returns the blocks of what a tab shows, once it shows nothing new. The port of the
// server, which is another one each time, is replaced.
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

// screenDevices are those whose screens are compared. The telephone is a long one, so that
// its screens show most of each page.
var screenDevices = map[string]browsertest.Device{
	"phone-light":   {Width: 360, Height: 1400, Touch: true, Still: true},
	"phone-dark":    {Width: 360, Height: 1400, Touch: true, Dark: true, Still: true},
	"desktop-light": {Width: 1440, Height: 900, Still: true},
	"desktop-dark":  {Width: 1440, Height: 900, Dark: true, Still: true},
}

// fixedPage is an address, when its page is complete, and a key to press then.
type fixedPage struct{ name, path, ready, key, then string }

// fixedPages are those whose screens are compared.
func fixedPages(f *fixture) []fixedPage {
	const offer = `document.querySelector(".offer button")`
	return []fixedPage{
		{name: "tv", path: "/", ready: `document.querySelector(".games li") && document.querySelector(".best li")`},
		{name: "keys", path: "/account", ready: `document.querySelector("main input")`, key: "?", then: `document.querySelector("dialog")`},
		{name: "game", path: "/g/" + f.Live[0], ready: says("3 watching")},
		{name: "tribolo", path: "/g/" + f.Live[1], ready: says("3 watching")},
		{name: "over", path: "/g/" + f.Over[0], ready: says("Verified in this browser")},
		{name: "replay", path: "/g/" + f.Over[0], ready: says("Verified in this browser"), key: kb.Home, then: says("move 0 of")},
		{name: "variants", path: "/play", ready: says("Tribolo")},
		{name: "start", path: "/play/classic", ready: offer},
		{name: "play", path: "/play/classic", ready: offer, key: kb.Enter, then: says("Arrow keys or swipes")},
		{name: "play-tribolo", path: "/play/tribolo", ready: offer, key: kb.Enter, then: says("Go to a marked cell")},
		{name: "top", path: "/top", ready: `document.querySelector("tbody tr") && document.querySelector("[aria-label=Variants] a")`},
		{name: "player", path: "/p/ada", ready: `document.querySelectorAll(".games li").length === 2`},
		{name: "account", path: "/account", ready: `document.querySelector("main input")`},
		{name: "missing", path: "/nothing", ready: says("Page not found")},
	}
}

// show opens a page, and waits until it is complete.
func (p fixedPage) show(tab *browsertest.Tab) {
	tab.Visit(p.path)
	browsertest.Eval[bool](tab, `(() => { try { localStorage.clear(); } catch {} return true; })()`)
	tab.Wait(p.ready)
	if p.key != "" {
		tab.Press(p.key)
		tab.Wait(p.then)
	}
}

// Ensure that all pages look as they did, in every window and color. Make golden accepts
// how they look now.
func TestScreens(t *testing.T) {
	t.Parallel()
	s := start(t)
	f := newFixture(t)
	script := f.script(t)
	browsertest.Open(t, s.address) // skips the test
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

// Ensure that TestScreens would see what is wrong, and only that.
func TestScreens_Differ(t *testing.T) {
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
		"a ground":         "body { background: lightyellow; }",
		"smaller letters":  "body { font-size: 13px; }",
	} {
		n := look(css)
		t.Logf("%s: %d blocks", name, n)
		assert.True(t, differ(want, n), "%s makes only %d blocks different", name, n)
	}
	for name, css := range map[string]string{
		"nothing":                "",
		"other edges of letters": "* { text-rendering: geometricPrecision; -webkit-text-stroke: 0.2px; }",
	} {
		n := look(css)
		t.Logf("%s: %d blocks", name, n)
		assert.False(t, differ(want, n), "%s makes %d blocks different", name, n)
	}
}
