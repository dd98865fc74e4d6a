// Package directory keeps the lists of games that can be paged through: the
// latest, the best and the most watched ones, and those of each player. They
// are sorted sets in Redis, each in a cluster slot of its own:
//
//	games:recent:<status>:<variant>  by the time of the last event
//	games:score:<variant>            active games by their highest score
//	games:watchers:<variant>         active games by watchers, then score
//	player:{<player id>}:games       by the time of the last event
//
// where "*" stands for any status or variant. Private games are in the
// players' lists only.
//
// The lists are hints: they are written beside the log, up to a second late,
// and a server may die in between. Whoever reads them looks each game up,
// leaves out what does not belong there, and puts right what is wrong with Mend
// and Forget. Errors are Redis's or the context's, wrapped, if nothing else is
// said.
package directory

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/page"
)

// Status is the stage that a game has reached. It only ever grows.
type Status uint8

// The statuses. AnyStatus is for queries.
const (
	AnyStatus Status = iota
	Waiting
	Active
	Finished
)

// String is the status in keys.
func (s Status) String() string {
	switch s {
	case Waiting:
		return "waiting"
	case Active:
		return "active"
	case Finished:
		return "finished"
	default:
		return anything
	}
}

// anything stands in keys for whatever status or variant.
const anything = "*"

// Listing is what the lists need to know of a game.
type Listing struct {
	// GameID and Variant of the game.
	GameID, Variant string
	// Status of the game, not AnyStatus.
	Status Status
	// Score of its highest seat.
	Score int32
	// Updated is the time of its last event.
	Updated time.Time
	// Watchers on all servers.
	Watchers int
	// Private games are listed for their players only.
	Private bool
	// Players who sit in it, and who created it, in any order.
	Players []string
}

// Directory is the lists in one Redis. Any number of directories, in any
// number of processes, may work on the same Redis. All methods may be called
// concurrently.
type Directory struct {
	client redis.UniversalClient
	reads  redis.UniversalClient // for Page
	tokens *page.Tokens
	keep   time.Duration
	log    *slog.Logger

	// lasting is when players' lists were last told how long to live.
	lasting *lru.Cache[string, time.Time]

	mu sync.Mutex
	// pending listings of Touch, by game, that Run has yet to write.
	pending map[string]Listing
}

// New returns the lists in client's Redis. Pages are read through reads, which
// may be the same client: what callers ask for must not keep waiting what servers
// write. Both remain the caller's to close. Games without an event for as long as
// keep drop out of them, so it
// must be no shorter than finished games are kept, and than unfinished ones may
// stand still; 0 means that none ever drops out. What goes wrong in the
// background is logged to log.
func New(client, reads redis.UniversalClient, keep time.Duration, log *slog.Logger) *Directory {
	lasting, err := lru.New[string, time.Time](maxLasting)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return &Directory{
		client: client, reads: reads, tokens: page.NewTokens(reads), keep: keep, log: log,
		lasting: lasting, pending: map[string]Listing{},
	}
}

// maxLasting bounds for how many players is remembered that their lists live on.
const maxLasting = 1 << 16

// spare is by how much a player's list lives longer than it has to, so that not
// every move has to prolong it: that takes Redis nearly as long as all else that
// lists a game.
func (d *Directory) spare() time.Duration { return d.keep / 100 }

// Put writes a listing now: for a game that is new, or whose status or players
// changed. It is idempotent, so it may be repeated after an error. It takes the
// place of what was touched before.
func (d *Directory) Put(ctx context.Context, listing Listing) error {
	d.mu.Lock()
	delete(d.pending, listing.GameID)
	d.mu.Unlock()
	if err := d.write(ctx, []Listing{listing}); err != nil {
		return fmt.Errorf("listing a game: %w", err)
	}
	return nil
}

// Enter writes listings of which something newer may wait to be written, and
// moves no game back. It is idempotent.
func (d *Directory) Enter(ctx context.Context, listings []Listing) error {
	if len(listings) == 0 {
		return nil
	}
	if err := d.write(ctx, listings); err != nil {
		return fmt.Errorf("listing games: %w", err)
	}
	return nil
}

// Remove takes a game off all lists.
func (d *Directory) Remove(ctx context.Context, l Listing) error {
	d.mu.Lock()
	delete(d.pending, l.GameID)
	d.mu.Unlock()
	pipe := d.client.Pipeline()
	for _, variant := range []string{anything, l.Variant} {
		for status := AnyStatus; status <= Finished; status++ {
			pipe.ZRem(ctx, recentKey(status, variant), l.GameID)
		}
		pipe.ZRem(ctx, scoreKey(variant), l.GameID)
		pipe.ZRem(ctx, watchersKey(variant), l.GameID)
	}
	for _, player := range l.Players {
		if id.Valid(player) {
			pipe.ZRem(ctx, playerKey(player), l.GameID)
		}
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("taking a game off the lists: %w", err)
	}
	return nil
}

// Forget takes games that no longer exist off the list that q reads.
func (d *Directory) Forget(ctx context.Context, q Query, gameIDs ...string) error {
	if len(gameIDs) == 0 {
		return nil
	}
	if err := d.client.ZRem(ctx, q.key(), gameIDs).Err(); err != nil {
		return fmt.Errorf("forgetting games: %w", err)
	}
	return nil
}

