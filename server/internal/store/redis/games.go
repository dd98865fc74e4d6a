package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/server/internal/store"
)

var (
	appendScript     = newPipelinedScript("append.lua")
	tailScript       = newReadOnlyScript("tail.lua")
	quarantineScript = newPipelinedScript("quarantine.lua")
	audienceScript   = newPipelinedScript("audience.lua")
)

// maxQueued is the maximum number of commands that wait for a Redis server in this process: one half
// to be sent, the other for replies. It limits the memory that they take if Redis stops responding.
// Further commands wait for room.
const maxQueued = 16384

// games implements store.Games. An entry's ID in the stream contains its version and a
// digest of the history up to it, so that reads and appends notice a log that was
// truncated, swapped or rolled back. The script that appends an entry also writes meta, a
// hash with the head.
//
//	game:{id}:log       stream; per entry t (Unix ms), e (entry), s (seed, entry 1)
//	game:{id}:meta      hash; last, time, head, watchers
//	game:{id}:feed      channel on which each entry is published; sharded on a
//	                    cluster
//	game:{id}:audience  hash; number of spectators on each server
type games struct {
	pipeline *goredis.AutoPipeliner
	reads    goredis.UniversalClient // for long reads, so that moves do not queue behind them
	publish  any                     // name of the publishing command, which scripts take as an argument
}

func newGames(c Clients, reads goredis.UniversalClient, pipeline *goredis.AutoPipeliner) *games {
	g := &games{pipeline: pipeline, reads: reads, publish: "publish"}
	if _, cluster := c.Appends.(*goredis.ClusterClient); cluster {
		g.publish = "spublish" // a cluster sends plain messages to all nodes
	}
	return g
}

// newPipeline returns the pipeline for short commands that players wait for. The client
// must not retry, because the caller has to know about every attempt to append.
func newPipeline(client goredis.UniversalClient) (*goredis.AutoPipeliner, error) {
	return client.AsyncAutoPipelineWithOptions(&goredis.AutoPipelineOptions{
		FullDuplexWindow: maxQueued / 2,
		// Read replies while writing commands. Otherwise the library delays commands by
		// up to 2 ms to fill its batches, and at half load a move takes ten times as
		// long.
		FullDuplex: true,
	})
}

func logKey(gameID string) string  { return "game:{" + gameID + "}:log" }
func metaKey(gameID string) string { return "game:{" + gameID + "}:meta" }
func feedKey(gameID string) string { return "game:{" + gameID + "}:feed" }

func audienceKey(gameID string) string { return "game:{" + gameID + "}:audience" }

// pipelinedScript holds the leading arguments of the commands that run a script by its
// hash and by its source. They have type any so that calls do not allocate.
type pipelinedScript struct {
	byHash, hash     any
	bySource, source any
}

func newPipelinedScript(file string) pipelinedScript {
	return pipelinedScript{"evalsha", newScript(file).Hash(), "eval", source(file)}
}

// newReadOnlyScript returns a script that Redis prevents from writing.
func newReadOnlyScript(file string) pipelinedScript {
	s := newPipelinedScript(file)
	s.byHash, s.bySource = "evalsha_ro", "eval_ro"
	return s
}

// run executes a script through the shared pipeline. It sends the script's hash, and then
// its source if Redis does not have the script. If ctx is done first, the outcome is
// unknown.
func (g *games) run(ctx context.Context, s pipelinedScript, keys []string, args ...any) *goredis.Cmd {
	command := make([]any, 0, 3+len(keys)+len(args))
	command = append(command, s.byHash, s.hash, len(keys))
	for _, k := range keys {
		command = append(command, k)
	}
	command = append(command, args...)
	for {
		// The command needs a context that outlives the call: it is sent even if ctx is
		// canceled while it is queued.
		cmd := goredis.NewCmd(context.Background(), command...)
		if err := g.pipeline.Submit(ctx, cmd).WaitContext(ctx); err != nil {
			cmd = goredis.NewCmd(ctx) // The first command may still be in use.
			cmd.SetErr(err)
		}
		if command[0] == s.bySource || !goredis.HasErrorPrefix(cmd.Err(), "NOSCRIPT") {
			return cmd
		}
		command = slices.Clone(command)
		command[0], command[1] = s.bySource, s.source
	}
}

