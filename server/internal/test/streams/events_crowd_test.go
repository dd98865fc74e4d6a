package streams

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	servertest "github.com/gridstand/gridstand/internal/testkit/server"
)

// Ensure that each of many readers receives all events from the time it joins, whenever that is,
// while other readers leave.
func TestEvents_Crowd(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	srv, _ := servertest.Start(t, config(t))
	p := newPlayer(t, srv.Addr(), long)
	const readers, moves = 60, 120
	var group sync.WaitGroup
	for n := range moves {
		if n%2 == 0 && n/2 < readers {
			stays := read(t, srv.Addr(), p.path())
			group.Go(func() { assert.NoError(t, follow(stays, -1)) })
			leaves := read(t, srv.Addr(), p.path()+"?after_version=0")
			group.Go(func() {
				assert.NoError(t, follow(leaves, n/2))
				assert.NoError(t, leaves.conn.Close())
			})
		}
		p.move(t, 1)
	}
	p.Resign(t, p.game)
	group.Wait()
}

// follow reads the game or the first event, and then the given number of events, or all events
// until the end of the game if events is -1. It returns an error if an event is missing or
// repeated.
func follow(r *reader, events int) error {
	version := 0
	for n := 0; n != events; {
		got, err := r.Next()
		switch {
		case err != nil:
			return err
		case got.Name == "end":
			return nil
		case got.ID == "":
			continue // an audience update
		case version > 0 && got.ID != strconv.Itoa(version+1):
			return fmt.Errorf("version %s after %d", got.ID, version)
		}
		version, _ = strconv.Atoi(got.ID)
		n++
	}
	return nil
}
