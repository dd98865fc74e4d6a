package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// quickServer starts a server whose bots move immediately and returns its address.
func quickServer(t *testing.T) string {
	t.Helper()
	config := servertest.Config(t)
	config.BotPace = 0
	s, _ := servertest.Start(t, config)
	return s.Addr().String()
}

// game returns a game as printed by show.
func (u *person) game(id string) *pb.Game {
	u.t.Helper()
	return lines(u.t, u.ok("show", id, "--json"), func() *pb.Game { return new(pb.Game) })[0]
}

// TestCommands_Tribolo plays a complete game of Tribolo with two people and a bot, using
// the commands for scripts.
func TestCommands_Tribolo(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	server := quickServer(t)
	ada, bob := newUser(t, server, "ada"), newUser(t, server, "bob")
	id := strings.TrimSpace(ada.ok("new", "tribolo", "--seats", "me,open,greedy", "--turn-limit", "1h"))
	assert.Contains(t, bob.ok("join", id[:10], "--seat", "red"), "ada, bob, greedy  12 : 12 : 12 points  version 2  live\n   0 1 2")

	people := []*person{ada, bob}
	for {
		g := ada.game(id)
		if g.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED {
			break
		}
		seat := int(g.GetPosition().GetTurn())
		if seat >= len(people) {
			require.Eventually(t, func() bool { return ada.game(id).GetVersion() > g.GetVersion() }, limit, time.Millisecond, "the bot did not move")
			continue
		}
		to := g.GetPosition().GetTribolo().GetLegalMoves()[0]
		x := fmt.Sprint(to.GetCell().GetX())
		if to.GetCell().GetX() > 9 {
			x = string('a' + to.GetCell().GetX() - 10)
		}
		out, why, code := people[seat].run("move", id, fmt.Sprintf("%s,%d", x, to.GetCell().GetY()))
		if strings.HasPrefix(why, "gridstand: the game is at version ") {
			continue // The machine paused for seconds, and the server credited them to the clock.
		}
		require.Equal(t, exitOK, code, why)
		assert.Regexp(t, fmt.Sprintf(`(blue|red) %s,%d  takes %d`, x, to.GetCell().GetY(), len(to.GetTaken())), out)
	}
	g := ada.game(id)
	require.Equal(t, pb.Result_REASON_NO_MOVES, g.GetResult().GetReason())
	assert.Regexp(t, `(?s)Verified: .* tribolo by ada, bob, greedy, ended: no moves left.* and the scores \d+, \d+, \d+\.`, ada.ok("verify", id))
	assert.Contains(t, ada.ok("watch", id, "--from", "1"), "red bob joins")
	assert.NotContains(t, ada.ok("top", "tribolo"), "ada", "a game between two people is not ranked")
}
