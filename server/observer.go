package server

import (
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/metrics"
)

// observer passes events of matches on to the metrics and the directory. It implements
// match.Observer.
type observer struct {
	metrics   *metrics.Metrics
	directory *directory.Directory
}

// Appended counts the entry and keeps the lists fresh.
func (o observer) Appended(event *match.Event, watchers int) {
	o.metrics.Appended(event.Event)
	o.directory.Touch(directory.Of(event.State, watchers))
}

// Delivered counts an event for each of its watchers.
func (o observer) Delivered(watchers int) { o.metrics.Delivered(watchers) }

// Conflicted counts an append that came too late.
func (o observer) Conflicted() { o.metrics.Conflicted() }

// Watched keeps the list of the most watched games fresh.
func (o observer) Watched(state *replay.State, watchers int) {
	o.directory.Touch(directory.Of(state, watchers))
}
