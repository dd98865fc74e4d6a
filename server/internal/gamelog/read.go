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

// Record is an entry as a log holds it.
type Record struct {
	ID   ID
	Time time.Time

	raw  []byte
	seed []byte
}

// Entry decodes what was done. The error is replay.ErrUnknown or ErrInvalid.
func (r Record) Entry() (replay.Entry, error) { return decodeEntry(r.raw) }

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

// pageSize is how many entries of a log one read takes: few enough that other
// commands do not wait long for Redis.
const pageSize = 500

// Read calls do with each entry of a log from version from on, in order, until
// the log ends or do returns an error, which it returns.
func (l *Log) Read(ctx context.Context, gameID string, from int32, do func(Record) error) error {
	for {
		records, err := l.page(ctx, gameID, from, pageSize)
		for _, r := range records {
			if err := do(r); err != nil {
				return err
			}
			from = r.ID.Version + 1
		}
		if err != nil || len(records) < pageSize {
			return err
		}
	}
}

// After calls do with up to n events that follow t, and the tip after each. The
// error is one of Tip.Apply or Redis.
func (l *Log) After(ctx context.Context, gameID string, t Tip, n int, past Past, do func(Tip, *replay.Event)) error {
	records, err := l.page(ctx, gameID, t.ID.Version+1, n)
	for _, r := range records {
		next, event, err := t.Apply(gameID, r, past)
		if err != nil {
			return err
		}
		t = next
		do(next, event)
	}
	return err
}

// page returns up to size entries of a log from version from on, and with an
// error those before it.
func (l *Log) page(ctx context.Context, gameID string, from int32, size int) ([]Record, error) {
	messages, err := l.reads.XRangeN(ctx, logKey(gameID), strconv.Itoa(int(from)), "+", int64(size)).Result()
	records := make([]Record, 0, len(messages))
	for _, m := range messages {
		r, err := parseRecord(m)
		if err != nil {
			return records, &DamagedError{GameID: gameID, Version: from - 1, Detail: err.Error()}
		}
		records = append(records, r)
		from = r.ID.Version + 1
	}
	return records, err
}

// At returns the entry at a version, false for none.
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
