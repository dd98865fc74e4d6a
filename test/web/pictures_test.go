package web

import (
	"bytes"
	"context"
	"flag"
	"image"
	"image/color"
	"image/color/palette"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	browsertest "github.com/gridstand/gridstand/internal/testkit/browser"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

var pictures = flag.String("pictures", "", "draw the pictures of all pages into this `folder`")

// devices lists the windows in which pages are drawn.
var devices = map[string]browsertest.Device{
	"phone-light":   {Width: 360, Height: 740, Touch: true},
	"phone-dark":    {Width: 360, Height: 740, Touch: true, Dark: true},
	"desktop-light": {Width: 1440, Height: 900},
	"desktop-dark":  {Width: 1440, Height: 900, Dark: true},
}

// shownPage is the address of a page, with an expression that reports whether the page is
// complete.
type shownPage struct{ name, path, ready string }

// showcase starts a server with a game of each kind. It returns the server, a game that only a bot
// plays, and the pages to show. Bots play such a game only while it is watched.
func showcase(t testing.TB) (s *testServer, bots *pb.Game, pages []shownPage) {
	t.Helper()
	s = start(t, func(c *server.Config) { c.BotPace = 20 * time.Millisecond })
	ada := s.account("ada")
	bots = s.create(ada, "classic", bot("expectimax"))
	tribolo := s.create(ada, "tribolo", bot("greedy"), bot("minimax"), bot("original"))
	over := s.create(ada, "3x3")
	for over.GetResult() == nil {
		s.move(ada, over)
	}
	return s, bots, []shownPage{
		{"tv", "/", `document.querySelector(".board svg, .board .tile") && document.querySelector(".games li")`},
		{"game", "/g/" + bots.GetId(), `document.querySelector(".tile")`},
		{"tribolo", "/g/" + tribolo.GetId(), `document.querySelector(".tri .owner-2")`},
		{"replay", "/g/" + over.GetId(), says("Verified in this browser") + " && " + says("Beat this score")},
		{"variants", "/play", says("Tribolo")},
		{"start", "/play/classic", `document.querySelector(".offer button")`},
		{"daily", "/daily", `document.querySelector(".offer button")`},
		{"race-new", "/race", says("6×6")},
		{"race", "/c/" + s.race(ada, "classic", time.Minute), says("ada not ready")},
		{"top", "/top/3x3#all", `document.querySelector("tbody tr") && document.querySelector("[aria-label=Variants] a")`},
		{"no-scores", "/top/vt100", says("No scores yet")},
		{"player", "/p/ada", `document.querySelector(".gamerow")`},
		{"no-player", "/p/nobody", `document.querySelector("[role=alert]")`},
		{"account", "/account", `document.querySelector("main input")`},
		{"missing", "/nothing", says("Page not found")},
	}
}

// Ensure that no page is wider than its window. With -pictures, the test also draws all
// pages.
func TestPages_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s, bots, pages := showcase(t)
	if *pictures != "" { // wait for a board with many tiles
		s.watchUntil(t.Context(), bots, func(g *pb.Game) bool { return g.GetPosition().GetMoveCount() > 900 })
	}
	for name, device := range devices {
		tab := browsertest.Open(t, s.address)
		device.Still = true
		tab.Use(device)
		for _, p := range pages {
			tab.Visit(p.path)
			tab.Wait(p.ready)
			width := browsertest.Eval[int64](tab, "document.documentElement.scrollWidth")
			require.LessOrEqual(t, width, device.Width, "%s on %s is wider than its window", p.name, name)
			s.draw(tab, p.name+"-"+name)
		}
		begin(tab, "/play/classic")
		for range 60 {
			for _, key := range []string{kb.ArrowLeft, kb.ArrowDown, kb.ArrowRight} {
				if *pictures != "" {
					tab.Press(key)
				}
			}
		}
		s.draw(tab, "play-"+name)
	}
	drawBeside(t, "phone", "tv-phone-dark", "play-phone-light", "replay-phone-dark")
}

func bot(name string) *pb.SeatRequest {
	return &pb.SeatRequest{Occupant: &pb.SeatRequest_Bot{Bot: name}}
}

// watchUntil watches a game until the given condition is true. Games between bots run only while
// they are watched.
func (s *testServer) watchUntil(ctx context.Context, g *pb.Game, is func(*pb.Game) bool) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := s.games.Watch(ctx, &pb.WatchRequest{GameId: g.GetId()})
	require.NoError(s.t, err)
	for !is(s.game(g.GetId())) {
		_, err := stream.Recv()
		require.NoError(s.t, err)
	}
}

// draw saves a picture of the window in 256 colors if -pictures names a folder.
func (s *testServer) draw(tab *browsertest.Tab, name string) {
	s.t.Helper()
	if *pictures == "" {
		return
	}
	screen, err := png.Decode(bytes.NewReader(tab.Screen()))
	require.NoError(s.t, err)
	write(s.t, screen, name)
}

// drawBeside saves a picture of several other pictures side by side if -pictures names a
// folder.
func drawBeside(t testing.TB, name string, parts ...string) {
	t.Helper()
	if *pictures == "" {
		return
	}
	const gap = 24
	var all *image.RGBA
	for i, part := range parts {
		file, err := os.ReadFile(filepath.Join(*pictures, part+".png"))
		require.NoError(t, err)
		one, err := png.Decode(bytes.NewReader(file))
		require.NoError(t, err)
		size := one.Bounds().Size()
		if all == nil {
			all = image.NewRGBA(image.Rect(0, 0, len(parts)*(size.X+gap)-gap, size.Y))
		}
		draw.Draw(all, image.Rectangle{Max: size}.Add(image.Pt(i*(size.X+gap), 0)), one, image.Point{}, draw.Src)
	}
	write(t, all, name)
}

// write saves a picture in 256 colors.
func write(t testing.TB, screen image.Image, name string) {
	t.Helper()
	small := image.NewPaletted(screen.Bounds(), colors(screen))
	draw.Draw(small, screen.Bounds(), screen, screen.Bounds().Min, draw.Src)
	var out bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, small))
	require.NoError(t, os.WriteFile(filepath.Join(*pictures, name+".png"), out.Bytes(), 0o644))
}

// spare holds colors for the less frequent parts of a picture.
var spare = palette.WebSafe[:40]

// colors returns the most frequent colors of a picture and the spare colors.
func colors(p image.Image) color.Palette {
	count := map[color.Color]int{}
	for y := p.Bounds().Min.Y; y < p.Bounds().Max.Y; y++ {
		for x := p.Bounds().Min.X; x < p.Bounds().Max.X; x++ {
			count[p.At(x, y)]++
		}
	}
	all := slices.SortedFunc(maps.Keys(count), func(a, b color.Color) int { return count[b] - count[a] })
	return append(slices.Clip(all[:min(len(all), 256-len(spare))]), spare...)
}
