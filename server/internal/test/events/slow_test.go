package events

import (
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// many is a number of moves whose events no connection of a test can buffer.
const many = 400

// readLate is read for a client that reads nothing after the headers for now.
func readLate(t *testing.T, address net.Addr, path string) *reader {
	t.Helper()
	conn := dial(t, address)
	require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(4<<10))
	return readOn(t, conn, "GET "+path+" HTTP/1.1")
}

// Ensure that a reader that is too slow skips to the newest state, unless it asked for
// every event, and that others do not wait for it.
func TestEvents_Slow(t *testing.T) {
	t.Parallel()
	srv, _ := servertest.Start(t, config(t))
	p := newPlayer(t, srv.Addr(), &pb.CreateGameRequest{Variant: "6x6"})
	slow := readLate(t, srv.Addr(), p.path())
	every := readLate(t, srv.Addr(), p.path()+"?every_event=1")
	quick := read(t, srv.Addr(), p.path())
	quick.must(t)
	for range many {
		before := p.version()
		p.move(t, 1)
		for version := before; version < p.version(); version++ {
			assert.Equal(t, strconv.Itoa(int(version+1)), quick.must(t).id)
		}
	}
	p.resign(t)
	last := p.last.GetVersion()

	games, version := 0, int32(0)
	for {
		got := slow.must(t)
		if got.name == "end" {
			break
		}
		if game := got.update.GetGame(); game != nil {
			games++
			assert.Greater(t, game.GetVersion(), version)
			version = game.GetVersion()
			continue
		}
		version++
		require.Equal(t, version, got.update.GetEvent().GetVersion())
	}
	assert.Equal(t, last, version)
	assert.Greater(t, games, 1, "it skipped events")

	for version := int32(1); version <= last; version++ {
		require.Equal(t, strconv.Itoa(int(version)), every.must(t).id)
	}
	assert.Equal(t, "end", every.must(t).name)
}

// Ensure that a reader that reads nothing for too long loses the connection and its place
// in the audience, without a record that says that the game is over.
func TestEvents_Stalled(t *testing.T) {
	t.Parallel()
	c := config(t)
	c.Stall = 3 * time.Second
	srv, _ := servertest.Start(t, c)
	p := newPlayer(t, srv.Addr(), &pb.CreateGameRequest{Variant: "6x6"})
	stalled := readLate(t, srv.Addr(), p.path()+"?every_event=1")
	own := read(t, srv.Addr(), p.path(), "Authorization: Bearer "+p.token)
	own.audience(t, 1)
	require.NoError(t, own.conn.Close()) // It would stall as well.
	p.move(t, many)
	read(t, srv.Addr(), p.path(), "Authorization: Bearer "+p.token).audience(t, 0)
	for {
		got, err := stalled.next()
		if err != nil {
			break
		}
		require.NotEqual(t, "end", got.name)
	}
}
