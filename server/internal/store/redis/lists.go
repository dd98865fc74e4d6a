package redis

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/server/internal/store"
)

var pageScript = newScript("page.lua")

// lists implements store.Lists with sorted sets, each in its own cluster slot:
//
//	games:recent:<status>:<variant>  by the time of the last event
//	games:score:<variant>            active games by their highest score
//	games:watchers:<variant>         active games by spectators, then score
//	player:{<player id>}:games       by the time of the last event
//
// "*" stands for all statuses or variants. Private games are only in players' lists.
type lists struct{ client goredis.UniversalClient }

// maxListings limits the size of a pipeline, so that it does not delay other commands.
const maxListings = 500

func (s lists) Write(ctx context.Context, listings []store.Listing, keep time.Duration) error {
	for batch := range slices.Chunk(listings, maxListings) {
		if err := s.write(ctx, batch, keep); err != nil {
			return failed(err)
		}
	}
	return nil
}

// write writes listings in one pipeline. Games in the same list share one command, which
// takes Redis half the time that separate commands would take.
func (s lists) write(ctx context.Context, listings []store.Listing, keep time.Duration) error {
	pipe := s.client.Pipeline()
	public := listChanges{
		newer: map[string][]goredis.Z{}, set: map[string][]goredis.Z{},
		gone: map[string][]any{}, old: map[string]string{},
	}
	for _, listing := range listings {
		if !listing.Private {
			public.list(listing, "", keep)
			public.list(listing, listing.Variant, keep)
		}
		queuePlayers(ctx, pipe, listing, keep)
	}
	public.queue(ctx, pipe)
	_, err := pipe.Exec(ctx)
	return err
}

// listChanges collects the writes to the public lists, by key.
type listChanges struct {
	// newer is applied only if it is later than the stored time, so that a delayed writer
	// does not move a game back.
	newer map[string][]goredis.Z
	set   map[string][]goredis.Z
	gone  map[string][]any
	// old are the scores below which games are removed; see before.
	old map[string]string
}

// list adds the changes needed to list a game under a variant, or in the lists of all
// variants if variant is empty. The end of a game removes those that are too old to keep.
func (c listChanges) list(l store.Listing, variant string, keep time.Duration) {
	for _, status := range []store.Status{store.AnyStatus, l.Status} {
		list := store.List{Status: status, Variant: variant}
		key := listKey(list)
		c.newer[key] = append(c.newer[key], member(list, l))
		if keep > 0 && l.Status == store.Finished {
			c.old[key] = before(l.Updated, keep)
		}
	}
	for status := store.Waiting; status < l.Status; status++ {
		key := listKey(store.List{Status: status, Variant: variant})
		c.gone[key] = append(c.gone[key], l.GameID)
	}
	for _, order := range []store.Order{store.ByScore, store.ByWatchers} {
		list := store.List{Order: order, Status: store.Active, Variant: variant}
		key := listKey(list)
		switch l.Status {
		case store.Active:
			c.set[key] = append(c.set[key], member(list, l))
		case store.Finished:
			c.gone[key] = append(c.gone[key], l.GameID)
		case store.AnyStatus, store.Waiting:
		}
	}
}

func (c listChanges) queue(ctx context.Context, pipe goredis.Pipeliner) {
	for key, members := range c.newer {
		pipe.ZAddGT(ctx, key, members...)
	}
	for key, members := range c.set {
		pipe.ZAdd(ctx, key, members...)
	}
	for key, members := range c.gone {
		pipe.ZRem(ctx, key, members...)
	}
	for key, score := range c.old {
		pipe.ZRemRangeByScore(ctx, key, "-inf", score)
	}
}

// queuePlayers queues the commands that add a game to its players' lists.
func queuePlayers(ctx context.Context, pipe goredis.Pipeliner, l store.Listing, keep time.Duration) {
	for _, player := range l.Players {
		list := store.List{PlayerID: player}
		key := listKey(list)
		pipe.ZAddGT(ctx, key, member(list, l))
		// The expiry is not set at every move, which would take Redis nearly as long as the rest of
		// writing a listing. The list is kept longer than necessary for a game that is active for long,
		// and the last listing of a game sets it again.
		if keep > 0 && l.Status != store.Active {
			pipe.PExpire(ctx, key, 2*keep)
		}
		if keep > 0 && l.Status == store.Finished {
			pipe.ZRemRangeByScore(ctx, key, "-inf", before(l.Updated, keep))
		}
	}
}

func (s lists) Forget(ctx context.Context, l store.List, gameIDs ...string) error {
	if len(gameIDs) == 0 {
		return nil
	}
	return failed(s.client.ZRem(ctx, listKey(l), gameIDs).Err())
}

func (s lists) Page(ctx context.Context, l store.List, after store.Place, n int) ([]store.Place, error) {
	return pageOf(ctx, s.client, listKey(l), after, n)
}

// pageOf returns up to n places of the list stored at key that follow the given place.
func pageOf(ctx context.Context, client goredis.UniversalClient, key string, after store.Place, n int) ([]store.Place, error) {
	args := []any{n}
	if after != (store.Place{}) {
		args = append(args, after.Rank, after.GameID)
	}
	reply, err := pageScript.RunRO(ctx, client, []string{key}, args...).StringSlice()
	if err != nil {
		return nil, failed(err)
	}
	places := make([]store.Place, 0, len(reply)/2)
	for i := 0; i+1 < len(reply); i += 2 { // id, score, id, score, …
		rank, err := strconv.ParseFloat(reply[i+1], 64)
		if err != nil {
			return nil, fmt.Errorf("reading a rank: %w", err)
		}
		places = append(places, store.Place{Rank: int64(rank), GameID: reply[i]})
	}
	return places, nil
}

func (s lists) Moving(ctx context.Context, within time.Duration) (int, error) {
	now, err := s.client.Time(ctx).Result()
	if err != nil {
		return 0, failed(err)
	}
	n, err := s.client.ZCount(ctx, listKey(store.List{Status: store.Active}), since(now, within), "+inf").Result()
	return int(n), failed(err)
}

// before returns the score below which games are too old to keep, as an exclusive bound.
func before(now time.Time, keep time.Duration) string { return "(" + since(now, keep) }

// since returns the score of a game whose last event happened the given duration
// before now.
func since(now time.Time, ago time.Duration) string {
	return strconv.FormatInt(now.Add(-ago).UnixMilli(), 10)
}

// member returns a game as a list element.
func member(list store.List, l store.Listing) goredis.Z {
	return goredis.Z{Score: float64(list.Rank(l)), Member: l.GameID}
}

// listKey returns the key of a list.
func listKey(l store.List) string {
	const anything = "*"
	variant := cmp.Or(l.Variant, anything)
	switch {
	case l.PlayerID != "":
		return "player:{" + l.PlayerID + "}:games"
	case l.Order == store.ByScore:
		return "games:score:" + variant
	case l.Order == store.ByWatchers:
		return "games:watchers:" + variant
	default:
		status := [...]string{anything, "waiting", "active", "finished"}[l.Status]
		return "games:recent:" + status + ":" + variant
	}
}
