package redis

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/server/internal/store"
)

// feed implements store.Feed with a connection to Redis, or on a Redis Cluster to each master
// with followed games (see feed_nodes.go).
type feed struct {
	client  goredis.UniversalClient
	cluster *goredis.ClusterClient // nil unless client is one
	logger  *slog.Logger

	nudge chan struct{}
	group sync.WaitGroup
	// telling is held while a listener is called: the nodes' messages arrive concurrently.
	telling sync.Mutex

	mu        sync.Mutex
	listeners map[string]store.Listener // by channel
	changed   map[string]struct{}       // channels to subscribe to if they have a listener, or to unsubscribe from
	retrying  bool                      // some subscriptions were refused
	nodes     map[string]*nodeFeed      // by address
	failing   map[string]struct{}       // channels with a listener that could not be subscribed to
}

func newFeed(client goredis.UniversalClient, logger *slog.Logger) *feed {
	cluster, _ := client.(*goredis.ClusterClient)
	return &feed{
		client: client, cluster: cluster, logger: logger, nudge: make(chan struct{}, 1),
		listeners: map[string]store.Listener{}, changed: map[string]struct{}{},
		nodes: map[string]*nodeFeed{}, failing: map[string]struct{}{},
	}
}

func (f *feed) Follow(gameID string, l store.Listener) { f.want(feedKey(gameID), l) }

func (f *feed) Leave(gameID string) { f.want(feedKey(gameID), nil) }

func (f *feed) want(channel string, l store.Listener) {
	f.mu.Lock()
	if l != nil {
		f.listeners[channel] = l
	} else {
		delete(f.listeners, channel)
		delete(f.failing, channel)
	}
	f.changed[channel] = struct{}{}
	f.mu.Unlock()
	f.wake()
}

func (f *feed) wake() {
	select {
	case f.nudge <- struct{}{}:
	default:
	}
}

// run subscribes to the channels of followed games until ctx is done, and retries while Redis is
// unavailable. For each node, a goroutine receives the messages; see receive.
func (f *feed) run(ctx context.Context) {
	defer f.group.Wait()
	for ctx.Err() == nil {
		join, leave := f.next(ctx)
		f.leave(ctx, leave)
		f.join(ctx, join)
	}
}

// followRetry is the delay between attempts to subscribe.
const followRetry = 100 * time.Millisecond

// next waits for Follow, Leave or again, and returns the channels to subscribe to and to
// unsubscribe from. Both are empty if ctx is done first.
func (f *feed) next(ctx context.Context) (join, leave []string) {
	select {
	case <-ctx.Done():
		return nil, nil
	case <-f.nudge:
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.retrying {
		f.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(followRetry):
		}
		f.mu.Lock()
	}
	f.retrying = false
	for channel := range f.changed {
		if f.listeners[channel] != nil {
			join = append(join, channel)
		} else {
			leave = append(leave, channel)
		}
	}
	clear(f.changed)
	return join, leave
}

// dispatch passes a message to the listener of its game.
func (f *feed) dispatch(m any) {
	var channel, payload string
	switch m := m.(type) {
	case *goredis.Subscription:
		if m.Kind != "subscribe" && m.Kind != "ssubscribe" {
			return
		}
		channel = m.Channel
	case *goredis.Message:
		channel, payload = m.Channel, m.Payload
	default:
		return
	}
	f.telling.Lock()
	defer f.telling.Unlock()
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
		total, shown, _ := strings.Cut(payload[2:], " ")
		if n, err := strconv.Atoi(total); err == nil {
			l.AudienceCounted(n, parseReactions(shown))
		}
	}
}

// formatReactions returns the counts, each after a space, or "" if there are none.
func formatReactions(shown store.Reactions) string {
	if !shown.Any() {
		return ""
	}
	return " " + strings.Trim(fmt.Sprint(shown), "[]")
}

// parseReactions parses counts that are separated by spaces. It ignores kinds that a newer
// server knows.
func parseReactions(s string) (shown store.Reactions) {
	for i, field := range strings.Fields(s) {
		if n, err := strconv.ParseInt(field, 10, 32); err == nil && i < len(shown) {
			shown[i] = int32(n)
		}
	}
	return shown
}

// parsePublished parses "id time entry", the format that append.lua publishes.
func parsePublished(s string) (store.Record, bool) {
	id, rest, _ := strings.Cut(s, " ")
	at, raw, _ := strings.Cut(rest, " ")
	var r store.Record
	var err error
	if r.ID, err = store.ParseID(id); err != nil {
		return store.Record{}, false
	}
	if r.Time, err = parseTime(at); err != nil {
		return store.Record{}, false
	}
	r.Raw = []byte(raw)
	return r, true
}
