package rpc

import (
	"cmp"
	"context"
	"time"

	"golang.org/x/sync/semaphore"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/ratelimit"
	"github.com/gridstand/gridstand/server/limits"
)

const (
	// readShare limits one address to 1/readShare of the calls that the server runs
	// concurrently. The rest is available to other addresses.
	readShare = 4
	// readQueue is the number of waiting calls that are allowed for each call that may run
	// concurrently.
	readQueue = 256
	// readWait is the maximum time that a call waits.
	readWait = time.Second
	// readRetry is the time that a refused caller should wait before a retry.
	readRetry = time.Second
)

// readGate limits calls other than moves. A call waits for one of its address's slots, and
// then for one of the server's. Moves have a separate rate limit and never wait here.
type readGate struct {
	limits  *limits.Limits
	all     *ratelimit.Pacer    // limits the rate of calls that read the store; it has one key, ""
	running *semaphore.Weighted // for calls that run; nil for no limit
	waiting *semaphore.Weighted // for calls that wait
	// addresses counts each address's calls, both running and waiting. Each address's
	// slots are for its running calls.
	addresses *ratelimit.Addresses[*semaphore.Weighted]
	// stopping is canceled when the server stops, so that waiting calls do not delay that.
	stopping context.Context
}

func newReadGate(l *limits.Limits) *readGate {
	g := &readGate{
		limits: l, stopping: context.Background(), all: ratelimit.PerSecond(l.ReadsPerSecond),
		running: newSlots(l.ReadsAtOnce, l.ReadsAtOnce),
		waiting: newSlots(l.ReadsAtOnce, l.ReadsAtOnce*readQueue),
	}
	g.addresses = ratelimit.NewAddresses(func(string) *semaphore.Weighted { return newSlots(l.ReadsAtOnce, g.share()) })
	return g
}

// share returns how many calls from one address may run concurrently.
func (g *readGate) share() int { return max(1, g.limits.ReadsAtOnce/readShare) }

// enter counts a call toward its address's limit, and waits until the call may run. If err
// is nil, the caller must call leave when the call ends.
func (g *readGate) enter(ctx context.Context, address string) (leave func(), err error) {
	own, ok := g.addresses.Enter(address, g.limits.ReadsPerAddress)
	if !ok {
		return nil, g.limits.Exceeded(&g.limits.ReadsPerAddress, "reads from one address at once", readRetry)
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

// wait acquires one of the address's slots and then one of the server's.
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
	defer context.AfterFunc(g.stopping, cancel)()
	err := own.Acquire(waiting, 1)
	if err == nil {
		if err = g.running.Acquire(waiting, 1); err == nil {
			return nil
		}
		own.Release(1)
	}
	if g.stopping.Err() != nil {
		return match.ErrStopping
	}
	return cmp.Or[error](ctx.Err(), full)
}

// signatureCost is the number of reads that a signature verification counts as.
// Verification takes up to 3 ms for the slowest type of key, P-521.
const signatureCost = 50

// readCost returns the number of reads that a request counts as: 0 for a move;
// signatureCost for a new key; otherwise the number of default-size pages needed to hold
// the requested entries, and at least 1. needsStore reports whether the call reads the
// store.
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
	case *pb.ListChallengesRequest:
		entries = int(r.GetPageSize())
	case *pb.ListStandingsRequest:
		entries = max(int(r.GetPageSize()), 2*int(min(r.GetNeighbors(), page.MaxSize)))
	case *pb.GetRankRequest:
		entries = 2 * int(min(r.GetNeighbors(), page.MaxSize))
	}
	entries = min(max(entries, 0), page.MaxSize)
	return max(1, (entries+page.DefaultSize-1)/page.DefaultSize), true
}

// read admits a call that is not a move. If err is nil, the caller must call leave when
// the call ends.
func (s *Service) read(ctx context.Context, request any) (leave func(), err error) {
	cost, needsStore := readCost(request)
	if cost == 0 {
		return func() {}, nil
	}
	address := s.Address(ctx)
	if err := s.Reads.Check(address, cost); err != nil {
		return nil, err
	}
	if !needsStore {
		return func() {}, nil
	}
	if !s.reads.all.TakeN("", cost) {
		return nil, s.Limits.Exceeded(&s.Limits.ReadsPerSecond, "reads a second", readRetry)
	}
	return s.reads.enter(ctx, address)
}

// skipCost returns the number of reads that a look-up for a list counts as, in addition to one, if the
// given number of games did not belong to the list. Looking up a game takes 10 to 15 µs of processor
// time.
func skipCost(games int) int { return (games + 9) / 10 }

// CountRead counts a health check, or an HTTP request that is not an RPC, as a read by its
// address. If the address exceeds its limit, CountRead returns the status that an RPC would
// get.
func (s *Service) CountRead(ctx context.Context, path string) error {
	if err := s.Reads.Check(s.Address(ctx), 1); err != nil {
		return s.toStatus(ctx, path, err)
	}
	return nil
}
