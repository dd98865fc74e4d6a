package streams

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
)

// Ensure that each of 1,000 readers of a race receives the final snapshot, and that players can
// move while the readers are watching.
func TestRace_Crowd_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	srv, _ := servertest.Start(t, servertest.Config(t).Unlimited())
	ada := newRacer(t, srv.Addr(), "Ada")
	race := ada.create(t, 30*time.Second)
	ada.addBots(t, race, 3)
	const readers = 1000
	ended := make([]string, readers)
	var group sync.WaitGroup
	for i := range readers {
		body := readChallenge(t, dial(t, srv.Addr()), race).Body
		group.Go(func() {
			for {
				line, err := body.ReadString('\n')
				if err != nil || line == "event: end\n" {
					assert.NoError(t, err)
					return
				}
				if etag, ok := strings.CutPrefix(line, "id: "); ok { // Decoding each whole record would take too long.
					ended[i] = strings.TrimSpace(etag)
				}
			}
		})
	}
	ada.join(t, race, true)
	until(t, watch(t, servertest.Dial(t, srv.Addr()), race, ""), at(open))
	moves := 0
	for game := ada.attempt(t, race); ada.tryMove(game); {
		moves++
	}
	group.Wait()
	final, err := watch(t, servertest.Dial(t, srv.Addr()), race, "").Recv()
	require.NoError(t, err)
	for i, etag := range ended {
		assert.Equal(t, final.GetEtag(), etag, "reader %d", i)
	}
	t.Logf("%d moves", moves)
	assert.NotZero(t, moves)
}
