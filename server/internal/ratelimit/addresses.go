package ratelimit

import "sync"

// Addresses counts what each address has open: connections, streams or calls. It
// keeps a T for each address that has any. It is safe for concurrent use.
type Addresses[T any] struct {
	fresh func(address string) T

	mu   sync.Mutex
	open map[string]*counted[T]
}

type counted[T any] struct {
	value T
	count int
}

// NewAddresses returns Addresses in which none has anything open. It calls fresh for
// each address that opens its first one.
func NewAddresses[T any](fresh func(address string) T) *Addresses[T] {
	return &Addresses[T]{fresh: fresh, open: map[string]*counted[T]{}}
}

// Enter counts one more for an address, until Leave, and returns the address's T. It
// reports false, and counts nothing, if the address has limit open; 0 is no limit.
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

// Leave undoes Enter.
func (a *Addresses[T]) Leave(address string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.open[address]
	if c.count--; c.count == 0 {
		delete(a.open, address)
	}
}

// Len returns how many addresses have anything open.
func (a *Addresses[T]) Len() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.open)
}
