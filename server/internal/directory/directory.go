// Package directory keeps the lists of games that can be paged through: the
// latest, the best and the most watched ones, and those of each player. They
// are sorted sets in Redis, each in a cluster slot of its own:
//
//	games:recent:<status>:<variant>  by the time of the last event
//	games:score:<variant>            active games by their highest score
//	games:watchers:<variant>         active games by watchers, then score
//	player:{<player id>}:games       by the time of the last event
//
// "*" stands for any status or variant. Private games are in the players' lists
// only.
//
// The lists are hints: they are written beside the log, up to a second late, and a
// server may crash in between. A reader looks each game up, leaves out those that do
// not belong in the list, and corrects the list with Mend and Forget. Errors are
// Redis's or the context's, wrapped, unless stated otherwise.
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

// Status is the stage that a game has reached. It only grows.
type Status uint8

// The statuses. AnyStatus is for queries.
const (
	AnyStatus Status = iota
	Waiting
	Active
	Finished
)

// String is the status in keys.
func (s Status) String() string { return [...]string{anything, "waiting", "active", "finished"}[s] }

// anything stands in keys for any status or variant.
const anything = "*"

// Listing is what the lists store about a game.
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
	// Players who have seats in it, and its creator, in any order.
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

	// lasting is when the expiry of each player's list was last set.
	lasting *lru.Cache[string, time.Time]

	mu sync.Mutex
	// pending listings of Touch, by game, that Run has yet to write.
	pending map[string]Listing
}

// New returns the lists in client's Redis. Pages are read through reads, which may
// be the same client; a second one keeps reads from delaying writes. The caller
// closes both. Games without an event for the duration of keep are removed, so keep
// must be no shorter than the time for which finished games are kept and unfinished
// ones may be idle; 0 removes none. Errors in the background are logged to log.
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

// maxLasting bounds for how many players lasting is remembered.
const maxLasting = 1 << 16

// spare is how much longer a player's list lives than it has to, so that not every
// move must set its expiry: that takes Redis nearly as long as the rest of writing a
// listing.
func (d *Directory) spare() time.Duration { return d.keep / 100 }

// Put writes a listing now: for a game that is new, or whose status or players
// changed. It is idempotent, so it may be retried after an error. It replaces what
// Touch queued before.
func (d *Directory) Put(ctx context.Context, listing Listing) error {
	d.mu.Lock()
	delete(d.pending, listing.GameID)
	d.mu.Unlock()
	if err := d.write(ctx, []Listing{listing}); err != nil {
		return fmt.Errorf("listing a game: %w", err)
	}
	return nil
}

// Enter writes listings now but leaves newer ones queued, and moves no game back. It
// is idempotent.
func (d *Directory) Enter(ctx context.Context, listings []Listing) error {
	if len(listings) == 0 {
		return nil
	}
	if err := d.write(ctx, listings); err != nil {
		return fmt.Errorf("listing games: %w", err)
	}
	return nil
}

// Remove removes a game from all lists.
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

// Forget removes games that no longer exist from the list that q reads.
func (d *Directory) Forget(ctx context.Context, q Query, gameIDs ...string) error {
	if len(gameIDs) == 0 {
		return nil
	}
	if err := d.client.ZRem(ctx, q.key(), gameIDs).Err(); err != nil {
		return fmt.Errorf("forgetting games: %w", err)
	}
	return nil
}

// Trim removes games without an event for the duration of keep from the lists of the
// variants. Players' lists need no trimming: they lose old games when another of the
// player's games ends, and expire when the player stops playing.
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

// before is the bound below which a score means that a game is too old to be kept.
func (d *Directory) before(now time.Time) string {
	return "(" + strconv.FormatInt(now.Add(-d.keep).UnixMilli(), 10)
}

// write writes listings of different games in one pipeline. Games of the same list
// share a command, which takes Redis half the time of one command per game.
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

// changes are the writes to the lists that all players share, by key.
type changes struct {
	newer map[string][]redis.Z // unless the stored time is later: a late writer moves no game back
	set   map[string][]redis.Z
	gone  map[string][]any
}

// list adds the changes that list a game under a variant.
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

// queuePlayers queues the commands that list a game under its players, and returns
// the players for whose lists it sets an expiry.
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
		// Each game ends with a listing that is not Active, which always sets the
		// expiry: if Redis had lost the list, it has one again.
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

// byWatchers orders games by watchers, then by score: a float64 holds the number
// exactly up to four million watchers.
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
