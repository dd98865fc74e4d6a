// Package gamelog keeps games in Redis. A game is a log, a stream of entries
// that only grows; each entry's ID holds its version and a digest of all that
// came before, so that a log which was cut, swapped or rolled back is noticed
// by whoever reads it or appends to it. Beside the log stands meta, a hash with
// what lists show, written by the same script as the entry.
//
//	game:{id}:log   stream; per entry t (Unix ms), e (entry), s (seed, entry 1)
//	game:{id}:meta  hash; last, time, head, watchers
//	game:{id}:feed  channel on which each entry is published
//	game:{id}:audience  hash; who watches through which server
package gamelog

import (
	"context"
	_ "embed" // scripts
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/game/replay"
)

//go:embed append.lua
var appendSource string

//go:embed tail.lua
var tailSource string

//go:embed mend.lua
var mendSource string

var (
	appendScript = redis.NewScript(appendSource)
	tailScript   = redis.NewScript(tailSource)
	mendScript   = redis.NewScript(mendSource)
)

// ErrNotFound means there is no such game.
var ErrNotFound = errors.New("no such game")

// DamagedError says that a game's log is lost, cut or altered.
type DamagedError struct {
	GameID string
	// Version is the last one that can be read, 0 when none can.
	Version int32
	// Detail says what does not fit, for the operator.
	Detail string
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("log is damaged after version %d: %s", e.Version, e.Detail)
}

// maxQueued bounds the appends and confirmations that wait for Redis in this
// process, and with them the memory that a Redis that does not answer costs.
const maxQueued = 16384

// Log reads and writes the logs of all games. It is safe for concurrent use.
type Log struct {
	pipeline *redis.AutoPipeliner
	direct   redis.UniversalClient // for what would wait in the pipeline
	reads    redis.UniversalClient
}

// New makes a Log out of two clients of the same Redis: appends is for short
// commands that people wait for, and mostly pipelined; it must not retry by itself
// (MaxRetries −1), since a repeated append is ours to judge. reads is for long
// reads, so that they never stand before a move. The caller closes both.
func New(appends, reads redis.UniversalClient) (*Log, error) {
	pipeline, err := appends.AsyncAutoPipelineWithOptions(&redis.AutoPipelineOptions{
		MaxQueuedCommands: maxQueued,
		// Replies are read while more is written. Taking turns instead, the
		// library holds commands back for up to 2 ms to fill its batches, and
		// a move at half of the load took ten times as long.
		FullDuplex: true,
	})
	if err != nil {
		return nil, err
	}
	return &Log{pipeline: pipeline, direct: appends, reads: reads}, nil
}

func logKey(gameID string) string  { return "game:{" + gameID + "}:log" }
func metaKey(gameID string) string { return "game:{" + gameID + "}:meta" }
func feedKey(gameID string) string { return "game:{" + gameID + "}:feed" }

// run sends a script down the shared pipeline, and its source where Redis does
// not know it yet. Leaving early because ctx ended leaves the outcome unknown.
func (l *Log) run(ctx context.Context, script *redis.Script, source string, keys []string, args ...any) ([]any, error) {
	command := func(name, body string) *redis.Cmd {
		all := make([]any, 0, 3+len(keys)+len(args))
		all = append(all, name, body, len(keys))
		for _, k := range keys {
			all = append(all, k)
		}
		// The pipeline outlives the call: a command that is queued is sent
		// whatever becomes of ctx.
		return redis.NewCmd(context.WithoutCancel(ctx), append(all, args...)...)
	}
	cmd := command("evalsha", script.Hash())
	err := l.pipeline.Submit(ctx, cmd).WaitContext(ctx)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		cmd = command("eval", source)
		err = l.pipeline.Submit(ctx, cmd).WaitContext(ctx)
	}
	if err != nil {
		return nil, err
	}
	return cmd.Slice()
}

// Tail is where a game's log ends. What stands in the place of an ID and is
// none has the version −1, which no entry has.
type Tail struct {
	// Length is the number of entries.
	Length int64
	// Last is the ID of the last entry, zero when there is none.
	Last ID
	// Meta is the ID that meta names as the last, zero when there is none.
	Meta ID
	// Watchers of the game on all servers.
	Watchers int
}

