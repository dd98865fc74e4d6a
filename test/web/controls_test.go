package web

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/variants"
	browsertest "github.com/gridstand/gridstand/internal/testkit/browser"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// drag presses the mouse button on the center of an element, moves the mouse, and releases the
// button.
func drag(tab *browsertest.Tab, selector string, dx, dy float64) {
	middle := center(tab, selector)
	send := func(kind input.DispatchMouseEventType, part float64, buttons int64) {
		browsertest.Call(tab, input.DispatchMouseEvent, input.DispatchMouseEventParams{
			Type: kind, X: middle[0] + part*dx, Y: middle[1] + part*dy, Button: "left", Buttons: buttons, ClickCount: 1,
		})
	}
	send("mousePressed", 0, 1)
	send("mouseMoved", 0.5, 1)
	send("mouseMoved", 1, 1)
	send("mouseReleased", 1, 0)
}

// confirm waits for a dialog with the given title, and presses Enter for its first button.
func confirm(tab *browsertest.Tab, title string) {
	tab.Wait(fmt.Sprintf(`document.querySelector("dialog[open] h2")?.innerText === %q && document.activeElement.matches("dialog .primary")`, title))
	tab.Press(kb.Enter)
	tab.Wait(`!document.querySelector("dialog")`)
}

// eventReader reads the events of a game from the server.
type eventReader struct {
	t      testing.TB
	stream grpc.ServerStreamingClient[pb.WatchResponse]
}

// eventsAfter returns a reader of the events after the given version of a game.
func (s *testServer) eventsAfter(g *pb.Game) *eventReader {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), browsertest.Patience)
	s.t.Cleanup(cancel)
	version := g.GetVersion()
	stream, err := s.games.Watch(ctx, &pb.WatchRequest{GameId: g.GetId(), AfterVersion: &version, EveryEvent: true})
	require.NoError(s.t, err)
	return &eventReader{s.t, stream}
}

// next waits for the next event.
func (r *eventReader) next() *pb.Event {
	r.t.Helper()
	for {
		update, err := r.stream.Recv()
		require.NoError(r.t, err)
		if e := update.GetEvent(); e != nil {
			return e
		}
	}
}

// swipes are the distances in pixels of a swipe on the board, by direction.
var swipes = map[pb.Direction][2]float64{
	pb.Direction_DIRECTION_UP: {0, -60}, pb.Direction_DIRECTION_DOWN: {0, 60},
	pb.Direction_DIRECTION_LEFT: {-60, 0}, pb.Direction_DIRECTION_RIGHT: {60, 0},
}

// Ensure that every variant of 2048 can be played with arrow keys, letters, the mouse and touch,
// and that the page shows the server's board after each move.
func TestPlay_Variants_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t)
	press := func(keys map[pb.Direction]string) func(*browsertest.Tab, pb.Direction) {
		return func(tab *browsertest.Tab, d pb.Direction) { tab.Press(keys[d]) }
	}
	const up, down, left, right = pb.Direction_DIRECTION_UP, pb.Direction_DIRECTION_DOWN, pb.Direction_DIRECTION_LEFT, pb.Direction_DIRECTION_RIGHT
	ways := []func(*browsertest.Tab, pb.Direction){
		press(map[pb.Direction]string{up: kb.ArrowUp, down: kb.ArrowDown, left: kb.ArrowLeft, right: kb.ArrowRight}),
		press(map[pb.Direction]string{up: "w", down: "s", left: "a", right: "d"}),
		press(map[pb.Direction]string{up: "k", down: "j", left: "h", right: "l"}),
		func(tab *browsertest.Tab, d pb.Direction) { drag(tab, ".b48", swipes[d][0], swipes[d][1]) },
		func(tab *browsertest.Tab, d pb.Direction) { touch(tab, ".b48", swipes[d][0], swipes[d][1]) },
	}
	tab := browsertest.Open(t, s.address)
	tab.Use(browsertest.Device{Width: 1000, Height: 800, Touch: true})
	played := 0
	for _, v := range variants.All() {
		if v.Kind != game.Twenty48 {
			continue
		}
		played++
		tab.Visit("/play/" + v.ID)
		tab.Wait(`document.querySelector(".offer button")`)
		tab.Press(kb.Enter)
		tab.Wait(board + "?.querySelector('.tile')")
		listed, err := s.games.ListGames(t.Context(), &pb.ListGamesRequest{PlayerId: stored(t, tab).ID, Variant: v.ID})
		require.NoError(t, err)
		require.Len(t, listed.GetGames(), 1)
		g := s.game(listed.GetGames()[0].GetId())
		waitForBoard(tab, g.GetPosition())
		events := s.eventsAfter(g)
		position := g.GetPosition()
		for i, slide := range ways { // too few moves to end a game on any board
			legal := position.GetTwenty48().GetLegalMoves()
			d := legal[(played+i)%len(legal)]
			slide(tab, d)
			e := events.next()
			require.Equal(t, g.GetVersion()+int32(i)+1, e.GetVersion(), v.ID)
			require.Equal(t, d, e.GetMoved().GetDirection(), "%s, move %d", v.ID, i+1)
			position = e.GetPosition()
			waitForBoard(tab, position)
		}
	}
	assert.Equal(t, 7, played)
}

