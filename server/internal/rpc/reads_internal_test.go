package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/peer"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/ratelimit"
	"github.com/gridstand/gridstand/server/limits"
)

// refusedBy returns the name of the limit that refused a call, or "" if no limit did.
func refusedBy(err error) string {
	var exceeded *limits.ExceededError
	if errors.As(err, &exceeded) {
		return exceeded.Field
	}
	return ""
}

// fill starts as many calls from an address as its share allows.
func fill(t *testing.T, g *readGate, address string) []func() {
	t.Helper()
	var all []func()
	for range g.share() {
		leave, err := g.enter(t.Context(), address)
		require.NoError(t, err)
		all = append(all, leave)
	}
	return all
}

// Ensure that an address gets no more than its share of slots, that calls from other
// addresses still run, and that a waiting call runs as soon as a slot is free.
func TestReadGate_Share(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newReadGate(&limits.Limits{ReadsAtOnce: 8, ReadsPerAddress: 3})
		bad := fill(t, g, "bad")
		entered := make(chan error, 1)
		go func() {
			leave, err := g.enter(t.Context(), "bad")
			if err == nil {
				leave()
			}
			entered <- err
		}()
		synctest.Wait()
		_, err := g.enter(t.Context(), "bad")
		assert.Equal(t, "reads_per_address", refusedBy(err), "the address has three calls, and one of them waits")
		for _, other := range []string{"a", "b", "c"} {
			fill(t, g, other)
		}
		bad[0]()
		require.NoError(t, <-entered)
	})
}

// Ensure that, while the server is full, a call waits for at most readWait or until its
// caller cancels it, and that refused calls leave no slots in use.
func TestReadGate_Full(t *testing.T) {
	t.Parallel()
	g := newReadGate(&limits.Limits{ReadsAtOnce: 4})
	var all []func()
	for n := range 4 {
		all = append(all, fill(t, g, fmt.Sprint(n))...)
	}
	_, err := g.enter(t.Context(), "late")
	assert.Equal(t, "reads_at_once", refusedBy(err))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = g.enter(ended, "late")
	require.ErrorIs(t, err, context.Canceled)

	require.True(t, g.waiting.TryAcquire(int64(g.limits.ReadsAtOnce*readQueue)))
	_, err = g.enter(ended, "late")
	assert.Equal(t, "reads_at_once", refusedBy(err), "the call waited although the queue was full")
	g.waiting.Release(int64(g.limits.ReadsAtOnce * readQueue))

	for _, each := range all {
		each()
	}
	assert.Zero(t, g.addresses.Len())
	assert.True(t, g.running.TryAcquire(4))
}

// Ensure that calls that wait while the server is full do not delay its stop.
func TestReadGate_Stop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newReadGate(&limits.Limits{ReadsAtOnce: 4})
		stopping, stop := context.WithCancel(t.Context())
		g.stopping = stopping
		for n := range 4 {
			fill(t, g, fmt.Sprint(n))
		}
		began, waiting := time.Now(), make(chan error)
		go func() {
			_, err := g.enter(t.Context(), "late")
			waiting <- err
		}()
		synctest.Wait()
		stop()
		require.ErrorIs(t, <-waiting, match.ErrStopping)
		assert.Zero(t, time.Since(began))
	})
}

// Ensure that calls never wait if there are no limits.
func TestReadGate_Unlimited(t *testing.T) {
	t.Parallel()
	g := newReadGate(&limits.Limits{})
	for range 100 {
		_, err := g.enter(t.Context(), "one")
		require.NoError(t, err)
	}
}

func TestReadCost(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		request any
		cost    int
		store   bool
	}{
		{&pb.MoveRequest{}, 0, false},
		{&pb.UndoRequest{}, 0, false},
		{&pb.ResignRequest{}, 0, false},
		{&pb.ListVariantsRequest{}, 1, false},
		{&pb.GetServerInfoRequest{}, 1, false},
		{&pb.GetGameRequest{}, 1, true},
		{&pb.GetPlayerRequest{}, 1, true},
		{&pb.CreateGameRequest{}, 1, true},
		{&pb.JoinGameRequest{}, 1, true},
		{&pb.CreatePlayerRequest{}, 1, true},
		{&pb.RotateTokenRequest{}, 1, true},
		{&pb.ListGamesRequest{PageSize: -1}, 1, true},
		{&pb.ListGamesRequest{PageSize: 1}, 1, true},
		{&pb.ListGamesRequest{}, 1, true},
		{&pb.ListGamesRequest{PageSize: 50}, 1, true},
		{&pb.ListGamesRequest{PageSize: 51}, 2, true},
		{&pb.ListGamesRequest{PageSize: 1 << 30}, 4, true},
		{&pb.ListScoresRequest{PageSize: 200}, 4, true},
		{&pb.GetRankRequest{Neighbors: 50}, 2, true},
		{&pb.GetRankRequest{Neighbors: 1 << 30}, 4, true},
	} {
		cost, store := readCost(tt.request)
		assert.Equal(t, tt.cost, cost, "%T %v", tt.request, tt.request)
		assert.Equal(t, tt.store, store, "%T", tt.request)
	}
}

// Ensure that calls that read the store have a limit for all addresses together, which refuses
// neither moves nor calls that do not read it.
func TestRead_AllAddresses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const perSecond = 2
		l := limits.Limits{ReadsPerSecond: perSecond}
		s := New(Config{Limits: l, Reads: ratelimit.NewReads(&l, nil)})
		addresses := 0
		read := func(request any) error {
			addresses++
			at := &net.TCPAddr{IP: net.IPv4(192, 0, 2, byte(addresses)), Port: 1}
			leave, err := s.read(peer.NewContext(t.Context(), &peer.Peer{Addr: at}), request)
			if err == nil {
				leave()
			}
			return err
		}
		for range perSecond * ratelimit.Burst / 2 {
			require.NoError(t, read(&pb.ListGamesRequest{PageSize: 100})) // two reads
		}
		assert.Equal(t, "reads_per_second", refusedBy(read(&pb.GetGameRequest{})))
		require.NoError(t, read(&pb.MoveRequest{}))
		require.NoError(t, read(&pb.GetServerInfoRequest{}))
		time.Sleep(time.Second) //nolint:forbidigo // The bubble's clock is fake.
		require.NoError(t, read(&pb.GetGameRequest{}))
	})
}
