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

// Listener receives what is published on a game's feed. Its methods are called one
// at a time and must not block: all that is published to this server waits for them.
type Listener interface {
	// Listening is called when the subscription starts, also after a reconnect. What
	// was appended before has to be read from the log.
	Listening()
	// Published is called with each entry, in the order of the log, but with gaps and
	// repeats when connections break.
	Published(Record)
	// Audience is called with how many watch the game on all servers.
	Audience(total int)
}

// Follower subscribes to the feeds of games, all on one connection.
type Follower struct {
	pubsub *redis.PubSub
	logger *slog.Logger

	mu        sync.Mutex
	listeners map[string]Listener // by channel
	wanted    map[string]bool     // channels to subscribe to (true) or unsubscribe from
	nudge     chan struct{}
}

// NewFollower makes a Follower. It has to Run.
func NewFollower(client redis.UniversalClient, logger *slog.Logger) *Follower {
	return &Follower{
		pubsub: client.Subscribe(context.Background()), logger: logger,
		listeners: map[string]Listener{}, wanted: map[string]bool{}, nudge: make(chan struct{}, 1),
	}
}

// Follow passes what is published on a game's feed to l, starting with Listening,
// until Leave. A game has one listener.
func (f *Follower) Follow(gameID string, l Listener) { f.want(feedKey(gameID), l) }

// Leave ends Follow. A call of the listener may still be running.
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

// retry requests channels again that still have a listener.
func (f *Follower) retry(channels []string) {
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

// feedBuffer is how many published messages may wait for their listeners before
// reading from the connection pauses.
const feedBuffer = 4096

// Run runs until ctx ends. It retries while Redis is unavailable.
func (f *Follower) Run(ctx context.Context) error {
	var group sync.WaitGroup
	defer group.Wait()
	defer func() { _ = f.pubsub.Close() }()

	// In a goroutine: subscribing may wait for the connection, and messages must not
	// wait for that.
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

// followRetry is the time between two attempts to subscribe.
const followRetry = 100 * time.Millisecond

// subscribe carries out Follow and Leave, many games in one command.
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
			// An error ends the connection; the next one starts without them.
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
			// The PubSub subscribes to the channels on its next connection, unless it
			// made that one before it got them.
			f.retry(join)
			select {
			case <-ctx.Done():
			case <-time.After(followRetry):
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

// parsePublished parses "id time entry", as append.lua publishes it.
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