// Trim takes games without an event for as long as they are kept off the lists
// of the variants. Players' lists need no trimming: they lose what is old when
// another of the player's games ends, and vanish when nothing happens any more.
func (d *Directory) Trim(ctx context.Context, variants []string) error {
	if d.keep <= 0 {
		return nil
	}
	now, err := d.client.Time(ctx).Result()
	if err != nil {
		return fmt.Errorf("trimming the lists: %w", err)
	}
	pipe := d.client.Pipeline()
	for _, variant := range append([]string{anything}, variants...) {
		for status := AnyStatus; status <= Finished; status++ {
			pipe.ZRemRangeByScore(ctx, recentKey(status, variant), "-inf", d.before(now))
		}
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("trimming the lists: %w", err)
	}
	return nil
}

// before is the scores, as a bound, of games that are too old to be kept.
func (d *Directory) before(now time.Time) string {
	return "(" + strconv.FormatInt(now.Add(-d.keep).UnixMilli(), 10)
}

// write writes listings, each of another game, in one pipeline. Games of the
// same list share a command: Redis takes half of the time for it that it takes
// for a command a game.
func (d *Directory) write(ctx context.Context, listings []Listing) error {
	pipe := d.client.Pipeline()
	public := changes{newer: map[string][]redis.Z{}, set: map[string][]redis.Z{}, gone: map[string][]any{}}
	var prolonged []string
	for _, listing := range listings {
		if !listing.Private {
			public.list(listing, anything)
			public.list(listing, listing.Variant)
		}
		prolonged = append(prolonged, d.queuePlayers(ctx, pipe, listing)...)
	}
	public.queue(ctx, pipe)
	now := time.Now()
	if _, err := pipe.Exec(ctx); err != nil {
		return err
	}
	for _, player := range prolonged {
		d.lasting.Add(player, now)
	}
	return nil
}

// changes are what is to be written to the lists that all players share, by
// their keys.
type changes struct {
	newer map[string][]redis.Z // unless a later time stands there: a late writer moves no game back
	set   map[string][]redis.Z
	gone  map[string][]any
}

// list adds what lists a game under a variant.
func (c changes) list(l Listing, variant string) {
	for _, status := range []Status{AnyStatus, l.Status} {
		key := recentKey(status, variant)
		c.newer[key] = append(c.newer[key], byTime(l))
	}
	for status := Waiting; status < l.Status; status++ {
		key := recentKey(status, variant)
		c.gone[key] = append(c.gone[key], l.GameID)
	}
	score, watchers := scoreKey(variant), watchersKey(variant)
	switch l.Status {
	case Active:
		c.set[score] = append(c.set[score], byScore(l))
		c.set[watchers] = append(c.set[watchers], byWatchers(l))
	case Finished:
		c.gone[score] = append(c.gone[score], l.GameID)
		c.gone[watchers] = append(c.gone[watchers], l.GameID)
	case AnyStatus, Waiting:
	}
}

func (c changes) queue(ctx context.Context, pipe redis.Pipeliner) {
	for key, members := range c.newer {
		pipe.ZAddGT(ctx, key, members...)
	}
	for key, members := range c.set {
		pipe.ZAdd(ctx, key, members...)
	}
	for key, members := range c.gone {
		pipe.ZRem(ctx, key, members...)
	}
}

// queuePlayers queues what lists a game under its players, and returns those
// whose lists are told how long to live.
func (d *Directory) queuePlayers(ctx context.Context, pipe redis.Pipeliner, l Listing) (prolonged []string) {
	for i, player := range l.Players {
		if !id.Valid(player) || slices.Contains(l.Players[:i], player) {
			continue
		}
		key := playerKey(player)
		pipe.ZAddGT(ctx, key, byTime(l))
		if d.keep <= 0 {
			continue
		}
		// Each game ends with a listing that is not Active, which prolongs in any
		// case: a Redis that lost the list meanwhile has it again with its time.
		if at, ok := d.lasting.Get(player); l.Status != Active || !ok || time.Since(at) > d.spare() {
			pipe.PExpire(ctx, key, d.keep+d.spare())
			prolonged = append(prolonged, player)
		}
		if l.Status == Finished {
			pipe.ZRemRangeByScore(ctx, key, "-inf", d.before(l.Updated))
		}
	}
	return prolonged
}

func byTime(l Listing) redis.Z {
	return redis.Z{Score: float64(l.Updated.UnixMilli()), Member: l.GameID}
}

func byScore(l Listing) redis.Z { return redis.Z{Score: float64(l.Score), Member: l.GameID} }

// byWatchers orders games by watchers, and of equally many by score: a number
// that a float64 holds exactly up to four million watchers.
func byWatchers(l Listing) redis.Z {
	const maxWatchers = 1<<22 - 1
	watchers := int64(max(0, min(l.Watchers, maxWatchers)))
	return redis.Z{Score: float64(watchers<<31 | int64(max(0, l.Score))), Member: l.GameID}
}

func recentKey(status Status, variant string) string {
	return "games:recent:" + status.String() + ":" + variant
}
func scoreKey(variant string) string    { return "games:score:" + variant }
func watchersKey(variant string) string { return "games:watchers:" + variant }
func playerKey(playerID string) string  { return "player:{" + playerID + "}:games" }
