package rpc

import (
	"cmp"
	"context"
	"errors"
	"time"

	"golang.org/x/sync/semaphore"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/ratelimit"
	"github.com/gridstand/gridstand/server/limits"
)

const (
	// readShare is the part, one in so many, of the calls that the server runs at
	// once that may be of one address. The rest is left to other addresses.
	readShare = 4
	// readQueue is how many calls may wait for each that may run.
	readQueue = 256
	// readWait bounds how long a call waits.
	readWait = time.Second
	// readRetry is how long a refused caller should wait before a retry.
	readRetry = time.Second
)

// readGate bounds the calls that are not moves. A call waits until few enough others
// of its address run, and then until few enough run on the server. Moves have a rate
// of their own and never wait here.
type readGate struct {
	limits  *limits.Limits
	rate    *ratelimit.Pacer    // of each address
	running *semaphore.Weighted // calls that run; nil for no limit
	waiting *semaphore.Weighted // calls that wait
	// addresses have calls that run or wait. The slots of each are for those that run.
	addresses *ratelimit.Addresses[*semaphore.Weighted]
}

func newReadGate(l *limits.Limits) *readGate {
	g := &readGate{
		limits: l, rate: ratelimit.PerSecond(l.ReadsPerAddressPerSecond),
		running: newSlots(l.ReadsAtOnce, l.ReadsAtOnce),
		waiting: newSlots(l.ReadsAtOnce, l.ReadsAtOnce*readQueue),
	}
	g.addresses = ratelimit.NewAddresses(func(string) *semaphore.Weighted { return newSlots(l.ReadsAtOnce, g.share()) })
	return g
}

// share is how many calls of one address may run at once.
func (g *readGate) share() int { return max(1, g.limits.ReadsAtOnce/readShare) }

// enter counts a call of an address, and waits until it may run. The caller calls
// leave unless there is an error.
func (g *readGate) enter(ctx context.Context, address string) (leave func(), err error) {
	own, ok := g.addresses.Enter(address, g.limits.ReadsPerAddress)
	if !ok {
		return nil, g.limits.Exceeded(&g.limits.ReadsPerAddress, "reads of one address at once", readRetry)
	}
	if g.running == nil {
		return func() { g.addresses.Leave(address) }, nil
	}
	if err := g.wait(ctx, own); err != nil {
		g.addresses.Leave(address)
		return nil, err
	}
	return func() {
		own.Release(1)
		g.running.Release(1)
		g.addresses.Leave(address)
	}, nil
}

// wait takes a slot of the call's address and one of the server.
func (g *readGate) wait(ctx context.Context, own *semaphore.Weighted) error {
	if own.TryAcquire(1) {
		if g.running.TryAcquire(1) {
			return nil
		}
		own.Release(1)
	}
	full := g.limits.Exceeded(&g.limits.ReadsAtOnce, "reads at once", readRetry)
	if !g.waiting.TryAcquire(1) {
		return full
	}
	defer g.waiting.Release(1)
	waiting, cancel := context.WithTimeout(ctx, readWait)
	defer cancel()
	err := own.Acquire(waiting, 1)
	if err == nil {
		if err = g.running.Acquire(waiting, 1); err == nil {
			return nil
		}
		own.Release(1)
	}
	return cmp.Or[error](ctx.Err(), full)
}

// signatureCost is how many reads the check of a signature counts as. With the slowest
// kinds of keys it takes up to a millisecond.
const signatureCost = 10

// readCost returns how many reads a request counts as: one for each default page that
// it asks for, or 0 for a move. needsStore reports whether the call reads the store.
func readCost(request any) (cost int, needsStore bool) {
	entries := 0
	switch r := request.(type) {
	case *pb.MoveRequest, *pb.UndoRequest, *pb.ResignRequest:
		return 0, false
	case *pb.ListVariantsRequest, *pb.GetServerInfoRequest:
		return 1, false
	case *pb.AddKeyRequest:
		return signatureCost, true
	case *pb.ListGamesRequest:
		entries = int(r.GetPageSize())
	case *pb.ListScoresRequest:
		entries = int(r.GetPageSize())
	case *pb.GetRankRequest:
		entries = 2 * int(min(r.GetNeighbors(), page.MaxSize))
	}
	entries = min(max(entries, 0), page.MaxSize)
	return max(1, (entries+page.DefaultSize-1)/page.DefaultSize), true
}

// read admits a call that is not a move. The caller calls leave when the call ends.
func (s *Service) read(ctx context.Context, request any) (leave func(), err error) {
	cost, needsStore := readCost(request)
	if cost == 0 {
		return func() {}, nil
	}
	address := s.Address(ctx)
	if !s.reads.rate.TakeN(address, cost) {
		return nil, s.Limits.Exceeded(&s.Limits.ReadsPerAddressPerSecond, "reads of one address in a second", readRetry)
	}
	if !needsStore {
		return func() {}, nil
	}
	leave, err = s.reads.enter(ctx, address)
	return leave, s.slotError(err)
}

// slotError returns the error of a call that got no slot. If the store does not
// answer, the slots are held by calls that wait for it.
func (s *Service) slotError(err error) error {
	var full *limits.ExceededError
	if errors.As(err, &full) && !s.StoreAnswers() {
		return storageUnavailable
	}
	return err
}
