package browsertest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Label returns the label that a screen reader announces for the board of a 2048 position.
func Label(p *pb.Position) string {
	b := p.GetTwenty48()
	var rows []string
	for r := range int(b.GetRows()) {
		row := []string{"row", strconv.Itoa(r+1) + ":"}
		for _, tile := range b.GetTiles()[r*int(b.GetColumns()) : (r+1)*int(b.GetColumns())] {
			if tile == 0 {
				row = append(row, "empty")
			} else {
				row = append(row, strconv.Itoa(int(tile)))
			}
		}
		rows = append(rows, strings.Join(row, " "))
	}
	return strings.Join(rows, "; ")
}

// Says returns a JavaScript expression that reports whether the page shows the given text.
func Says(text string) string {
	return fmt.Sprintf("(document.body?.innerText || '').replace(/\\s+/g, ' ').includes(%q)", text)
}

// Follow watches a game of 2048 that the test plays in another program by pressing its keys. Each
// position must appear on the page before the next key is pressed. Then the player resigns, and the
// page must verify the game. game returns the current game, and press sends keys to the program.
func (p *Tab) Follow(game func() *pb.Game, press func(keys string), moves int) {
	p.t.Helper()
	for range moves {
		g := game()
		require.Nil(p.t, g.GetResult(), "the game ended before it was given up")
		// Fetch the game again on each try: if the previous key was pressed twice, the second press
		// may make another move in the meantime.
		p.poll("the page did not show the game", func(int) bool {
			g = game()
			return Eval[bool](p, fmt.Sprintf("document.querySelector('.b48')?.getAttribute('aria-label') === %q", Label(g.GetPosition())))
		})
		key := map[pb.Direction]string{
			pb.Direction_DIRECTION_UP: "w", pb.Direction_DIRECTION_LEFT: "a",
			pb.Direction_DIRECTION_DOWN: "s", pb.Direction_DIRECTION_RIGHT: "d",
		}[g.GetPosition().GetTwenty48().GetLegalMoves()[0]]
		p.poll("the key made no move", func(try int) bool {
			if try%100 == 0 {
				press(key)
			}
			return game().GetVersion() > g.GetVersion()
		})
	}
	p.poll("the game was not given up", func(try int) bool {
		switch try % 100 {
		case 0:
			press("n")
		case 20:
			press("y")
		}
		return game().GetResult() != nil
	})
	p.Wait(Says("Resigned"))
	p.Wait(Says("Verified in this browser"))
}

// poll calls done until it returns true. done receives the attempt number, starting at 0.
func (p *Tab) poll(problem string, done func(try int) bool) {
	p.t.Helper()
	deadline := time.Now().Add(Patience)
	for try := 0; !done(try); try++ {
		if time.Now().After(deadline) {
			require.Fail(p.t, problem, "the page shows: %s", p.Text())
		}
		<-time.After(20 * time.Millisecond)
	}
}
