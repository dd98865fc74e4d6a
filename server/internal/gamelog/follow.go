package gamelog

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Listener hears of what is published on a game's feed. Its methods are called
// one at a time and must not block: everything published to this server waits
// behind them.
type Listener interface {
	// Listening says that from now on every entry is heard. What was appended
	// before, or while a broken connection was replaced, has to be read.
	Listening()
	// Published brings an entry, in the order of the log, but with gaps and
	// repeats when connections break.
	Published(Record)
	// Audience brings how many watch the game, on all servers together.
	Audience(total int)
}

// Follower listens on the feeds of games, all on one connection.
type Follower struct {
	pubsub *redis.PubSub
	logger *slog.Logger

	mu        sync.Mutex
	listeners map[string]Listener // by channel
	wanted    map[string]bool     // channels to subscribe to (true) or leave
	nudge     chan struct{}
}

// NewFollower makes a Follower; Run makes it work.
func NewFollower(client redis.UniversalClient, logger *slog.Logger) *Follower {
	return &Follower{
		pubsub: client.Subscribe(context.Background()), logger: logger,
		listeners: map[string]Listener{}, wanted: map[string]bool{}, nudge: make(chan struct{}, 1),
	}
}

// Follow calls l with what is published about a game, beginning with Listening,
// until Leave. A game has one listener.
func (f *Follower) Follow(gameID string, l Listener) { f.want(feedKey(gameID), l) }

// Leave ends Follow. A call of the listener may still be under way.
func (f *Follower) Leave(gameID string) { f.want(feedKey(gameID), nil) }

func (f *Follower) want(channel string, l Listener) {
	f.mu.Lock()
	if l != nil {
		f.listeners[channel] = l
	} else {
		delete(f.listeners, channel)
	}
	f.wanted[channel] = l != nil
	f.mu.Unlock()
	f.wake()
}

// again wants channels once more that are still wanted.
func (f *Follower) again(channels []string) {
	f.mu.Lock()
	for _, channel := range channels {
		if _, newer := f.wanted[channel]; !newer && f.listeners[channel] != nil {
			f.wanted[channel] = true
		}
	}
	f.mu.Unlock()
	f.wake()
}

func (f *Follower) wake() {
	select {
	case f.nudge <- struct{}{}:
	default:
	}
}

// feedBuffer is how many published messages may wait for their listeners, who
// are quick, before reading from the connection pauses.
const feedBuffer = 4096

// Run listens until ctx ends. It keeps trying while Redis is away.
func (f *Follower) Run(ctx context.Context) error {
	var group sync.WaitGroup
	defer group.Wait()
	defer func() { _ = f.pubsub.Close() }()

	// Subscribing writes to the connection, and so may wait for it; it must
	// not hold up what comes in.
	group.Go(func() { f.subscribe(ctx) })

	messages := f.pubsub.ChannelWithSubscriptions(redis.WithChannelSize(feedBuffer))
	for {
		select {
		case <-ctx.Done():
			return nil
		case m, ok := <-messages:
			if !ok {
				return nil
			}
			f.dispatch(m)
		}
	}
}

// followAgain is after what time subscribing is tried again.
const followAgain = 100 * time.Millisecond

// subscribe carries out what Follow and Leave want, many games in one command.
func (f *Follower) subscribe(ctx context.Context) {
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.nudge:
		}
		var join, leave []string
		f.mu.Lock()
		for channel, in := range f.wanted {
			if in {
				join = append(join, channel)
			} else {
				leave = append(leave, channel)
			}
		}
		clear(f.wanted)
		f.mu.Unlock()

		if len(leave) > 0 {
			// An error ends the connection; the next does without them.
			_ = f.pubsub.Unsubscribe(ctx, leave...)
		}
		if len(join) == 0 {
			continue
		}
		err := f.pubsub.Subscribe(ctx, join...)
		if err != nil && !failing && ctx.Err() == nil {
			f.logger.Warn("cannot follow games for now", "id", "games-not-followed", "games", len(join), "error", err)
		}
		if failing = err != nil; failing {
			// The PubSub notes the channels for its next connection, but may
			// have made that before it noted them.
			f.again(join)
			select {
			case <-ctx.Done():
			case <-time.After(followAgain):
			}
		}
	}
}

func (f *Follower) dispatch(m any) {
	var channel, payload string
	switch m := m.(type) {
	case *redis.Subscription:
		if m.Kind != "subscribe" {
			return
		}
		channel = m.Channel
	case *redis.Message:
		channel, payload = m.Channel, m.Payload
	default:
		return
	}
	f.mu.Lock()
	l := f.listeners[channel]
	f.mu.Unlock()
	if l == nil {
		return
	}
	switch {
	case payload == "":
		l.Listening()
	case strings.HasPrefix(payload, "e "):
		if r, ok := parsePublished(payload[2:]); ok {
			l.Published(r)
		}
	case strings.HasPrefix(payload, "a "):
		if n, err := strconv.Atoi(payload[2:]); err == nil {
			l.Audience(n)
		}
	}
}

// parsePublished reads "id time entry", as append.lua publishes it.
func parsePublished(s string) (Record, bool) {
	id, rest, _ := strings.Cut(s, " ")
	at, raw, _ := strings.Cut(rest, " ")
	var r Record
	var err error
	if r.ID, err = ParseID(id); err != nil {
		return Record{}, false
	}
	if r.Time, err = parseTime(at); err != nil {
		return Record{}, false
	}
	r.raw = []byte(raw)
	return r, true
}