// Ensure that undo returns the page and the server to the previous position, and asks first if the
// game would become unranked.
func TestPlay_Undo(t *testing.T) {
	t.Parallel()
	s := start(t)
	tab := browsertest.Open(t, s.address)
	begin(tab, "/play/classic")
	g := s.newest(tab)
	events := s.eventsAfter(g)
	positions := []*pb.Position{g.GetPosition()}
	waitForBoard(tab, g.GetPosition())
	for i := range 3 {
		tab.Press(keyOf(positions[i].GetTwenty48().GetLegalMoves()[0]))
		positions = append(positions, events.next().GetPosition())
		waitForBoard(tab, positions[i+1])
	}
	require.True(t, s.game(g.GetId()).GetRanked())
	undone := func(to int) {
		t.Helper()
		e := events.next()
		require.NotNil(t, e.GetUndone())
		assert.Equal(t, positions[to].GetTwenty48().GetTiles(), e.GetPosition().GetTwenty48().GetTiles())
		assert.Equal(t, positions[to].GetScores(), e.GetPosition().GetScores())
		waitForBoard(tab, positions[to])
	}
	tab.Press("u")
	tab.Wait(says("This makes the game unranked."))
	confirm(tab, "Undo the last move?")
	undone(2)
	assert.False(t, s.game(g.GetId()).GetRanked())
	tab.Wait(says("unranked"))
	tab.Press("u")
	undone(1)
	click(tab, "Undo")
	undone(0)
	assert.False(t, browsertest.Eval[bool](tab, `!!document.querySelector("dialog")`), "an unranked game has nothing to lose")
	tab.Press(keyOf(positions[0].GetTwenty48().GetLegalMoves()[0]))
	moved := events.next()
	require.NotNil(t, moved.GetMoved())
	waitForBoard(tab, moved.GetPosition())
}

// Ensure that Tribolo can be played by touch on a phone.
func TestPlay_TriboloTouch_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t, func(c *server.Config) { c.BotPace = 0 })
	tab := browsertest.Open(t, s.address)
	tab.Use(browsertest.Device{Width: 360, Height: 640, Touch: true})
	tab.Visit("/play/tribolo")
	tab.Wait(`document.querySelector(".offer button")`)
	tap(tab, ".offer button")
	tab.Wait(`document.querySelector(".tri .legal")`)
	events := s.eventsAfter(s.newest(tab))
	tab.Wait(says("Your turn"))
	for range 3 {
		at := browsertest.Eval[int32](tab, `[...document.querySelectorAll(".tri rect:not(.ground)")].findIndex((r) => r.classList.contains("legal"))`)
		tap(tab, ".tri .legal")
		e := events.next()
		assert.Equal(t, []int32{0, at % 16, at / 16}, []int32{e.GetSeat(), e.GetMoved().GetCell().GetX(), e.GetMoved().GetCell().GetY()})
		for e.GetPosition().GetTurn() != 0 {
			e = events.next()
		}
		last := e.GetMoved().GetCell()
		tab.Wait(fmt.Sprintf(`document.querySelector(".tri").getAttribute("aria-label").endsWith("; last jump to %s,%d")`,
			strconv.FormatInt(int64(last.GetX()), 36), last.GetY()))
		tab.Wait(says("Your turn"))
	}
}

// Ensure that a player can bring an account to a browser by pasting its token, that a token of no
// account is refused with the reason, and that the browser then keeps the account it had.
func TestAccount_Paste_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t)
	ada, bob := playertest.New(t.Context(), t, s.conn, "ada"), playertest.New(t.Context(), t, s.conn, "bob")
	g := ada.Create(t, &pb.CreateGameRequest{Variant: "classic"})
	ada.Move(t, g)
	tab := browsertest.Open(t, s.address)
	const field = `document.querySelector("input[type=password]")`
	paste := func(token string) {
		t.Helper()
		tab.Wait(field)
		browsertest.Eval[bool](tab, "("+field+".focus(), "+field+".select(), true)")
		browsertest.Call(tab, input.InsertText, input.InsertTextParams{Text: token})
		click(tab, "Use this account")
	}
	const refused = `[...document.querySelectorAll("[role=alert]")].map((e) => e.innerText).join("") === "The token is not valid."`
	tab.Visit("/account")
	paste("ada")
	assert.True(t, browsertest.Eval[bool](tab, field+".validity.patternMismatch"))
	assert.False(t, tab.Asked("/gridstand.v1."), "the page sent a text that is no token")
	unknown := strings.Repeat("a", 26) + "." + strings.Repeat("b", 26)
	paste(unknown)
	tab.Wait(refused)
	tab.Wait(says("Your account"))
	assert.Contains(t, []string{"", "null"}, browsertest.Eval[string](tab, `localStorage.getItem("gridstand.account") || ""`))

	paste(ada.Token)
	tab.Wait(`document.querySelector("h1").innerText === "ada" && document.getElementById("me").innerText === "ada"`)
	account := stored(t, tab)
	assert.Equal(t, []string{ada.ID, "ada", ada.Token}, []string{account.ID, account.Name, account.Token})
	tab.Visit("/play/classic")
	waitForBoard(tab, g.GetPosition())

	tab.Visit("/account")
	paste(unknown)
	confirm(tab, "Forget ada on this device?")
	tab.Wait(refused)
	assert.Equal(t, account, stored(t, tab))
	paste(bob.Token)
	confirm(tab, "Forget ada on this device?")
	tab.Wait(`document.querySelector("h1").innerText === "bob"`)
	assert.Equal(t, bob.Token, stored(t, tab).Token)
}
