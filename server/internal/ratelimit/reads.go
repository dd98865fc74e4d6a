package ratelimit

import (
	"context"
	"time"

	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/limits"
)

const (
	// eventsPerRead is the number of events of a game's history that count as one read.
	eventsPerRead = 50
	// maxPause is how long a call may wait, before it reads history, until its address has paid for
	// what it has read before.
	maxPause = time.Second
)

// Reads limits the rate at which each address reads. The address of a call is in its context; a
// context without one has no limit.
type Reads struct {
	*Pacer
	Proxies Proxies
	Limits  *limits.Limits
}

// NewReads returns Reads with the given limits.
func NewReads(l *limits.Limits, proxies Proxies) *Reads {
	return &Reads{PerSecond(l.ReadsPerAddressPerSecond), proxies, l}
}

// Address returns the client address that the limits apply to, or "" if the context has none.
func (r *Reads) Address(ctx context.Context) string {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return ""
	}
	return r.Proxies.Of(p.Addr, metadata.ValueFromIncomingContext(ctx, "x-forwarded-for"))
}

// Check counts n reads, or returns an error if the address exceeds the limit.
func (r *Reads) Check(address string, n int) error {
	if r.TakeN(address, n) {
		return nil
	}
	return r.exceeded()
}

func (r *Reads) exceeded() error {
	return r.Limits.Exceeded(&r.Limits.ReadsPerAddressPerSecond, "reads from one address a second", time.Second)
}

// Charge counts n reads that have been made, even if they exceed the limit.
func (r *Reads) Charge(address string, n int) {
	if r.limit > 0 && address != "" {
		r.Limiter(address).ReserveN(time.Now(), min(n, r.burst))
	}
}

// pay waits until the address has paid for the reads that it has made. It returns an error if that
// takes too long.
func (r *Reads) pay(ctx context.Context, address string) error {
	if r.limit == 0 || address == "" {
		return nil
	}
	owed := -r.Limiter(address).Tokens() / float64(r.limit)
	pause := time.Duration(owed * float64(time.Second))
	switch {
	case pause <= 0:
		return nil
	case pause > maxPause:
		return r.exceeded()
	}
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// History returns games whose history counts as reads by the address of the call that needs it.
func (r *Reads) History(games store.Games) store.Games { return history{games, r} }

type history struct {
	store.Games
	reads *Reads
}

// Entries implements store.Games.
func (h history) Entries(ctx context.Context, gameID string, from int32, n int) ([]store.Record, error) {
	if n < eventsPerRead {
		return h.Games.Entries(ctx, gameID, from, n)
	}
	address := h.reads.Address(ctx)
	if err := h.reads.pay(ctx, address); err != nil {
		return nil, err
	}
	records, err := h.Games.Entries(ctx, gameID, from, n)
	h.reads.Charge(address, len(records)/eventsPerRead)
	return records, err
}
