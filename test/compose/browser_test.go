package compose

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	browsertest "github.com/gridstand/gridstand/internal/testkit/browser"
	sshtest "github.com/gridstand/gridstand/internal/testkit/ssh"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// watchesSSH plays a game over SSH while a browser watches each move through the published port,
// until the player resigns and the page verifies the game.
func watchesSSH(t *testing.T, s *stack, player *ssh.Client) {
	t.Helper()
	tab := browsertest.Open(t, s.address())
	press, leave := sshtest.Play(t, player, "play classic")
	c := dial(t, s.address())
	var id string
	require.Eventually(t, func() bool {
		listed, err := c.Games.ListGames(t.Context(), &pb.ListGamesRequest{PlayerName: "ada", Variant: "classic"})
		if err != nil || len(listed.GetGames()) == 0 {
			return false
		}
		id = listed.GetGames()[0].GetId()
		return true
	}, patience, 100*time.Millisecond, "no game")
	tab.Visit("/g/" + id)
	tab.Follow(func() *pb.Game {
		got, err := c.Games.GetGame(t.Context(), &pb.GetGameRequest{GameId: id})
		require.NoError(t, err)
		return got.GetGame()
	}, press, 6)
	leave()
}
