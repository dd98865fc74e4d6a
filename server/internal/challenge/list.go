package challenge

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/server/internal/store"
)

const (
	// maxRecent is the number of latest challenges among which the first page of a list
	// looks for challenges from other sources.
	maxRecent = 2_000
	// recentFor is how long these challenges are cached. Reading them takes about 20 ms.
	recentFor = 2 * time.Second
	// pageShare limits one source to 1/pageShare of the first page, if there are enough
	// challenges from other sources.
	pageShare = 10
)

// SourceOf returns the Source of challenges that are created from an address. It has only 16
// bits, so that it does not reveal the address. Addresses that share a source only share their
// part of the first page.
func SourceOf(address string) uint16 {
	digest := sha256.Sum256([]byte(address))
	return max(1, binary.BigEndian.Uint16(digest[:]))
}

// List returns a page of up to n public challenges, latest first, after the given place in their list, and
// the store's time. next is the place after which the next page begins, or the zero Place if this
// is the last page. A kind of 0 means all kinds. Daily games are not listed.
//
// One address cannot fill the first page, however many accounts it uses: if a source has more
// than its share of it, other sources' latest challenges replace the oldest of that source. These are as
// they were stored at most recentFor ago, so an outage may yet postpone their CloseTime. The next page begins
// with the first challenge that was replaced, so it may repeat others.
func (s *Challenges) List(
	ctx context.Context, kind replay.ChallengeKind, after store.Place, n int,
) (page []*Challenge, now time.Time, next store.Place, err error) {
	places, err := s.Store.List(ctx, uint8(kind), after, n+1) // The extra place shows whether there is another page.
	if err != nil {
		return nil, now, next, fmt.Errorf("listing challenges: %w", err)
	}
	if len(places) > n {
		places, next = places[:n], places[n-1]
	}
	page, now, err = s.GetAll(ctx, idsOf(places)...)
	if err == nil && after == (store.Place{}) && next != (store.Place{}) {
		page, next, err = s.share(ctx, kind, page, next)
	}
	return page, now, next, err
}

func idsOf(places []store.Place) []string {
	return convert.All(places, func(place store.Place) string { return place.GameID })
}

// share returns the first page of a list and the place after which the next page begins. page contains the
// latest challenges, the last of which is at the place last.
func (s *Challenges) share(
	ctx context.Context, kind replay.ChallengeKind, page []*Challenge, last store.Place,
) (first []*Challenge, next store.Place, err error) {
	share, counts := max(1, len(page)/pageShare), map[uint16]int{}
	within := func(c *Challenge) bool {
		counts[c.Source]++
		return counts[c.Source] <= share
	}
	var surplus []*Challenge
	for _, c := range page {
		if within(c) {
			first = append(first, c)
		} else {
			surplus = append(surplus, c)
		}
	}
	if len(surplus) == 0 {
		return page, last, nil
	}
	recent, err := s.recent(ctx, kind)
	if err != nil {
		return nil, next, err
	}
	for _, c := range recent {
		if latestFirst(c, page[len(page)-1]) > 0 && within(c) {
			first = append(first, c)
		}
	}
	kept := max(0, len(page)-len(first)) // of the surplus
	if kept == len(surplus) {
		return page, last, nil
	}
	before := page[slices.Index(page, surplus[kept])-1]
	first = append(first, surplus...)[:len(page)]
	slices.SortFunc(first, latestFirst)
	return first, store.Place{Rank: before.CreateTime.UnixMilli(), GameID: before.ID}, nil
}

// latestFirst orders challenges as lists do.
func latestFirst(a, b *Challenge) int {
	return cmp.Or(b.CreateTime.Compare(a.CreateTime), cmp.Compare(b.ID, a.ID))
}

// recent returns the latest challenges in the list of the given kind, as they were at most
// recentFor ago. Races that this server has created since are included.
func (s *Challenges) recent(ctx context.Context, kind replay.ChallengeKind) ([]*Challenge, error) {
	return s.recents.Get(ctx, kind, recentFor, func() ([]*Challenge, error) {
		places, err := s.Store.List(ctx, uint8(kind), store.Place{}, maxRecent)
		if err != nil {
			return nil, fmt.Errorf("listing challenges: %w", err)
		}
		recent, _, err := s.readAll(ctx, idsOf(places)...)
		return recent, err
	})
}
