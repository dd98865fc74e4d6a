package browsertest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Label is what a screen reader says of the board of a position of 2048.
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

// Says is an expression that reports whether the page shows a text.
func Says(text string) string {
	return fmt.Sprintf("document.body.innerText.replace(/\\s+/g, ' ').includes(%q)", text)
}

// Follow watches a game of 2048 that another program plays by keys, and lets it make some
// moves. Each position must appear on the page before the next key is pressed. Then the
// player gives up, and the page must verify the game. Game returns the game as it is now,
// and press types keys into the program.
func (p *Tab) Follow(game func() *pb.Game, press func(keys string), moves int) {
	p.t.Helper()
	for range moves {
		g := game()
		require.Nil(p.t, g.GetResult(), "the game ended before it was given up")
		// A key that was pressed twice may have made another move.
		p.poll("the page does not show the game", func(int) bool {
			g = game()
			return Eval[bool](p, fmt.Sprintf("document.querySelector('.b48')?.getAttribute('aria-label') === %q", Label(g.GetPosition())))
		})
		key := map[pb.Direction]string{
			pb.Direction_DIRECTION_UP: "w", pb.Direction_DIRECTION_LEFT: "a",
			pb.Direction_DIRECTION_DOWN: "s", pb.Direction_DIRECTION_RIGHT: "d",
		}[g.GetPosition().GetTwenty48().GetLegalMoves()[0]]
		p.poll("the key makes no move", func(try int) bool {
			if try%100 == 0 {
				press(key)
			}
			return game().GetVersion() > g.GetVersion()
		})
	}
	p.poll("the game is not given up", func(try int) bool {
		switch try % 100 {
		case 0:
			press("n")
		case 20:
			press("y")
		}
		return game().GetResult() != nil
	})
	p.Wait(Says("Given up"))
	p.Wait(Says("Verified in this browser"))
}

// poll waits until something is done. It gets the number of the try, from 0 on.
func (p *Tab) poll(problem string, done func(try int) bool) {
	p.t.Helper()
	deadline := time.Now().Add(Patience)
	for try := 0; !done(try); try++ {
		if time.Now().After(deadline) {
			require.Fail(p.t, problem, "the page says: %s", p.Text())
		}
		<-time.After(20 * time.Millisecond)
	}
}
