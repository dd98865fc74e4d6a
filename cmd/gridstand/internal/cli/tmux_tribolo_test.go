//go:build unix

package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// tribolo is a game of Tribolo that a test plays by sending keys to terminals.
type tribolo struct {
	*panes
	id     string
	script *person  // reads the game's state from the server
	names  []string // by seat
	cursor map[string]*pb.Cell
}

// shows waits until a pane shows these scores.
func (g *tribolo) shows(pane string, scores []int32) {
	g.t.Helper()
	g.sees(pane, fmt.Sprintf(`(?s) B  %s[^\n]* %d\n.* R  %s[^\n]* %d\n.* G  %s[^\n]* %d\n`,
		g.names[0], scores[0], g.names[1], scores[1], g.names[2], scores[2]))
}

// showsResult waits until a pane shows the winner and these scores, in any order.
func (g *tribolo) showsResult(pane string, scores []int32) {
	g.t.Helper()
	g.sees(pane, "You win!|wins| share")
	for seat, letter := range []string{"B", "R", "G"} {
		g.sees(pane, fmt.Sprintf(` %s  %s[^\n]* %d\s`, letter, g.names[seat], scores[seat]))
	}
}

// jump makes the move that takes the most cells: it moves the pane's cursor to the target
// and presses Enter.
func (g *tribolo) jump(pane string, game *pb.Game) {
	g.t.Helper()
	at := g.cursor[pane]
	if at == nil {
		at = &pb.Cell{X: 8, Y: 5} // initial position of the cursor
		g.cursor[pane] = at
	}
	var to *pb.TriboloMove
	for _, m := range game.GetPosition().GetTribolo().GetLegalMoves() {
		if to == nil || len(m.GetTaken()) > len(to.GetTaken()) {
			to = m
		}
	}
	keys := []string{"send-keys", "-t", pane}
	for ; at.X < to.GetCell().GetX(); at.X++ {
		keys = append(keys, "Right")
	}
	for ; at.X > to.GetCell().GetX(); at.X-- {
		keys = append(keys, "Left")
	}
	for ; at.Y < to.GetCell().GetY(); at.Y++ {
		keys = append(keys, "j")
	}
	for ; at.Y > to.GetCell().GetY(); at.Y-- {
		keys = append(keys, "k")
	}
	g.tmux(append(keys, "Enter")...)
	require.Eventually(g.t, func() bool { return g.now().GetVersion() > game.GetVersion() }, limit, 5*time.Millisecond)
}

// now returns the current state of the game on the server.
func (g *tribolo) now() *pb.Game { return g.script.game(g.id) }

// play plays the game to its end. seats contains the pane of each seat, empty for bots.
func (g *tribolo) play(seats []string) *pb.Game {
	g.t.Helper()
	// Limit the number of moves instead of the time, because a busy machine needs minutes. A
	// game has at most one move per cell.
	for moves := 0; ; moves++ {
		game := g.now()
		if game.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED {
			return game
		}
		require.Less(g.t, moves, 500, "the game did not end")
		pane := seats[game.GetPosition().GetTurn()]
		if pane == "" {
			require.Eventually(g.t, func() bool { return g.now().GetVersion() > game.GetVersion() }, limit, 5*time.Millisecond)
			continue
		}
		g.shows(pane, game.GetPosition().GetScores())
		if moves < 3 {
			g.sees(pane, "Your turn")
			require.Eventually(g.t, func() bool {
				return strings.HasPrefix(g.tmux("display-message", "-p", "-t", pane, "#{pane_title}"), "Your turn")
			}, limit, 10*time.Millisecond)
		}
		g.jump(pane, game)
	}
}

// leave leaves with q, and checks that the terminal was restored.
func (g *tribolo) leave(pane string) {
	g.t.Helper()
	g.tmux("send-keys", "-t", pane, "q")
	g.sees(pane, `(?s)verify \w+.*exit=0 icanon echo`)
}

