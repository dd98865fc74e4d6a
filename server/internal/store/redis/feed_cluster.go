package redis

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// clusterFeed follows games on a Redis Cluster. Entries are published on sharded
// channels. A sharded channel is in the slot of its game, so only the master of that slot
// handles it, whereas the messages of a plain channel go to all nodes. clusterFeed
// therefore has a connection to each master with followed games.
//
// go-redis reconnects by itself, but then subscribes to all channels in one command,
// which Redis refuses if they are in different slots. A connection that fails is
// therefore closed, and its channels are requested again one by one from their current
// masters.
type clusterFeed struct {
	*feed    // its mu guards nodes and their contents
	client   *goredis.ClusterClient
	messages chan any
	group    sync.WaitGroup
	nodes    map[string]*nodeFeed // by address
	failing  map[string]bool      // addresses of nodes for which a warning was logged
}

// nodeFeed is a connection to one node.
type nodeFeed struct {
	addr     string
	pubsub   *goredis.PubSub
	channels map[string]bool // requested channels; true if the node has confirmed the subscription
	alive    atomic.Bool     // the node has sent something since the last check
	ended    chan struct{}
}

func newClusterFeed(f *feed, client *goredis.ClusterClient) *clusterFeed {
	return &clusterFeed{
		feed: f, client: client, messages: make(chan any, feedBuffer),
		nodes: map[string]*nodeFeed{}, failing: map[string]bool{},
	}
}

func (c *clusterFeed) run(ctx context.Context) {
	defer c.group.Wait()
	c.group.Go(func() {
		for ctx.Err() == nil {
			join, leave := c.next(ctx)
			c.leave(ctx, leave)
			c.join(ctx, join)
		}
	})
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-c.messages:
			c.dispatch(m)
		}
	}
}

// leave unsubscribes from channels.
func (c *clusterFeed) leave(ctx context.Context, channels []string) {
	for _, channel := range channels {
		var at []*nodeFeed // more than one if the slot has moved
		c.mu.Lock()
		for _, n := range c.nodes {
			if _, ok := n.channels[channel]; ok {
				delete(n.channels, channel)
				at = append(at, n)
			}
		}
		c.mu.Unlock()
		for _, n := range at {
			if err := n.pubsub.SUnsubscribe(ctx, channel); err != nil {
				c.lost(ctx, n)
			}
		}
	}
}

// join subscribes to channels.
func (c *clusterFeed) join(ctx context.Context, channels []string) {
	masters := map[*goredis.Client][]string{}
	for i, channel := range channels {
		master, err := c.client.MasterForKey(ctx, channel)
		if err != nil {
			c.failed(ctx, "", len(channels), err)
			c.again(ctx, channels[i:])
			break
		}
		masters[master] = append(masters[master], channel)
	}
	for master, channels := range masters {
		c.joinAt(ctx, master, channels)
	}
}

// joinAt subscribes to channels at their master.
func (c *clusterFeed) joinAt(ctx context.Context, master *goredis.Client, channels []string) {
	addr := master.Options().Addr
	c.mu.Lock()
	n, connected := c.nodes[addr]
	if !connected {
		n = &nodeFeed{addr: addr, pubsub: master.SSubscribe(ctx), channels: map[string]bool{}, ended: make(chan struct{})}
		c.nodes[addr] = n
	}
	for _, channel := range channels {
		n.channels[channel] = false
	}
	c.mu.Unlock()
	for _, channel := range channels {
		if err := n.pubsub.SSubscribe(ctx, channel); err != nil {
			c.failed(ctx, addr, len(channels), err)
			c.lost(ctx, n)
			return
		}
		if !connected {
			connected = true
			c.group.Go(func() { c.receive(ctx, n) })
			c.group.Go(func() { n.watch(ctx) })
		}
	}
}

