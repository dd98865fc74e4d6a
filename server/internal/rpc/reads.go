package rpc

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/quota"
	"github.com/gridstand/gridstand/server/limits"
)

const (
	// readShare is the part of the calls that the server runs at once, one in so
	// many, that one address may have: the others still find room.
	readShare = 4
	// readQueue is how many calls may wait for each that the server runs at once.
	readQueue = 256
	// readWait bounds how long a call waits for its turn.
	readWait = time.Second
	// readRetry is when a refused caller may come again.
	readRetry = time.Second
)

// readGate bounds the calls that are not moves. A call of an address waits until
// few enough others of the address run, and then until few enough run on the
// server. Moves have a pace of their own and never wait here.
type readGate struct {
	limits  *limits.Limits
	pace    *quota.Pacer        // of each address
	running *semaphore.Weighted // calls that run on the server; nil for no limit

	mu        sync.Mutex
	waiting   int // calls that wait, of all addresses
	addresses map[string]*addressReads
}

// addressReads are the calls of one address that are in the gate.
type addressReads struct {
	gate    *readGate
	address string
	calls   int                 // that run or wait; guarded by the gate's mu
	running *semaphore.Weighted // those that run; nil for no limit
}

func newReadGate(l *limits.Limits) *readGate {
	perSecond := l.ReadsPerAddressPerSecond
	g := &readGate{
		limits: l, pace: quota.NewPacer(rate.Limit(perSecond), quota.Burst*perSecond), addresses: map[string]*addressReads{},
	}
	if l.ReadsAtOnce > 0 {
		g.running = semaphore.NewWeighted(int64(l.ReadsAtOnce))
	}
	return g
}

// share is how many calls of one address may run at once.
func (g *readGate) share() int { return max(1, g.limits.ReadsAtOnce/readShare) }

// enter counts a call of an address, and waits for its turn. The caller calls
// leave unless there is an error.
func (g *readGate) enter(ctx context.Context, address string) (*addressReads, error) {
	a := g.join(address)
	if a == nil {
		return nil, g.limits.Exceeded(&g.limits.ReadsPerAddress, g.limits.ReadsPerAddress, "reads of one address at once", readRetry)
	}
	if err := g.turn(ctx, a); err != nil {
		a.part()
		return nil, err
	}
	return a, nil
}

// leave ends a call that entered.
func (a *addressReads) leave() {
	if a.running != nil {
		a.running.Release(1)
		a.gate.running.Release(1)
	}
	a.part()
}

// join counts a call of an address; nil if the address has as many as it may.
func (g *readGate) join(address string) *addressReads {
	g.mu.Lock()
	defer g.mu.Unlock()
	a := g.addresses[address]
	if a == nil {
		a = &addressReads{gate: g, address: address}
		if g.running != nil {
			a.running = semaphore.NewWeighted(int64(g.share()))
		}
		g.addresses[address] = a
	}
	if most := g.limits.ReadsPerAddress; most > 0 && a.calls >= most {
		return nil
	}
	a.calls++
	return a
}

// part undoes join.
func (a *addressReads) part() {
	a.gate.mu.Lock()
	defer a.gate.mu.Unlock()
	if a.calls--; a.calls == 0 {
		delete(a.gate.addresses, a.address)
	}
}

// turn waits until the call may run.
func (g *readGate) turn(ctx context.Context, a *addressReads) error {
	switch {
	case a.running == nil:
		return nil
	case a.running.TryAcquire(1):
		if g.running.TryAcquire(1) {
			return nil
		}
		a.running.Release(1)
	}
	full := g.limits.Exceeded(&g.limits.ReadsAtOnce, g.limits.ReadsAtOnce, "reads at once", readRetry)
	if !g.queue(1) {
		return full
	}
	defer g.queue(-1)
	waiting, cancel := context.WithTimeout(ctx, readWait)
	defer cancel()
	err := a.running.Acquire(waiting, 1)
	if err == nil {
		if err = g.running.Acquire(waiting, 1); err == nil {
			return nil
		}
		a.running.Release(1)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return full
}

// queue counts calls that begin or end to wait. It reports whether there is room
// for them.
func (g *readGate) queue(calls int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.waiting+calls > g.limits.ReadsAtOnce*readQueue {
		return false
	}
	g.waiting += calls
	return true
}

// readCost is how many reads a request counts as: as many as it asks for default
// pages. It is 0 for moves, which are counted in another way; needsStore says
// whether the call asks the store.
func readCost(request any) (cost int, needsStore bool) {
	entries := 0
	switch r := request.(type) {
	case *pb.MoveRequest, *pb.UndoRequest, *pb.ResignRequest:
		return 0, false
	case *pb.ListVariantsRequest, *pb.GetServerInfoRequest:
		return 1, false
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

// read admits a call that is not a move. What it returns ends the call.
func (s *Service) read(ctx context.Context, request any) (func(), error) {
	cost, needsStore := readCost(request)
	if cost == 0 {
		return func() {}, nil
	}
	address := s.address(ctx)
	if !s.reads.pace.TakeN(address, cost) {
		return nil, s.exceeded(&s.Limits.ReadsPerAddressPerSecond, "reads of one address in a second", readRetry)
	}
	if !needsStore {
		return func() {}, nil
	}
	a, err := s.reads.enter(ctx, address)
	if err != nil {
		var full *limits.ExceededError
		if errors.As(err, &full) && !s.StoreAnswers() {
			return nil, storageUnavailable // What fills the gate are calls that the store does not answer.
		}
		return nil, err
	}
	return a.leave, nil
}
