package rpc

import "sync"

// liveChallenges holds a Service's live challenges, by ID. The reads of each are charged to one
// of the addresses that watch it.
type liveChallenges struct {
	mu      sync.Mutex
	all     map[string]*liveChallenge
	charged map[string]int // number of live challenges charged to each address
}

// liveAtUsualIntervals is the number of live challenges charged to an address that the server
// reads at the usual intervals. If there are more, the intervals are longer in proportion, so
// that an address does not get more reads by watching more challenges.
const liveAtUsualIntervals = 250

// charge charges l to an address. The caller holds mu.
func (all *liveChallenges) charge(l *liveChallenge, address string) {
	if all.charged == nil {
		all.charged = map[string]int{}
	}
	l.chargedTo = address
	all.charged[address]++
}

// uncharge stops charging l to its address. The caller holds mu.
func (all *liveChallenges) uncharge(l *liveChallenge) {
	if all.charged[l.chargedTo]--; all.charged[l.chargedTo] == 0 {
		delete(all.charged, l.chargedTo)
	}
}

// chargeIfFewer charges l to an address that has fewer live challenges than the one that l is
// charged to, so that a client cannot slow a challenge down for others by watching it along with
// many others. The caller holds mu.
func (all *liveChallenges) chargeIfFewer(l *liveChallenge, address string) {
	if all.charged[address]+1 >= all.charged[l.chargedTo] {
		return
	}
	all.uncharge(l)
	all.charge(l, address)
	l.wake() // Its next read may be far in the future.
}

// chargedAddress returns the address that l is charged to.
func (all *liveChallenges) chargedAddress(l *liveChallenge) string {
	all.mu.Lock()
	defer all.mu.Unlock()
	return l.chargedTo
}

// intervalFactor returns the factor by which the intervals between l's reads are longer than
// usual. The caller holds mu.
func (all *liveChallenges) intervalFactor(l *liveChallenge) int {
	return max(1, (all.charged[l.chargedTo]+liveAtUsualIntervals-1)/liveAtUsualIntervals)
}
