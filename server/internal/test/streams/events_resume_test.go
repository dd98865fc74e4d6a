package streams

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	eventstest "github.com/gridstand/gridstand/internal/testkit/events"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that a reader whose connection is cut 50 times, at arbitrary byte positions, receives
// each event of the game once and in order, from either of two servers.
func TestEvents_Cuts(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	redis := redistest.StartMiniredis(t)
	c := config(t)
	c.Store = "redis://" + redis.Addr()
	one, _ := servertest.Start(t, c)
	two, _ := servertest.Start(t, c)
	addresses := []net.Addr{one.Addr(), two.Addr()}
	p := newPlayer(t, one.Addr(), long)

	const cuts = 50
	random := rand.New(rand.NewPCG(1, 2))
	got, ended := []*pb.Event(nil), false
	for n := 0; !ended; n++ {
		conn := dial(t, addresses[n%2])
		if n < cuts {
			conn = &eventstest.Cut{Conn: conn, Left: random.IntN(4000)}
		}
		last := strconv.Itoa(len(got))
		r := tryRead(t, conn, "GET "+p.path()+"?after_version=0&every_event=1 HTTP/1.1", "Last-Event-ID: "+last)
		for r != nil && !ended {
			switch { // If the reader has caught up, generate a live record.
			case len(got) < int(p.game.GetVersion()):
			case n < cuts:
				p.move(t, 1+random.IntN(3))
			case p.game.GetResult() == nil:
				p.Resign(t, p.game)
			}
			record, err := r.Next()
			if err != nil {
				break
			}
			if e := record.Update.GetEvent(); e != nil {
				require.EqualValues(t, len(got)+1, e.GetVersion())
				got = append(got, e)
			}
			ended = record.Name == "end"
		}
		require.NoError(t, conn.Close())
	}
	all := p.transcript(t)
	require.Len(t, got, len(all))
	for i, want := range all {
		assert.True(t, proto.Equal(want, got[i]), "version %d", i+1)
	}
}
