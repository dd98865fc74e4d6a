package compose

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	browsertest "github.com/gridstand/gridstand/internal/testkit/browser"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// watchesSSH plays a game by SSH that a browser watches at the published port, move by
// move, until it is given up and verified.
func watchesSSH(t *testing.T, s *stack, player *ssh.Client) {
	t.Helper()
	tab := browsertest.Open(t, s.address())
	session, err := player.NewSession()
	require.NoError(t, err)
	in, err := session.StdinPipe()
	require.NoError(t, err)
	session.Stdout = io.Discard
	require.NoError(t, session.RequestPty("xterm", 24, 80, nil))
	require.NoError(t, session.Start("play classic"))
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
	}, func(keys string) {
		_, err := io.WriteString(in, keys)
		require.NoError(t, err)
	}, 6)
	_, err = in.Write([]byte("\x03"))
	require.NoError(t, err)
	_ = session.Wait()
}