// receive forwards the messages of a node until the connection fails or is closed.
func (c *clusterFeed) receive(ctx context.Context, n *nodeFeed) {
	defer close(n.ended)
	defer c.lost(ctx, n)
	for {
		m, err := n.pubsub.Receive(ctx)
		n.alive.Store(true)
		if goredis.HasErrorPrefix(err, "MOVED") || goredis.HasErrorPrefix(err, "CLUSTERDOWN") {
			c.refused(ctx, n, err)
			continue
		}
		if err != nil {
			if goredis.HasErrorPrefix(err, "NOPERM") {
				c.failed(ctx, n.addr, 1, err)
			}
			return
		}
		if s, ok := m.(*goredis.Subscription); ok {
			c.answered(ctx, n, s)
		}
		select {
		case c.messages <- m:
		case <-ctx.Done():
			return
		}
	}
}

// answered records a node's reply to a subscription or its removal.
func (c *clusterFeed) answered(ctx context.Context, n *nodeFeed, s *goredis.Subscription) {
	c.mu.Lock()
	followed := c.listeners[s.Channel] != nil
	moved := false
	switch s.Kind {
	case "ssubscribe":
		n.channels[s.Channel] = true
		delete(c.failing, n.addr)
		if _, newer := c.wanted[s.Channel]; !followed && !newer {
			c.wanted[s.Channel] = false // Leave was called before the channel was added to n.channels
		}
	case "sunsubscribe":
		// leave removes channels from n.channels before it unsubscribes. If the channel is
		// still there, the node dropped it because the slot has moved.
		if moved = n.channels[s.Channel]; moved {
			delete(n.channels, s.Channel)
		}
	}
	c.mu.Unlock()
	if moved {
		c.again(ctx, []string{s.Channel})
	} else if !followed {
		c.wake()
	}
}

// refused requests a node's unconfirmed channels again, because an error does not say
// which channel it concerns.
func (c *clusterFeed) refused(ctx context.Context, n *nodeFeed, err error) {
	var channels []string
	c.mu.Lock()
	for channel, confirmed := range n.channels {
		if !confirmed {
			channels = append(channels, channel)
			delete(n.channels, channel)
		}
	}
	c.mu.Unlock()
	if !goredis.HasErrorPrefix(err, "MOVED") {
		c.failed(ctx, n.addr, len(channels), err)
	}
	c.again(ctx, channels)
}

// lost closes a connection and requests its channels again.
func (c *clusterFeed) lost(ctx context.Context, n *nodeFeed) {
	_ = n.pubsub.Close()
	var channels []string
	c.mu.Lock()
	if c.nodes[n.addr] == n {
		delete(c.nodes, n.addr)
	}
	for channel := range n.channels {
		channels = append(channels, channel)
	}
	clear(n.channels)
	c.mu.Unlock()
	c.again(ctx, channels)
}

// again updates the slot map and requests channels again.
func (c *clusterFeed) again(ctx context.Context, channels []string) {
	if len(channels) == 0 || ctx.Err() != nil {
		return
	}
	c.client.ReloadState(ctx)
	c.retry(channels)
}

// failed logs a warning, unless one has already been logged for the node.
func (c *clusterFeed) failed(ctx context.Context, addr string, games int, err error) {
	c.mu.Lock()
	known := c.failing[addr]
	c.failing[addr] = true
	c.mu.Unlock()
	if !known && ctx.Err() == nil {
		c.warn(games, err)
	}
}

// followPing is how long a node may be silent before it is pinged, and how long it then
// has to answer before its connection is closed.
const followPing = 3 * time.Second

// watch closes the connection when the node stops answering or ctx is done.
func (n *nodeFeed) watch(ctx context.Context) {
	ticker := time.NewTicker(followPing)
	defer ticker.Stop()
	for pinged := false; ; {
		select {
		case <-n.ended:
			return
		case <-ctx.Done():
			_ = n.pubsub.Close()
			return
		case <-ticker.C:
		}
		switch {
		case n.alive.Swap(false):
			pinged = false
		case pinged || n.pubsub.Ping(ctx) != nil:
			_ = n.pubsub.Close()
			return
		default:
			pinged = true
		}
	}
}
