package front

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/limits"
)

const (
	// EventsPerRead is the number of events of a game's history that count as one read, also for who
	// resumes a watch.
	// Reading and encoding one as JSON takes 14 µs, and ten take about as long as a small call.
	EventsPerRead = 10
	// bytesPerRead is the number of bytes beside calls that count as one read. A client may send
	// bytesPerCall bytes for each call by gRPC, and bytesPerRequest for each request by HTTP, whose
	// headers are larger.
	bytesPerRead    = 128
	bytesPerCall    = 256
	bytesPerRequest = 2 << 10
	// bytesPerHandshake is the number of bytes that a client may send for a TLS handshake.
	bytesPerHandshake = 4 << 10
	// readsWithoutCall is the number of reads that a connection without a call counts as when it is closed,
	// unless it has been open for as long as a handshake may take: programs are connected to all servers, and
	// may call only one of them.
	readsWithoutCall = 50
	// maxWait is how long a call may wait until its address has paid for what it has read before, or
	// until others of its calls have ended.
	maxWait = time.Second
	// retryAfter is how long a client over another limit should wait before it retries.
	retryAfter = 5 * time.Second
	// Reading is the number of slots that a processor has. A call takes all of one, unless it changes something.
	Reading = 16
	// Changing is the number of slots that a call takes if it changes something. Such calls wait for the store
	// most of the time, and SQLite commits those that wait together.
	Changing = 1
	// refusalsPerSecond and refusalBurst are the refusals after which connections of an address are
	// closed if their calls are refused again.
	refusalsPerSecond = 100
	refusalBurst      = 1000
	// forwardedFor is the metadata key with which proxies report the addresses of their clients.
	forwardedFor = "x-forwarded-for"
	// Burst is the burst of an address's reads, in seconds' worth. It allows all clients to reconnect
	// after a server has stopped.
	Burst = 10
	// rememberFor is the time for which the budget of an address is kept at least.
	rememberFor = 10 * time.Second
)

// Budget is what the clients of an address use, and what they may still use.
type Budget struct {
	address                    string
	connections, calls, unread atomic.Int64 // open connections; open calls, streams and HTTP requests; bytes
	// reads is for calls by what they cost. running has the slots of the processors for calls other than
	// moves.
	reads    *rate.Limiter
	running  *semaphore.Weighted
	refusals *rate.Limiter

	used     time.Time // guarded by Budgets.mu
	unproven []*conn   // connections that have proven nothing, oldest first; guarded by Front.mu
}

// take counts n reads, or returns false if they exceed the limit.
func (b *Budget) take(n int) bool { return b.reads.AllowN(time.Now(), n) }

// charge counts n reads that have been made, or returns false if the address has yet to pay for earlier
// ones.
func (b *Budget) charge(n int) bool {
	if b.reads.Tokens() <= 0 {
		return false
	}
	b.spend(n)
	return true
}

// spend counts n reads that have been made, even if they exceed the limit.
func (b *Budget) spend(n int) { b.reads.ReserveN(time.Now(), min(n, b.reads.Burst())) }

// idle reports whether a new budget would be the same.
func (b *Budget) idle() bool {
	return b.connections.Load() == 0 && b.calls.Load() == 0 && b.unread.Load() == 0 &&
		b.reads.Tokens() >= float64(b.reads.Burst()) && b.refusals.Tokens() >= refusalBurst
}

// exceeds reports whether n exceeds limit. A limit of 0 means no limit.
func exceeds(n int64, limit int) bool { return limit > 0 && n > int64(limit) }

// Budgets holds the budgets of all addresses that use the server. It is safe for concurrent use.
type Budgets struct {
	Limits *limits.Limits
	// Proxies are trusted to report the addresses of their clients.
	Proxies Proxies

	storeAway atomic.Bool // see StoreUp

	mu  sync.Mutex
	all map[string]*Budget
}

// NewBudgets returns Budgets with the given limits.
func NewBudgets(l *limits.Limits, proxies Proxies) *Budgets {
	return &Budgets{Limits: l, Proxies: proxies, all: map[string]*Budget{}}
}

// budget returns the budget of an address.
func (b *Budgets) budget(address string) *Budget {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := b.all[address]
	if found == nil {
		found = &Budget{
			address: address, refusals: rate.NewLimiter(refusalsPerSecond, refusalBurst),
			reads:   rate.NewLimiter(rate.Inf, math.MaxInt32),
			running: semaphore.NewWeighted(int64(max(1, runtime.GOMAXPROCS(0)/2)) * Reading),
		}
		if n := b.Limits[limits.ReadsPerAddressPerSecond]; n > 0 {
			found.reads = rate.NewLimiter(rate.Limit(n), Burst*n)
		}
		b.all[address] = found
	}
	found.used = time.Now()
	return found
}

