package gamelog

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
)

// Record is an entry as it stands in a log.
type Record struct {
	ID   ID
	Time time.Time

	raw   []byte
	seed  []byte
	known known // nil for none
}

// known are entries that were decoded before, by their bytes. Most of a game is
// the same few moves over and over.
type known map[string]replay.Entry

// maxKnown bounds them; a board has fewer moves.
const maxKnown = 1024

// Entry decodes what was done. The error is replay.ErrUnknown or ErrInvalid.
// Records of one Read share what they know: only one goroutine at a time may
// ask them.
func (r Record) Entry() (replay.Entry, error) {
	if e, ok := r.known[string(r.raw)]; ok {
		return e, nil
	}
	e, err := decodeEntry(r.raw)
	if _, move := e.Action.(replay.Moved); err == nil && move && r.known != nil && len(r.known) < maxKnown {
		r.known[string(r.raw)] = e
	}
	return e, err
}

func (r Record) gameSeed() (game.Seed, error) { return game.SeedFromBytes(r.seed) }

func parseRecord(m redis.XMessage) (Record, error) {
	id, err := ParseID(m.ID)
	if err != nil {
		return Record{}, err
	}
	field := func(name string) string { s, _ := m.Values[name].(string); return s }
	at, err := parseTime(field("t"))
	if err != nil {
		return Record{}, err
	}
	return Record{ID: id, Time: at, raw: []byte(field("e")), seed: []byte(field("s"))}, nil
}

func parseTime(s string) (time.Time, error) {
	ms, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("no time of a log entry: %q", s)
	}
	return time.UnixMilli(ms).UTC(), nil
}

// pageSize is how many entries of a log one read takes: few enough that nobody
// else waits long for Redis.
const pageSize = 500

// page is some of a log's entries.
type page struct {
	records []Record
	full    bool  // more may follow
	err     error // what came after the records
}

func (l *Log) page(ctx context.Context, gameID string, from int32, size int) page {
	messages, err := l.reads.XRangeN(ctx, logKey(gameID), strconv.Itoa(int(from)), "+", int64(size)).Result()
	if err != nil {
		return page{err: err}
	}
	p := page{records: make([]Record, 0, len(messages)), full: len(messages) == size}
	for _, m := range messages {
		r, err := parseRecord(m)
		if err != nil {
			return page{records: p.records, err: &DamagedError{GameID: gameID, Version: from - 1, Detail: err.Error()}}
		}
		p.records = append(p.records, r)
		from = r.ID.Version + 1
	}
	return p
}

// Read calls do with each entry of a log from version from on, in order, until
// the log ends or do returns an error, which it returns. Meanwhile it reads the
// next page, and no further.
func (l *Log) Read(ctx context.Context, gameID string, from int32, do func(Record) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	moves := make(known)
	for p := l.page(ctx, gameID, from, pageSize); ; {
		next := make(chan page, 1)
		if p.full {
			from = p.records[pageSize-1].ID.Version + 1
			go func() { next <- l.page(ctx, gameID, from, pageSize) }()
		} else {
			close(next)
		}
		for _, r := range p.records {
			r.known = moves
			if err := do(r); err != nil {
				cancel()
				<-next
				return err
			}
		}
		if !p.full {
			return p.err
		}
		p = <-next
	}
}

// After calls do with up to n events that follow t, and the tip after each. The
// error is one of Tip.Apply or Redis.
func (l *Log) After(ctx context.Context, gameID string, t Tip, n int, past Past, do func(Tip, *replay.Event)) error {
	p := l.page(ctx, gameID, t.ID.Version+1, n)
	moves := make(known)
	for _, r := range p.records {
		r.known = moves
		next, event, err := t.Apply(gameID, r, past)
		if err != nil {
			return err
		}
		t = next
		do(next, event)
	}
	return p.err
}

// At returns the entry at a version; false when there is none.
func (l *Log) At(ctx context.Context, gameID string, version int32) (Record, bool, error) {
	v := strconv.Itoa(int(version))
	page, err := l.reads.XRangeN(ctx, logKey(gameID), v, v, 1).Result()
	if err != nil || len(page) == 0 {
		return Record{}, false, err
	}
	r, err := parseRecord(page[0])
	if err != nil {
		return Record{}, false, &DamagedError{GameID: gameID, Version: version - 1, Detail: err.Error()}
	}
	return r, true, nil
}
