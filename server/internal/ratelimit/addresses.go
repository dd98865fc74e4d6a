package ratelimit

import "sync"

// Addresses counts the open connections, streams or calls of each address. It keeps a T for
// each address with a count above 0. It is safe for concurrent use.
type Addresses[T any] struct {
	fresh func(address string) T

	mu   sync.Mutex
	open map[string]*counted[T]
}

type counted[T any] struct {
	value T
	count int
}

// NewAddresses returns an empty Addresses. It calls fresh for each new address.
func NewAddresses[T any](fresh func(address string) T) *Addresses[T] {
	return &Addresses[T]{fresh: fresh, open: map[string]*counted[T]{}}
}

// Enter adds one to the address's count until Leave is called, and returns the address's T.
// If the count has reached the limit, it returns false and changes nothing. A limit of 0
// means no limit.
func (a *Addresses[T]) Enter(address string, limit int) (value T, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.open[address]
	if c == nil {
		c = &counted[T]{value: a.fresh(address)}
		a.open[address] = c
	}
	if limit > 0 && c.count >= limit {
		return value, false
	}
	c.count++
	return c.value, true
}

// Leave reverses one call to Enter.
func (a *Addresses[T]) Leave(address string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.open[address]
	if c.count--; c.count == 0 {
		delete(a.open, address)
	}
}

// Len returns the number of addresses with a count above 0.
func (a *Addresses[T]) Len() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.open)
}
