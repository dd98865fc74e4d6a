package streams

import (
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
)

// many is a number of moves large enough that their events overflow the buffers of a test
// connection.
const many = 400

// readLate is like read, but imitates a slow client: it uses a small receive buffer, and
// receives nothing after the headers until the test reads from it.
func readLate(t *testing.T, address net.Addr, path string) *reader {
	t.Helper()
	conn := dial(t, address)
	require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(4<<10))
	return readOn(t, conn, "GET "+path+" HTTP/1.1")
}

// Ensure that a reader that is too slow skips to the latest state unless it asked for every
// event, and that it does not delay other readers.
func TestEvents_Slow_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	c := config(t)
	c.Stall = time.Hour // The slow readers read nothing until the game is over.
	srv, _ := servertest.Start(t, c)
	p := newPlayer(t, srv.Addr(), long)
	slow := readLate(t, srv.Addr(), p.path())
	every := readLate(t, srv.Addr(), p.path()+"?every_event=1")
	quick := read(t, srv.Addr(), p.path())
	quick.Must(t)
	for range many {
		before := p.game.GetVersion()
		p.move(t, 1)
		for version := before; version < p.game.GetVersion(); version++ {
			assert.Equal(t, strconv.Itoa(int(version+1)), quick.Must(t).ID)
		}
	}
	p.Resign(t, p.game)
	last := p.game.GetVersion()

	games, version := 0, int32(0)
	for {
		got := slow.Must(t)
		if got.Name == "end" {
			break
		}
		if game := got.Update.GetGame(); game != nil {
			games++
			assert.Greater(t, game.GetVersion(), version)
			version = game.GetVersion()
			continue
		}
		version++
		require.Equal(t, version, got.Update.GetEvent().GetVersion())
	}
	assert.Equal(t, last, version)
	assert.Greater(t, games, 1, "the reader did not skip events")

	for version := int32(1); version <= last; version++ {
		require.Equal(t, strconv.Itoa(int(version)), every.Must(t).ID)
	}
	assert.Equal(t, "end", every.Must(t).Name)
}

// Ensure that a reader that reads nothing for too long loses the connection and its place in the
// audience, and is not sent the record that announces the end of the game.
func TestEvents_Stalled_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	c := config(t)
	c.Stall = 3 * time.Second
	srv, _ := servertest.Start(t, c)
	p := newPlayer(t, srv.Addr(), long)
	stalled := readLate(t, srv.Addr(), p.path()+"?every_event=1")
	own := read(t, srv.Addr(), p.path(), "Authorization: Bearer "+p.Token)
	own.audience(t, 1)
	require.NoError(t, own.conn.Close()) // if this reader stayed connected, it would stall as well
	p.move(t, many)
	read(t, srv.Addr(), p.path(), "Authorization: Bearer "+p.Token).audience(t, 0)
	for {
		got, err := stalled.Next()
		if err != nil {
			break
		}
		require.NotEqual(t, "end", got.Name)
	}
}
