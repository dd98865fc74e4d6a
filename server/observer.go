package server

import (
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/jobs"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/metrics"
)

// observer forwards the events of matches to the metrics, the directory and the jobs. It implements
// match.Observer.
type observer struct {
	*metrics.Metrics
	directory *directory.Directory
	jobs      *jobs.Manager
}

// Appended updates the lists.
func (o observer) Appended(event *match.Event, watchers int) {
	o.directory.Touch(directory.Of(event.State, watchers))
}

// Watched updates the list of the most watched games, and continues a paused game between bots.
func (o observer) Watched(state *replay.State, watchers int) {
	o.jobs.Watched(state)
	o.directory.Touch(directory.Of(state, watchers))
}