func (g *games) Append(ctx context.Context, gameID string, e store.Entry) (store.Appended, error) {
	args := []any{idText(e.Prev), e.Next.String(), e.Raw, e.Head, g.publish}
	if e.Seed != nil || !e.NotBefore.IsZero() || !e.NotAfter.IsZero() {
		args = append(args, bounds(e)...)
	}
	answer, err := g.run(ctx, appendScript, []string{logKey(gameID), metaKey(gameID)}, args...).Result()
	if err != nil {
		return store.Appended{}, appendError(err)
	}
	if s, ok := answer.(string); ok {
		ms, watchers, _ := strings.Cut(s, " ")
		at, err := parseTime(ms)
		if err != nil {
			return store.Appended{}, fmt.Errorf("%w: %w", store.ErrUnsettled, err)
		}
		return store.Appended{Time: at, Watchers: watchersAt(watchers, at)}, nil
	}
	reply, _ := answer.([]any)
	switch stringAt(reply, 0) {
	case "moved":
		return g.moved(ctx, gameID, e.Next, stringAt(reply, 1))
	case "early":
		return store.Appended{}, store.ErrTooEarly
	case "late":
		return store.Appended{}, store.ErrTooLate
	case "broken":
		return store.Appended{}, store.ErrBroken
	default:
		return store.Appended{}, fmt.Errorf("%w: reply %v", store.ErrUnsettled, answer)
	}
}

// bounds returns the trailing arguments of append.lua: the bounds of the entry's time,
// and the seed if the entry has one.
func bounds(e store.Entry) []any {
	earliest, latest := int64(0), milliText(e.NotAfter)
	if !e.NotBefore.IsZero() {
		earliest = e.NotBefore.Add(time.Millisecond - time.Nanosecond).UnixMilli() // rounded up
	}
	if e.Seed == nil {
		return []any{earliest, latest}
	}
	return []any{earliest, latest, e.Seed}
}

// moved returns the result of an append that was rejected because the log already ended
// with the entry last.
func (g *games) moved(ctx context.Context, gameID string, next store.ID, last string) (store.Appended, error) {
	conflict := &store.ConflictError{Last: idOrNone(last)}
	standing, err := g.Entries(ctx, gameID, next.Version, 1)
	_, corrupt := errors.AsType[*store.CorruptError](err)
	switch {
	case corrupt || conflict.Last.Version < 0:
		return store.Appended{}, store.ErrBroken
	case err != nil: // An earlier call may have appended this entry.
		return store.Appended{}, fmt.Errorf("%w: %w", store.ErrUnsettled, err)
	case len(standing) > 0 && standing[0].ID == next:
		return store.Appended{Time: standing[0].Time, Watchers: -1}, nil
	}
	return store.Appended{}, conflict
}

// appendError adds store.ErrUnsettled to an append's error, unless the error proves that
// nothing was written: an error reply from Redis.
func appendError(err error) error {
	if _, answered := errors.AsType[goredis.Error](err); answered {
		return failed(err)
	}
	return fmt.Errorf("%w: %w", store.ErrUnsettled, failed(err))
}

func (g *games) Tail(ctx context.Context, gameID string) (store.Tail, error) {
	reply, err := g.run(ctx, tailScript, []string{logKey(gameID), metaKey(gameID)}).Slice()
	if err != nil {
		return store.Tail{}, failed(err)
	}
	if len(reply) != 4 {
		return store.Tail{}, store.Failed(answered, "tail.lua returned %d values", len(reply))
	}
	length, _ := reply[0].(int64)
	meta, _ := reply[2].([]any)
	now, err := strconv.ParseInt(stringAt(reply, 3), 10, 64)
	if err != nil {
		return store.Tail{}, store.Failed(answered, "tail.lua returned no time: %w", err)
	}
	return store.Tail{
		Length: length, Last: idOrNone(stringAt(reply, 1)), Head: idOrNone(stringAt(meta, 0)),
		Watchers: watchersAt(stringAt(meta, 1), time.Unix(now, 0)),
	}, nil
}

// stringAt returns the nth value of a reply, or "" if it is missing or not a string.
func stringAt(values []any, n int) string {
	if n >= len(values) {
		return ""
	}
	s, _ := values[n].(string)
	return s
}

// watchersAt parses the number of spectators in meta, "count time" as written by
// audience.lua. It returns 0 if the count is too old, or from before the clock was set back.
func watchersAt(s string, now time.Time) int {
	count, at, ok := strings.Cut(s, " ")
	if !ok {
		return 0
	}
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > store.AudienceTTL {
		return 0
	}
	n, _ := strconv.Atoi(count)
	return n
}

// idText formats an ID for a script, and the zero ID as "".
func idText(id store.ID) string {
	if id == (store.ID{}) {
		return ""
	}
	return id.String()
}

// idOrNone parses an ID for Tail. It returns the zero ID if s is empty, and version −1 if
// s is invalid.
func idOrNone(s string) store.ID {
	if s == "" {
		return store.ID{}
	}
	id, err := store.ParseID(s)
	if err != nil {
		return store.ID{Version: -1}
	}
	return id
}