// TestTerminal_Tribolo_long lets three people at three terminals play a complete game
// against each other while a fourth person watches.
func TestTerminal_Tribolo_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	panes := newPanes(t)
	server := quickServer(t)
	g := &tribolo{
		panes: panes, script: newUser(t, server, "script"), names: []string{"ada", "bob", "eve"},
		cursor: map[string]*pb.Cell{},
	}
	panes.open("ada", "--server "+server+" play tribolo --seats me,open,open --name ada")
	shown := panes.sees("ada", `gridstand join [a-z2-7]{8}`)
	g.id = g.script.game(strings.Fields(shown)[2]).GetId()
	panes.sees("ada", "Waiting for 2 players")
	panes.open("fay", "--server "+server+" watch "+g.id)
	panes.sees("fay", "Waiting for 2 players")
	panes.open("bob", "--server "+server+" join --name bob "+g.id[:10])
	panes.sees("ada", "Waiting for 1 player")
	panes.open("eve", "--server "+server+" join --name eve "+g.id)
	panes.sees("ada", "(to move|Your turn)")
	panes.sees("fay", "to move")

	end := g.play(g.names)
	assert.Equal(t, pb.Result_REASON_NO_MOVES, end.GetResult().GetReason())
	for _, pane := range []string{"ada", "bob", "eve", "fay"} {
		g.showsResult(pane, end.GetPosition().GetScores())
		g.leave(pane)
	}
	assert.Contains(t, g.script.ok("verify", g.id), "Verified")
}

// TestTerminal_TriboloAgainstBots_long plays a complete game against two bots, including
// an undo.
func TestTerminal_TriboloAgainstBots_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	panes := newPanes(t)
	server := quickServer(t)
	g := &tribolo{
		panes: panes, script: newUser(t, server, "script"), names: []string{"ada", "minimax", "minimax"},
		cursor: map[string]*pb.Cell{},
	}
	panes.open("ada", "--server "+server+" play tribolo --seats me,minimax,minimax --name ada")
	panes.sees("ada", "to move|Your turn")
	g.id = lines(t, g.script.ok("games", "--json"), func() *pb.Game { return new(pb.Game) })[0].GetId()

	mine := func() *pb.Game {
		var game *pb.Game
		require.Eventually(t, func() bool {
			game = g.now()
			return game.GetPosition().Turn != nil && game.GetPosition().GetTurn() == 0
		}, limit, 5*time.Millisecond)
		g.shows("ada", game.GetPosition().GetScores())
		return game
	}
	before := mine()
	g.jump("ada", before)
	mine()
	panes.tmux("send-keys", "-t", "ada", "u")
	panes.sees("ada", "makes the game unranked")
	panes.tmux("send-keys", "-t", "ada", "y")
	panes.sees("ada", "unranked")
	g.shows("ada", before.GetPosition().GetScores())

	end := g.play([]string{"ada", "", ""})
	assert.False(t, end.GetRanked())
	g.showsResult("ada", end.GetPosition().GetScores())
	g.leave("ada")
	assert.Contains(t, g.script.ok("verify", g.id), "Verified")
}

// TestTerminal_StandIn_long lets a player run out of time and then take the seat back with a
// key.
func TestTerminal_StandIn_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	panes := newPanes(t)
	config := servertest.Config(t)
	config.BotPace = 500 * time.Millisecond // keeps bots from ending the game before a busy machine shows it
	s, _ := servertest.Start(t, config)
	server := s.Addr().String()
	panes.open("ada", "--server "+server+" play tribolo --seats me,open,greedy --turn-limit 20s --name ada")
	bob := newUser(t, server, "bob")
	id := bob.game(strings.Fields(panes.sees("ada", `gridstand join [a-z2-7]{8}`))[2]).GetId()
	bob.ok("join", id)
	// until makes bob's moves so that bob does not time out, and returns once the condition
	// is true.
	until := func(holds func(g *pb.Game) bool) {
		t.Helper()
		require.Eventually(t, func() bool {
			g := bob.game(id)
			if moves := g.GetPosition().GetTribolo().GetLegalMoves(); g.GetPosition().GetTurn() == 1 && len(moves) > 0 {
				to := moves[0].GetCell()
				bob.run("move", id, fmt.Sprintf("%d,%d", to.GetX(), to.GetY()))
			}
			return holds(g)
		}, limit, 100*time.Millisecond)
	}
	until(func(g *pb.Game) bool { return g.GetSeats()[0].GetStandIn() == "greedy" })
	panes.sees("ada", "Your time ran out: greedy moves for you")
	until(func(g *pb.Game) bool {
		if g.GetSeats()[0].GetStandIn() != "" { // on a busy machine, ada may time out again before her turn is seen
			panes.tmux("send-keys", "-t", "ada", "x")
			return false
		}
		return strings.Contains(panes.tmux("capture-pane", "-p", "-t", "ada"), "Your turn")
	})
}