// Tail reads where a log ends, as of one moment within the call. It goes by a
// connection of its own: the pipeline would take 40 µs longer.
func (l *Log) Tail(ctx context.Context, gameID string) (Tail, error) {
	return parseTail(tailScript.Run(ctx, l.direct, []string{logKey(gameID), metaKey(gameID)}).Slice())
}

// TailSoon is Tail for what nobody waits for: many share a round trip.
func (l *Log) TailSoon(ctx context.Context, gameID string) (Tail, error) {
	return parseTail(l.run(ctx, tailScript, tailSource, []string{logKey(gameID), metaKey(gameID)}))
}

func parseTail(reply []any, err error) (Tail, error) {
	if err != nil {
		return Tail{}, err
	}
	if len(reply) != 5 {
		return Tail{}, fmt.Errorf("tail: reply of %d parts", len(reply))
	}
	var t Tail
	t.Length, _ = reply[0].(int64)
	for i, id := range []*ID{&t.Last, &t.Meta} {
		s, _ := reply[i+1].(string)
		if s == "" {
			continue
		}
		if *id, err = ParseID(s); err != nil {
			*id = ID{Version: -1}
		}
	}
	watchers, _ := reply[3].(string)
	now, _ := reply[4].(string)
	seconds, err := strconv.ParseInt(now, 10, 64)
	if err != nil {
		return Tail{}, fmt.Errorf("tail: no time: %q", now)
	}
	t.Watchers = watchersOf(watchers, time.Unix(seconds, 0))
	return t, nil
}

// Head is what lists show of a game, without reading its log.
type Head struct {
	// Exists says that there is such a game.
	Exists bool
	// State is nil for a game that this server cannot read. It cannot be
	// applied to: it has no seed before the game is over.
	State *replay.State
	// Watchers on all servers.
	Watchers int
}

// Heads returns the heads of the given games, in their order.
func (l *Log) Heads(ctx context.Context, gameIDs []string) ([]Head, error) {
	if len(gameIDs) == 0 {
		return nil, nil
	}
	commands := make([]*redis.SliceCmd, len(gameIDs))
	var clock *redis.TimeCmd
	_, err := l.reads.Pipelined(ctx, func(p redis.Pipeliner) error {
		clock = p.Time(ctx)
		for i, id := range gameIDs {
			commands[i] = p.HMGet(ctx, metaKey(id), "last", "time", "head", "watchers")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	heads := make([]Head, len(gameIDs))
	for i, c := range commands {
		field := func(n int) string { s, _ := c.Val()[n].(string); return s }
		heads[i].Exists = field(0) != ""
		last, err := ParseID(field(0))
		if err != nil {
			continue
		}
		at, err := parseTime(field(1))
		if err != nil {
			continue
		}
		if last == fenced {
			continue
		}
		// One that cannot be read is left out of the list: it is told to those
		// who ask for the game itself.
		heads[i].State, _ = decodeHead(gameIDs[i], last, at, []byte(field(2)))
		heads[i].Watchers = watchersOf(field(3), clock.Val())
	}
	return heads, nil
}

// watchersOf reads "count time" as audience.lua writes it, 0 once it is old.
func watchersOf(s string, now time.Time) int {
	if s == "" {
		return 0 // As of most games: errors would cost more than the rest.
	}
	count, at, _ := strings.Cut(s, " ")
	n, err := strconv.Atoi(count)
	seconds, err2 := strconv.ParseInt(at, 10, 64)
	if err != nil || err2 != nil || now.Sub(time.Unix(seconds, 0)) > AudienceTTL {
		return 0
	}
	return n
}

// Mend writes a meta that stands behind its log.
func (l *Log) Mend(ctx context.Context, tip Tip) error {
	s := tip.State
	head, err := encodeHead(s, board(s))
	if err != nil {
		return err
	}
	_, err = l.run(ctx, mendScript, mendSource, []string{logKey(s.ID), metaKey(s.ID)},
		tip.ID.String(), s.UpdateTime.UnixMilli(), head)
	return err
}

// Expire lets the keys of games end at the given time.
func (l *Log) Expire(ctx context.Context, at time.Time, gameIDs ...string) error {
	if len(gameIDs) == 0 {
		return nil
	}
	_, err := l.reads.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, id := range gameIDs {
			p.PExpireAt(ctx, logKey(id), at)
			p.PExpireAt(ctx, metaKey(id), at)
		}
		return nil
	})
	return err
}
