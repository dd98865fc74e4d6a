package streams

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// Ensure that the standings of a race omit a player whom an operator has hidden, over each
// protocol and in open streams, but that the player remains an entrant.
func TestRace_Hidden(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	for name, store := range map[string]func(t *testing.T) string{
		"redis": func(t *testing.T) string { return "redis://" + redistest.StartMiniredis(t).Addr() },
		"file":  func(t *testing.T) string { return server.File(filepath.Join(t.TempDir(), "store.db")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := servertest.Config(t)
			c.Store = store(t)
			srv, _ := servertest.Start(t, c)
			operator, err := server.Operate(t.Context(), c)
			require.NoError(t, err)
			defer operator.Close()
			ada, bob := newRacer(t, srv.Addr(), "Ada"), newRacer(t, srv.Addr(), "Bob")
			race := bob.create(t, time.Minute)
			ada.join(t, race, true)
			streams := doors(t, srv, race, "")
			lines := func(n int) func(*pb.WatchChallengeResponse) bool {
				return func(m *pb.WatchChallengeResponse) bool { return len(m.GetStandings()) == n }
			}
			for _, s := range streams {
				until(t, s, lines(2))
			}

			_, _, err = operator.Hide(t.Context(), bob.ID)
			require.NoError(t, err)
			for protocol, s := range streams {
				m := until(t, s, lines(1))
				assert.Equal(t, ada.ID, m.GetStandings()[0].GetPlayer().GetId(), protocol)
				assert.EqualValues(t, 1, m.GetTotal(), protocol)
				assert.Len(t, m.GetChallenge().GetEntrants(), 2, protocol)
			}
			bob.join(t, race, true) // now everyone is ready
			for _, s := range streams {
				until(t, s, at(open))
			}
			for game := bob.attempt(t, race); game.GetPosition().GetScores()[0] == 0; {
				bob.Move(t, game)
			}
			list := func(r *racer, player string) (*pb.ListStandingsResponse, error) {
				return r.challenges.ListStandings(r.Ctx, &pb.ListStandingsRequest{ChallengeId: race, PlayerId: player, Neighbors: 9})
			}
			for _, player := range []string{"", "me"} {
				listed, err := list(ada, player)
				require.NoError(t, err)
				assert.EqualValues(t, 1, listed.GetTotal())
				require.Len(t, listed.GetStandings(), 1)
				assert.Equal(t, ada.ID, listed.GetStandings()[0].GetPlayer().GetId())
				assert.EqualValues(t, 1, listed.GetStandings()[0].GetRank(), "bob leads, but is hidden")
			}
			_, err = list(bob, "me")
			assert.Equal(t, codes.NotFound, status.Code(err))

			_, _, err = operator.Unhide(t.Context(), bob.ID)
			require.NoError(t, err)
			listed, err := list(ada, "")
			require.NoError(t, err)
			require.Len(t, listed.GetStandings(), 2)
			assert.Equal(t, bob.ID, listed.GetStandings()[0].GetPlayer().GetId())
		})
	}
}
