package redis

import (
	"context"
	"maps"
	"slices"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// A cluster publishes entries on sharded channels. A sharded channel is in the slot of its
// game, so only the master of that slot handles it, whereas the messages of a plain channel
// go to all nodes. feed therefore has a connection to each master with followed games.
//
// go-redis reconnects by itself, but then subscribes to all channels in one command,
// which a cluster refuses if they are in different slots. A connection that fails is
// therefore closed, and its channels are requested again from their current masters.

// nodeFeed is a connection to one node.
type nodeFeed struct {
	addr     string
	pubsub   *goredis.PubSub
	channels map[string]bool // requested channels; true if the node has confirmed the subscription
}

// leave unsubscribes from channels.
func (f *feed) leave(ctx context.Context, channels []string) {
	for _, channel := range channels {
		var at []*nodeFeed // more than one if the slot has moved
		f.mu.Lock()
		for _, n := range f.nodes {
			if _, ok := n.channels[channel]; ok {
				delete(n.channels, channel)
				at = append(at, n)
			}
		}
		f.mu.Unlock()
		for _, n := range at {
			unsubscribe := n.pubsub.Unsubscribe
			if f.cluster != nil {
				unsubscribe = n.pubsub.SUnsubscribe
			}
			if err := unsubscribe(ctx, channel); err != nil {
				f.lost(ctx, n, nil)
			}
		}
	}
}

// join subscribes to channels.
func (f *feed) join(ctx context.Context, channels []string) {
	masters := map[*goredis.Client][]string{}
	for i, channel := range channels {
		master, err := f.master(ctx, channel)
		if err != nil {
			f.failed(ctx, channels[i:], err)
			f.again(ctx, channels[i:])
			break
		}
		masters[master] = append(masters[master], channel)
	}
	for master, channels := range masters {
		f.joinAt(ctx, master, channels)
	}
}

// master returns the client of the node that handles a channel.
func (f *feed) master(ctx context.Context, channel string) (*goredis.Client, error) {
	if f.cluster != nil {
		return f.cluster.MasterForKey(ctx, channel)
	}
	return f.client.(*goredis.Client), nil
}

// joinAt subscribes to channels at their master.
func (f *feed) joinAt(ctx context.Context, master *goredis.Client, channels []string) {
	addr := master.Options().Addr
	f.mu.Lock()
	n, connected := f.nodes[addr]
	if !connected {
		n = &nodeFeed{addr: addr, pubsub: master.Subscribe(ctx), channels: map[string]bool{}}
		f.nodes[addr] = n
	}
	for _, channel := range channels {
		n.channels[channel] = false
	}
	f.mu.Unlock()
	size, subscribe := len(channels), n.pubsub.Subscribe
	if f.cluster != nil {
		size, subscribe = 1, n.pubsub.SSubscribe
	}
	for batch := range slices.Chunk(channels, size) {
		if err := subscribe(ctx, batch...); err != nil {
			f.lost(ctx, n, err)
			return
		}
		if !connected {
			connected = true
			f.group.Go(func() { f.receive(ctx, n) })
		}
	}
}

// followPing is how long a node may be silent before it is pinged, and how long it then
// has to answer before its connection is closed.
const followPing = 3 * time.Second

// receive passes the messages of a node to the listeners until the connection fails, the node
// stops answering, or ctx is done.
func (f *feed) receive(ctx context.Context, n *nodeFeed) {
	var refusal error
	defer func() { f.lost(ctx, n, refusal) }()
	end := func() { _ = n.pubsub.Close() }
	stop := context.AfterFunc(ctx, end)
	defer stop()
	silent, gone := time.AfterFunc(followPing, func() { _ = n.pubsub.Ping(ctx) }), time.AfterFunc(2*followPing, end)
	defer silent.Stop()
	defer gone.Stop()
	for {
		m, err := n.pubsub.Receive(ctx)
		silent.Reset(followPing)
		gone.Reset(2 * followPing)
		if goredis.HasErrorPrefix(err, "MOVED") || goredis.HasErrorPrefix(err, "CLUSTERDOWN") {
			f.refused(ctx, n, err)
			continue
		}
		if err != nil {
			if goredis.HasErrorPrefix(err, "NOPERM") {
				refusal = err
			}
			return
		}
		if s, ok := m.(*goredis.Subscription); ok {
			f.answered(ctx, n, s)
		}
		f.dispatch(m)
	}
}

// answered records a node's reply to a subscription or its removal.
func (f *feed) answered(ctx context.Context, n *nodeFeed, s *goredis.Subscription) {
	f.mu.Lock()
	followed := f.listeners[s.Channel] != nil
	moved := false
	switch s.Kind {
	case "subscribe", "ssubscribe":
		n.channels[s.Channel] = true
		if _, failed := f.failing[s.Channel]; failed && len(f.failing) == 1 {
			f.logger.Info("moves from other servers are received again")
		}
		delete(f.failing, s.Channel)
		if !followed {
			f.changed[s.Channel] = struct{}{} // Leave was called before the channel was added to n.channels.
		}
	case "unsubscribe", "sunsubscribe":
		// leave removes channels from n.channels before it unsubscribes. If the channel is
		// still there, the node dropped it because the slot has moved.
		if moved = n.channels[s.Channel]; moved {
			delete(n.channels, s.Channel)
		}
	}
	f.mu.Unlock()
	if moved {
		f.again(ctx, []string{s.Channel})
	} else if !followed {
		f.wake()
	}
}

// refused requests a node's unconfirmed channels again, because an error does not say
// which channel it concerns.
func (f *feed) refused(ctx context.Context, n *nodeFeed, err error) {
	var channels []string
	f.mu.Lock()
	for channel, confirmed := range n.channels {
		if !confirmed {
			channels = append(channels, channel)
			delete(n.channels, channel)
		}
	}
	f.mu.Unlock()
	if !goredis.HasErrorPrefix(err, "MOVED") {
		f.failed(ctx, channels, err)
	}
	f.again(ctx, channels)
}

// lost closes a connection and requests its channels again. err is the reason, if it concerns the channels.
func (f *feed) lost(ctx context.Context, n *nodeFeed, err error) {
	_ = n.pubsub.Close()
	f.mu.Lock()
	if f.nodes[n.addr] == n {
		delete(f.nodes, n.addr)
	}
	channels := slices.Collect(maps.Keys(n.channels))
	clear(n.channels)
	f.mu.Unlock()
	if err != nil {
		f.failed(ctx, channels, err)
	}
	f.again(ctx, channels)
}

// again updates the slot map and requests channels again.
func (f *feed) again(ctx context.Context, channels []string) {
	if len(channels) == 0 || ctx.Err() != nil {
		return
	}
	if f.cluster != nil {
		f.cluster.ReloadState(ctx)
	}
	f.mu.Lock()
	f.retrying = true
	for _, channel := range channels {
		f.changed[channel] = struct{}{}
	}
	f.mu.Unlock()
	f.wake()
}

// failed logs a warning that channels cannot be subscribed to, unless one has been logged for others that still cannot.
func (f *feed) failed(ctx context.Context, channels []string, err error) {
	f.mu.Lock()
	before := len(f.failing)
	for _, channel := range channels {
		if f.listeners[channel] != nil {
			f.failing[channel] = struct{}{}
		}
	}
	now := len(f.failing)
	f.mu.Unlock()
	if before == 0 && now > 0 && ctx.Err() == nil {
		f.logger.Warn("cannot receive moves from other servers; will retry", "id", "games-not-followed", "games", now, "error", err)
	}
}
