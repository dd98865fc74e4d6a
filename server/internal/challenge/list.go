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

// listed is a challenge in a list.
type listed struct {
	place store.Place
	from  source
	// joinable is set for a race in which a player waits for others, and absent if its players do not
	// watch it.
	joinable, absent bool
}

// source identifies where a challenge comes from: its Source or, if that is unknown, its creator.
type source struct {
	address uint16
	creator string
}

// List returns a page of up to n places in the list of public challenges, latest first, after
// the given one. next is the place after which the next page begins, or the zero Place if this
// is the last page. A kind of 0 means all kinds. Daily games are not listed.
//
// One address cannot fill the first page, however many accounts it uses: if a source has more
// than its share of it, other sources' latest challenges replace the oldest of that source, races
// that wait for players first. The next page begins with the first challenge that was replaced,
// so it may repeat others.
func (s *Challenges) List(ctx context.Context, kind replay.ChallengeKind, after store.Place, n int) (page []store.Place, next store.Place, err error) {
	page, err = s.Store.List(ctx, uint8(kind), after, n+1) // The extra place shows whether there is another page.
	if err != nil {
		return nil, next, fmt.Errorf("listing challenges: %w", err)
	}
	if len(page) <= n {
		return page, next, nil
	}
	page = page[:n]
	if after != (store.Place{}) {
		return page, page[n-1], nil
	}
	return s.firstPage(ctx, kind, page)
}

// firstPage returns the first page of a list and the place after which the next page begins.
// page contains the latest challenges.
func (s *Challenges) firstPage(ctx context.Context, kind replay.ChallengeKind, page []store.Place) (first []store.Place, next store.Place, err error) {
	latest, err := s.describe(ctx, page)
	if err != nil {
		return nil, next, err
	}
	share, counts := max(1, len(page)/pageShare), map[source]int{}
	within := func(l listed) bool {
		counts[l.from]++
		return counts[l.from] <= share
	}
	last := page[len(page)-1]
	var surplus []store.Place
	for _, l := range latest {
		if within(l) {
			first = append(first, l.place)
		} else {
			surplus = append(surplus, l.place)
		}
	}
	if len(surplus) == 0 {
		return page, last, nil
	}
	recent, err := s.recent(ctx, kind)
	if err != nil {
		return nil, next, err
	}
	var others []store.Place
	for _, joinable := range []bool{true, false} {
		for _, l := range recent {
			if len(others) < len(surplus) && l.joinable == joinable && comparePlaces(l.place, last) > 0 && within(l) {
				others = append(others, l.place)
			}
		}
	}
	kept := len(surplus) - len(others)
	next = last
	if len(others) > 0 {
		next = page[slices.Index(page, surplus[kept])-1]
	}
	first = slices.Concat(first, surplus[:kept], others)
	slices.SortFunc(first, comparePlaces)
	return first, next, nil
}

// comparePlaces orders places as lists do: latest first.
func comparePlaces(a, b store.Place) int {
	return cmp.Or(cmp.Compare(b.Rank, a.Rank), cmp.Compare(b.GameID, a.GameID))
}

// recent returns the latest challenges in the list of the given kind, as they were at most
// recentFor ago. Races that this server has created since are included.
func (s *Challenges) recent(ctx context.Context, kind replay.ChallengeKind) ([]listed, error) {
	return s.recents.Get(ctx, kind, recentFor, func() ([]listed, error) {
		places, err := s.Store.List(ctx, uint8(kind), store.Place{}, maxRecent)
		if err != nil {
			return nil, fmt.Errorf("listing challenges: %w", err)
		}
		return s.describe(ctx, places)
	})
}

// describe reads the challenges at the given places. It omits those that no longer exist.
func (s *Challenges) describe(ctx context.Context, places []store.Place) ([]listed, error) {
	ids := make([]string, len(places))
	ranks := make(map[string]int64, len(places))
	for i, place := range places {
		ids[i], ranks[place.GameID] = place.GameID, place.Rank
	}
	all, now, err := s.readAll(ctx, ids...)
	if err != nil {
		return nil, err
	}
	described := make([]listed, len(all))
	for i, c := range all {
		from := source{address: c.Source}
		if c.Source == 0 {
			from.creator = c.Creator.ID
		}
		described[i] = listed{
			place: store.Place{Rank: ranks[c.ID], GameID: c.ID}, from: from,
			joinable: c.Kind == replay.Race && c.OpenTime.IsZero() && c.players() > 0 && len(c.Entrants) < MaxEntrants,
			absent:   c.Absent(now),
		}
	}
	return described, nil
}
