package rpc

import "sync"

// liveChallenges holds a Service's live challenges, by ID.
type liveChallenges struct {
	mu   sync.Mutex
	all  map[string]*liveChallenge
	paid map[string]int // number of live challenges, by payer
}

// liveAtPace is the number of an address's live challenges that the server reads at the usual
// intervals. If there are more, the intervals are longer in proportion, so that an address does
// not get more reads by watching more challenges.
const liveAtPace = 250

// pay makes an address the payer of l. The caller holds mu.
func (all *liveChallenges) pay(l *liveChallenge, address string) {
	if all.paid == nil {
		all.paid = map[string]int{}
	}
	l.payer = address
	all.paid[address]++
}

// unpay releases the payer of l. The caller holds mu.
func (all *liveChallenges) unpay(l *liveChallenge) {
	if all.paid[l.payer]--; all.paid[l.payer] == 0 {
		delete(all.paid, l.payer)
	}
}

// share makes an address the payer of l if it has fewer live challenges than the current
// payer, so that a client cannot slow a challenge down for others by watching it along with
// many others. The caller holds mu.
func (all *liveChallenges) share(l *liveChallenge, address string) {
	if all.paid[address]+1 >= all.paid[l.payer] {
		return
	}
	all.unpay(l)
	all.pay(l, address)
	l.wake() // Its next read may be far in the future.
}

// payerOf returns the payer of l.
func (all *liveChallenges) payerOf(l *liveChallenge) string {
	all.mu.Lock()
	defer all.mu.Unlock()
	return l.payer
}

// pace returns the factor by which the intervals between l's reads are longer than usual.
func (all *liveChallenges) pace(l *liveChallenge) int {
	return max(1, (all.paid[l.payer]+liveAtPace-1)/liveAtPace)
}
