package match

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Role determines how a watcher is counted.
type Role int32

// The roles of watchers.
const (
	// Uncounted is the role of watchers that are not counted, such as previews.
	Uncounted Role = iota
	// Spectator is the role of watchers who are counted in the audience on all servers.
	Spectator
	// Player is the role of the game's players. They are counted instead of spectators while the
	// game waits for more players, so that lists know whether they are there.
	Player
	// Relay is the role of the server's own watchers that pass updates on. They do not count as
	// watchers that receive an event.
	Relay

	roles
)

// Audience announces the number of spectators of a game on all servers, or of its players who are
// present while it waits, and the watchers' reactions since the last announcement. Every
// announcement is a new value, even if the number is unchanged.
type Audience struct {
	Spectators int
	Reactions  store.Reactions

	EncodedOnce
}

// SetRole changes the watcher's role, for example because it became a player.
func (w *Watcher) SetRole(role Role) {
	w.m.watching.roles[w.role.Swap(int32(role))].Add(-1)
	w.m.watching.roles[role].Add(1)
}

// SkipAudience makes w skip the audience announcements that another watcher of the match has
// already received.
func (w *Watcher) SkipAudience(of *Watcher) { w.audience = of.audience }

// counted returns the number of watchers on this server that the server reports to others: the
// game's spectators, or its players while it waits for more.
func (m *Match) counted() int32 {
	if m.State().Status == replay.Waiting {
		return m.watching.roles[Player].Load()
	}
	return m.watching.roles[Spectator].Load()
}

// Spectators returns the number of the game's spectators on all servers or, while it waits for
// players, the number of its players' watchers.
func (m *Match) Spectators() int { return int(m.counted() + m.watching.remote.Load()) }

// HasWatchers reports whether the game has watchers of any role on this server, or counted ones on
// another.
func (m *Match) HasWatchers() bool { return m.followed() || m.watching.remote.Load() > 0 }

// setRemoteWatchers updates the audience to the total that the store returned, unless total
// is −1. A followed match ignores total, because it gets newer totals from the feed.
func (m *Match) setRemoteWatchers(total int) {
	if total >= 0 && !m.followed() {
		m.setAudience(total)
	}
}

// setAudience updates the audience to the total on all servers, which includes this server's
// spectators as last reported.
func (m *Match) setAudience(total int) {
	m.watching.remote.Store(max(0, int32(total)-m.watching.reported.Load()))
}

// AudienceCounted implements store.Listener.
func (m *Match) AudienceCounted(total int, shown store.Reactions) {
	m.watching.shown.add(shown)
	m.setAudience(total)
}

// An unchanged audience is announced every announceEvery, so that no proxy considers a stream
// idle. An unchanged count is reported every refreshEvery, so that it does not expire.
const (
	announceEvery = 15 * time.Second
	refreshEvery  = store.AudienceTTL / 3
)

// countAudience reports this server's count of a match to the other servers and announces the total
// to watchers if it has changed or enough time has passed.
func (h *Hub) countAudience(m *Match, now time.Time) {
	c := &m.watching
	local := m.counted()
	if local != c.reported.Load() || local > 0 && now.Sub(c.reportedAt) >= refreshEvery || c.reacted.some() {
		h.reportWatchers(m, local, now)
	}
	total, before, shown := m.Spectators(), c.announced.Load(), c.shown.take()
	changed := before == nil && total > 0 || before != nil && before.Spectators != total
	// Announce a change even after the last watcher has left, because lists show the
	// total.
	if changed || m.followed() && (before == nil || shown.Any() || now.Sub(c.announcedAt) >= announceEvery) {
		c.announcedAt = now
		c.announced.Store(&Audience{Spectators: total, Reactions: shown})
		m.wake()
		h.Jobs.Changed(m)
	}
}

// reportWatchers reports the number of a match's spectators on this server, and their new
// reactions, to the other servers, without waiting for the outcome. If the report fails,
// countAudience repeats it without the reactions: next time if the number has fallen, or else
// within refreshEvery.
func (h *Hub) reportWatchers(m *Match, local int32, now time.Time) {
	c := &m.watching
	if !c.reporting.CompareAndSwap(false, true) {
		return
	}
	before := c.reported.Swap(local)
	c.reportedAt = now
	if local != before {
		// Spread out the next reports of games that were joined at the same time.
		c.reportedAt = now.Add(-rand.N(refreshEvery))
	}
	known, shown := c.remote.Load(), c.reacted.take()
	if !h.start(m, func(ctx context.Context) {
		defer c.reporting.Store(false)
		total, err := h.Log.Audience(ctx, m.id, h.ServerID, int(local), shown)
		if err != nil {
			// The store may have saved the count. Assume the larger one, so that a later count
			// of zero is also reported.
			c.reported.Store(max(before, local))
			return
		}
		// If the feed has delivered a total in the meantime, that one may be newer than total. The
		// feed also delivers total.
		c.remote.CompareAndSwap(known, max(0, int32(total)-local))
		if local > 0 && m.State().Status == replay.Waiting {
			h.Jobs.Attended(ctx, m)
		}
	}) {
		c.reported.Store(before)
		c.reporting.Store(false)
	}
}
