package events

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	servertest "github.com/gridstand/gridstand/internal/testkit/server"
)

// Ensure that each of many readers who come at any time gets all events from then on,
// while others leave.
func TestEvents_Crowd(t *testing.T) {
	t.Parallel()
	srv, _ := servertest.Start(t, config(t))
	p := newPlayer(t, srv.Addr(), classic)
	const readers, moves = 60, 120
	var group sync.WaitGroup
	for n := range moves {
		if n%2 == 0 && n/2 < readers {
			stays := read(t, srv.Addr(), p.path())
			group.Go(func() { assert.NoError(t, follow(stays, -1)) })
			leaves := read(t, srv.Addr(), p.path()+"?after=0")
			group.Go(func() {
				assert.NoError(t, follow(leaves, n/2))
				assert.NoError(t, leaves.conn.Close())
			})
		}
		p.move(t, 1)
	}
	p.resign(t)
	group.Wait()
}

// follow reads the game or the first event, and then so many events, or to the end of the
// game for -1. It returns an error if one is missing or comes twice.
func follow(r *reader, events int) error {
	version := 0
	for n := 0; n != events; {
		got, err := r.next()
		switch {
		case err != nil:
			return err
		case got.name == "end":
			return nil
		case got.id == "":
			continue // the audience
		case version > 0 && got.id != strconv.Itoa(version+1):
			return fmt.Errorf("version %s after %d", got.id, version)
		}
		version, _ = strconv.Atoi(got.id)
		n++
	}
	return nil
}