func (g *games) Entries(ctx context.Context, gameID string, from int32, n int) ([]store.Record, error) {
	messages, err := g.reads.XRangeN(ctx, logKey(gameID), strconv.Itoa(int(from)), "+", int64(n)).Result()
	records := make([]store.Record, 0, len(messages))
	for _, m := range messages {
		r, err := parseRecord(m)
		if err == nil && r.ID.Version < from {
			err = errors.New("there is another entry with its version")
		}
		if err != nil {
			return records, &store.CorruptError{Version: from - 1, Err: err}
		}
		records = append(records, r)
		from = r.ID.Version + 1
	}
	return records, failed(err)
}

func parseRecord(m goredis.XMessage) (store.Record, error) {
	id, err := store.ParseID(m.ID)
	if err != nil {
		return store.Record{}, err
	}
	field := func(name string) string { s, _ := m.Values[name].(string); return s }
	at, err := parseTime(field("t"))
	if err != nil {
		return store.Record{}, err
	}
	return store.Record{ID: id, Time: at, Raw: []byte(field("e")), Seed: []byte(field("s"))}, nil
}

// parseTime parses a time in Unix milliseconds.
func parseTime(s string) (time.Time, error) {
	ms, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("not a time: %q", s)
	}
	return time.UnixMilli(ms).UTC(), nil
}

// milliText formats a time in Unix milliseconds, and the zero time as "".
func milliText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return strconv.FormatInt(t.UnixMilli(), 10)
}

func (g *games) Heads(ctx context.Context, gameIDs []string) ([]store.Head, error) {
	if len(gameIDs) == 0 {
		return nil, nil
	}
	commands := make([]*goredis.SliceCmd, len(gameIDs))
	var clock *goredis.TimeCmd
	_, err := g.reads.Pipelined(ctx, func(p goredis.Pipeliner) error {
		clock = p.Time(ctx)
		for i, id := range gameIDs {
			commands[i] = p.HMGet(ctx, metaKey(id), "last", "time", "head", "watchers")
		}
		return nil
	})
	if err != nil {
		return nil, failed(err)
	}
	heads := make([]store.Head, len(gameIDs))
	for i, c := range commands {
		field := func(n int) string { return stringAt(c.Val(), n) }
		h := &heads[i]
		h.Exists = field(0) != ""
		h.Watchers = watchersAt(field(3), clock.Val())
		last, err := store.ParseID(field(0))
		if err != nil {
			continue
		}
		at, err := parseTime(field(1))
		if err != nil {
			continue
		}
		h.Last, h.Time, h.Encoded = last, at, []byte(field(2))
	}
	return heads, nil
}

func (g *games) Mend(ctx context.Context, gameID string, from store.ID, head store.Head) error {
	field := "last"
	if from == (store.ID{}) {
		field = "" // The hash must not exist.
	}
	_, err := setFields(ctx, g.reads, metaKey(gameID), field, from.String(), time.Time{},
		"last", head.Last.String(), "time", head.Time.UnixMilli(), "head", head.Encoded)
	return err
}

func (g *games) Expire(ctx context.Context, at time.Time, gameIDs ...string) error {
	_, err := g.reads.Pipelined(ctx, func(p goredis.Pipeliner) error {
		for _, id := range gameIDs {
			p.PExpireAt(ctx, logKey(id), at)
			p.PExpireAt(ctx, metaKey(id), at)
		}
		return nil
	})
	return failed(err)
}

func (g *games) Quarantine(ctx context.Context, gameID string, last store.ID, keep time.Duration) error {
	written, err := g.run(ctx, quarantineScript, []string{logKey(gameID), metaKey(gameID)},
		idText(last), store.Quarantined.String(), keep.Milliseconds()).Bool()
	if err == nil && !written {
		return store.ErrMoved
	}
	return failed(err)
}

func (g *games) IDs(ctx context.Context, visit func(gameIDs []string) error) error {
	return scanKeys(ctx, g.reads, logKey("*"), func(keys []string) error {
		return visit(convert.All(keys, func(key string) string { return between(key, logKey("*")) }))
	})
}

func (g *games) Audience(ctx context.Context, gameID, serverID string, count int, shown store.Reactions) (int, error) {
	total, err := g.run(ctx, audienceScript, []string{audienceKey(gameID), metaKey(gameID)},
		serverID, count, feedKey(gameID), int(store.AudienceTTL.Seconds()), g.publish, formatReactions(shown)).Int()
	return total, failed(err)
}