// sweep forgets the budgets of addresses that have left.
func (b *Budgets) sweep() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for address, each := range b.all {
		if time.Since(each.used) > rememberFor && each.idle() {
			delete(b.all, address)
		}
	}
}

// Address returns the client address that the limits apply to, or "" if the context has none. Such a
// context has no limit.
func (b *Budgets) Address(ctx context.Context) string {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return ""
	}
	return b.Proxies.Of(p.Addr, metadata.ValueFromIncomingContext(ctx, forwardedFor))
}

// For returns a copy of ctx that comes from the client of the context call, which pays for its reads. It
// does not keep the rest of call in memory.
func For(ctx, call context.Context) context.Context {
	if p, ok := peer.FromContext(call); ok {
		ctx = peer.NewContext(ctx, p)
	}
	if md, ok := metadata.FromIncomingContext(call); ok && len(md) > 0 {
		ctx = metadata.NewIncomingContext(ctx, md)
	}
	return ctx
}

// Check counts n reads, or returns an error if the address exceeds the limit.
func (b *Budgets) Check(address string, n int) error {
	if n == 0 || address == "" || b.budget(address).take(n) {
		return nil
	}
	return b.exceeded()
}

func (b *Budgets) exceeded() *limits.ExceededError {
	return b.Limits.Exceeded(limits.ReadsPerAddressPerSecond, "reads from one address a second", time.Second)
}

// Charge counts n reads that have been made, even if they exceed the limit.
func (b *Budgets) Charge(address string, n int) {
	if address != "" && n != 0 {
		b.budget(address).spend(n)
	}
}

// Enter waits until another call of the address may run, which takes Reading or Changing slots. An address
// may use half of the processors for calls other than moves. If err is nil, the caller must call leave when
// the call ends.
func (b *Budgets) Enter(ctx context.Context, address string, slots int64) (leave func(), err error) {
	return b.enterWithin(ctx, address, slots, maxWait)
}

// enterWithin is like Enter, with the time that the call may wait.
func (b *Budgets) enterWithin(ctx context.Context, address string, slots int64, wait time.Duration) (leave func(), err error) {
	if b.Limits[limits.ReadsPerAddressPerSecond] == 0 || address == "" || b.storeAway.Load() {
		return func() {}, nil
	}
	running := b.budget(address).running
	if !running.TryAcquire(slots) {
		waiting, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		if running.Acquire(waiting, slots) != nil {
			if ctx.Err() == nil && b.storeAway.Load() {
				return func() {}, nil
			}
			return nil, cmp.Or[error](ctx.Err(), b.Limits.Exceeded(limits.ReadsPerAddressPerSecond,
				"reads from one address a second, and earlier ones are still running", time.Second))
		}
	}
	return func() { running.Release(slots) }, nil
}

// StoreUp records whether the store answers. While it does not, calls wait for it and not for a
// processor: Enter lets them all run, so that they return the store's error.
func (b *Budgets) StoreUp(up bool) { b.storeAway.Store(!up) }

// EnterCall is like Enter for a unary call or a page, and leaves when the response has been encoded:
// encoding a list takes longer than reading it.
func (b *Budgets) EnterCall(ctx context.Context, address string, slots int64) error {
	s := callOf(ctx)
	s.encoded() // A page may need several calls.
	leave, err := b.Enter(ctx, address, slots)
	if err != nil {
		return err
	}
	s.leave = sync.OnceFunc(leave)
	context.AfterFunc(s.Context, s.leave)
	return nil
}

// pay waits until the address has paid for the reads that it has made. It returns an error if that
// takes too long.
func (b *Budgets) pay(ctx context.Context, address string) error {
	wait := b.budget(address).reads.ReserveN(time.Now(), 0).Delay()
	if wait > maxWait {
		return b.exceeded()
	}
	select {
	case <-time.After(wait):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// History returns games whose history counts as reads by the address of the call that needs it.
func (b *Budgets) History(games store.Games) store.Games {
	return history{games, b, semaphore.NewWeighted(1)}
}

type history struct {
	store.Games
	budgets *Budgets
	// reading is held while a page is read, so that a move waits for at most one page.
	reading *semaphore.Weighted
}

// Entries implements store.Games.
func (h history) Entries(ctx context.Context, gameID string, from int32, n int) ([]store.Record, error) {
	address := h.budgets.Address(ctx)
	if n < EventsPerRead || address == "" {
		return h.Games.Entries(ctx, gameID, from, n)
	}
	if err := h.budgets.pay(ctx, address); err != nil {
		return nil, err
	}
	if err := h.reading.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer h.reading.Release(1)
	records, err := h.Games.Entries(ctx, gameID, from, n)
	h.budgets.Charge(address, len(records)/EventsPerRead)
	return records, err
}
