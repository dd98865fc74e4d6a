package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that bots play the user's games to their ends, in all of the user's seats.
func TestBot(t *testing.T) {
	t.Parallel()
	server := someServer(t)
	ada := newUser(t, server, "ada")
	id := strings.TrimSpace(ada.ok("new", "3x3"))
	ada.slide(id, 2)
	out := ada.ok("bot", "rote", id[:8])
	assert.Regexp(t, `^3x3  guest-\w+  [\d,]+ points  version [\d,]+  no moves left\n( *\d+){3}\n`, out)
	assert.Equal(t, out, ada.ok("bot", "rote", id), "the game is over")
	assert.False(t, ada.game(id).GetRanked())

	id = strings.TrimSpace(ada.ok("new", "tribolo", "--seats", "me,greedy,me"))
	newUser(t, server, "bob").fails(exitMissing, "you have no account", "bot", "greedy", id)
	ada.fails(exitUsage, "the bots of tribolo are random, greedy, original, minimax, not \"rote\"", "bot", "rote", id)
	all := lines(t, ada.ok("bot", "greedy", id, "--json"), func() *pb.Game { return new(pb.Game) })
	require.Len(t, all, 1)
	assert.Equal(t, pb.Result_REASON_NO_MOVES, all[0].GetResult().GetReason())
	assert.Contains(t, ada.ok("verify", id), "Verified")

	id = strings.TrimSpace(ada.ok("new", "tribolo", "--seats", "open,greedy,greedy"))
	ada.fails(exitFailed, "no seat in this game", "bot", "greedy", id)
}
