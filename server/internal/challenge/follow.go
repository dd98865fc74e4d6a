package challenge

import (
	"slices"
	"sync"
)

// followers contains the channels to notify when a challenge changes.
type followers struct {
	mu  sync.Mutex
	all map[string][]chan<- struct{} // by challenge id
}

// Follow sends to changed after each change that this Challenges makes to the challenge,
// until stop is called. If the channel is full, it drops the notification instead of
// blocking. Changes made by other servers are not reported.
func (s *Challenges) Follow(challengeID string, changed chan<- struct{}) (stop func()) {
	f := &s.followers
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all = map[string][]chan<- struct{}{}
	}
	f.all[challengeID] = append(f.all[challengeID], changed)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		rest := slices.DeleteFunc(f.all[challengeID], func(other chan<- struct{}) bool { return other == changed })
		if f.all[challengeID] = rest; len(rest) == 0 {
			delete(f.all, challengeID)
		}
	}
}

// notify tells the challenge's followers that it has changed.
func (f *followers) notify(challengeID string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, changed := range f.all[challengeID] {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
}
