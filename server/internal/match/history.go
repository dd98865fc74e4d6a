package match

import (
	"context"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/gamelog"
)

// historyPage is the number of events in a page of a game's history. A page takes about 30 kB of
// memory.
const historyPage = 50

// History reads the events that a game has in its log, page by page. It is not safe for
// concurrent use.
type History struct {
	m      *Match
	reader *gamelog.Reader
	from   int32 // the version before the next event
}

// History returns the events after the given version, up to the version that the game has in
// memory when they are read.
func (m *Match) History(after int32) *History {
	return &History{m, m.hub.Log.NewReader(m.id), after}
}

// Next calls do with each event of the next page and returns their number, which is 0 at the end. It
// stops and returns the error if do returns one. do runs in a slot of gamelog.Log, and must not read a
// log. If the log is shorter than the game in memory, Next returns the error from Confirm, so that a
// watcher that resumes learns why it gets no more events.
func (h *History) Next(ctx context.Context, do func(*Event) error) (read int, err error) {
	left := h.m.State().Version - h.from
	if left <= 0 {
		return 0, nil
	}
	if err := h.reader.Skip(ctx, h.from); err != nil {
		return 0, err
	}
	read, err = h.reader.Next(ctx, int(min(historyPage, left)), func(e *replay.Event) error {
		h.from = e.State.Version
		event := h.m.ring.at(h.from) // encoded once for all readers
		if event == nil {
			event = &Event{Event: e}
		}
		return do(event)
	})
	if err == nil && read == 0 {
		_, err = h.m.Confirm(ctx)
	}
	return read, err
}
