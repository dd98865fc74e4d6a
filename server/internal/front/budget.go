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

	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/limits"
)

const (
	// EventsPerRead is the number of events of a game's history that count as one read, also when a
	// watcher resumes. Reading and encoding one as JSON takes 14 µs, and ten take about as long as a
	// small call.
	EventsPerRead = 10
	// bytesPerRead is the number of bytes beside calls that count as one read. A client may send
	// bytesPerCall bytes for each call by gRPC, and bytesPerRequest for each request by HTTP, whose
	// headers are larger.
	bytesPerRead    = 128
	bytesPerCall    = 256
	bytesPerRequest = 2 << 10
	// bytesPerHandshake is the number of bytes that a client may send for a TLS handshake.
	bytesPerHandshake = 4 << 10
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
	budgets                    *Budgets
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
	b.Charge(n)
	return true
}

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

// Of returns the budget of an address.
func (b *Budgets) Of(address string) *Budget {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := b.all[address]
	if found == nil {
		found = &Budget{
			budgets: b, address: address, refusals: rate.NewLimiter(refusalsPerSecond, refusalBurst),
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

type budgetKey struct{}

// BudgetOf returns the budget of the client that makes the call with the context ctx, or nil if the server
// makes it by itself. A nil Budget has no limits.
func BudgetOf(ctx context.Context) *Budget {
	b, _ := ctx.Value(budgetKey{}).(*Budget)
	return b
}

// AddressOf returns the address of the client that makes the call with the context ctx, or "" if the server
// makes it by itself.
func AddressOf(ctx context.Context) string {
	if b := BudgetOf(ctx); b != nil {
		return b.address
	}
	return ""
}

// Context returns a copy of ctx, for a call by the budget's client.
func (b *Budget) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, budgetKey{}, b)
}

// Check counts n reads, or returns an error if the address exceeds the limit.
func (b *Budget) Check(n int) error {
	if b == nil || n == 0 || b.take(n) {
		return nil
	}
	return b.budgets.exceeded()
}

func (b *Budgets) exceeded() *limits.ExceededError {
	return b.Limits.Exceeded(limits.ReadsPerAddressPerSecond, "reads from one address a second", time.Second)
}

// Charge counts n reads that have been made, even if they exceed the limit.
func (b *Budget) Charge(n int) {
	if b != nil && n != 0 {
		b.reads.ReserveN(time.Now(), min(n, b.reads.Burst()))
	}
}

// Enter waits until another call of the address may run, which takes Reading or Changing slots. An address
// may use half of the processors for calls other than moves. If err is nil, the caller must call leave when
// the call ends.
func (b *Budget) Enter(ctx context.Context, slots int64) (leave func(), err error) {
	return b.enterWithin(ctx, slots, maxWait)
}

// enterWithin is like Enter, with the time that the call may wait.
func (b *Budget) enterWithin(ctx context.Context, slots int64, wait time.Duration) (leave func(), err error) {
	if b == nil || b.budgets.Limits[limits.ReadsPerAddressPerSecond] == 0 || b.budgets.storeAway.Load() {
		return func() {}, nil
	}
	if !b.running.TryAcquire(slots) {
		waiting, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		if b.running.Acquire(waiting, slots) != nil {
			if ctx.Err() == nil && b.budgets.storeAway.Load() {
				return func() {}, nil
			}
			return nil, cmp.Or[error](ctx.Err(), b.budgets.Limits.Exceeded(limits.ReadsPerAddressPerSecond,
				"reads from one address a second, and earlier ones are still running", time.Second))
		}
	}
	return func() { b.running.Release(slots) }, nil
}

// StoreUp records whether the store answers. While it does not, calls wait for it and not for a
// processor: Enter lets them all run, so that they return the store's error.
func (b *Budgets) StoreUp(up bool) { b.storeAway.Store(!up) }

// EnterCall is like Enter for a unary call or a page, and leaves when the response has been encoded:
// encoding a list takes longer than reading it.
func EnterCall(ctx context.Context, slots int64) error {
	s := callOf(ctx)
	s.encoded() // A page may need several calls.
	leave, err := s.budget.Enter(ctx, slots)
	s.leave = leave
	return err
}

// pay waits until the address has paid for the reads that it has made. It returns an error if that
// takes too long.
func (b *Budget) pay(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	if b.reads.WaitN(waiting, 0) != nil {
		return cmp.Or[error](ctx.Err(), b.budgets.exceeded())
	}
	return nil
}

// History returns games whose history counts as reads by the address of the call that needs it.
func History(games store.Games) store.Games { return history{games, semaphore.NewWeighted(1)} }

type history struct {
	store.Games
	// reading is held while a page is read, so that a move waits for at most one page.
	reading *semaphore.Weighted
}

// Entries implements store.Games.
func (h history) Entries(ctx context.Context, gameID string, from int32, n int) ([]store.Record, error) {
	b := BudgetOf(ctx)
	if n < EventsPerRead || b == nil {
		return h.Games.Entries(ctx, gameID, from, n)
	}
	if err := b.pay(ctx); err != nil {
		return nil, err
	}
	if err := h.reading.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer h.reading.Release(1)
	records, err := h.Games.Entries(ctx, gameID, from, n)
	b.Charge(len(records) / EventsPerRead)
	return records, err
}
