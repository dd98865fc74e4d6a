// Package gamelog keeps games in Redis. A game is a log, an append-only stream of
// entries. Each entry's ID holds its version and a digest of all entries before, so
// that reads and appends notice a log that was cut, swapped or rolled back. The script
// that appends an entry also writes meta, a hash with what lists show.
//
//	game:{id}:log       stream; per entry t (Unix ms), e (entry), s (seed, entry 1)
//	game:{id}:meta      hash; last, time, head, watchers
//	game:{id}:feed      channel on which each entry is published
//	game:{id}:audience  hash; how many watch on each server
package gamelog

import (
	"context"
	_ "embed" // scripts
	"errors"
	"fmt"
	"slices"
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

//go:embed ready.lua
var readySource string

var (
	appendScript = newScript(appendSource)
	tailScript   = newScript(tailSource)
	mendScript   = newScript(mendSource)
	readyScript  = newScript(readySource)
)

// ErrNotFound means there is no such game.
var ErrNotFound = errors.New("no such game")

// DamagedError says that a game's log is lost, cut or altered.
type DamagedError struct {
	GameID string
	// Version is the last one that can be read, 0 for none.
	Version int32
	// Detail says what is wrong, for the operator.
	Detail string
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("log is damaged after version %d: %s", e.Version, e.Detail)
}

// maxQueued bounds the commands that wait for Redis in this process, and with them
// the memory that they take if Redis does not answer.
const maxQueued = 16384

// Log reads and writes the logs of all games. It is safe for concurrent use.
type Log struct {
	pipeline *redis.AutoPipeliner
	direct   redis.UniversalClient // for commands that are quicker outside of the pipeline
	reads    redis.UniversalClient
}

// New makes a Log from two clients of the same Redis: appends is for short commands
// that players wait for, most of them pipelined. It must not retry (MaxRetries −1),
// since the Log has to know of every attempt to append. reads is for long reads, so
// that moves do not queue behind them. The caller closes both.
func New(appends, reads redis.UniversalClient) (*Log, error) {
	pipeline, err := appends.AsyncAutoPipelineWithOptions(&redis.AutoPipelineOptions{
		MaxQueuedCommands: maxQueued,
		// Read replies while writing commands. Otherwise the library holds commands
		// back for up to 2 ms to fill its batches, and a move at half of the load
		// takes ten times as long.
		FullDuplex: true,
	})
	if err != nil {
		return nil, err
	}
	return &Log{pipeline: pipeline, direct: appends, reads: reads}, nil
}

// Ready returns the error that an append would get now, or nil. It uses the pipeline
// of appends and writes nothing. Of a Redis Cluster it asks one node.
func (l *Log) Ready(ctx context.Context) error {
	err := l.run(ctx, readyScript, []string{logKey(readyID)}).Err()
	if errors.Is(err, redis.Nil) {
		return nil
	}
	return err
}

// readyID is an ID that no game has.
const readyID = "ready"

// ReadingFrom returns l with another client for long reads.
func (l *Log) ReadingFrom(reads redis.UniversalClient) *Log {
	other := *l
	other.reads = reads
	return &other
}

func logKey(gameID string) string  { return "game:{" + gameID + "}:log" }
func metaKey(gameID string) string { return "game:{" + gameID + "}:meta" }
func feedKey(gameID string) string { return "game:{" + gameID + "}:feed" }

func audienceKey(gameID string) string { return "game:{" + gameID + "}:audience" }

// script is a script's source and the name by which Redis knows it.
type script struct{ source, hash string }

func newScript(source string) script { return script{source, redis.NewScript(source).Hash()} }

// run sends a script down the shared pipeline, and its source if Redis does not
// know it yet. If ctx ends first, the outcome is unknown.
func (l *Log) run(ctx context.Context, s script, keys []string, args ...any) *redis.Cmd {
	command := make([]any, 0, 3+len(keys)+len(args))
	command = append(command, "evalsha", s.hash, len(keys))
	for _, k := range keys {
		command = append(command, k)
	}
	command = append(command, args...)
	for {
		// The pipeline outlives the call: a queued command is sent even if ctx ends.
		cmd := redis.NewCmd(context.Background(), command...)
		if err := l.pipeline.Submit(ctx, cmd).WaitContext(ctx); err != nil {
			cmd = redis.NewCmd(ctx) // The first one may still be in use.
			cmd.SetErr(err)
		}
		if command[0] == "eval" || !redis.HasErrorPrefix(cmd.Err(), "NOSCRIPT") {
			return cmd
		}
		command = slices.Clone(command)
		command[0], command[1] = "eval", s.source
	}
}

// Tail is the end of a game's log. An ID that cannot be parsed has the version −1.
type Tail struct {
	// Length is the number of entries.
	Length int64
	// Last is the ID of the last entry, zero for an empty log.
	Last ID
	// Meta is the ID of the last entry by meta, zero if meta has none.
	Meta ID
	// Watchers of the game on all servers.
	Watchers int
}

// Tail reads where a log ends, as of a moment within the call.
func (l *Log) Tail(ctx context.Context, gameID string) (Tail, error) {
	reply, err := l.run(ctx, tailScript, []string{logKey(gameID), metaKey(gameID), audienceKey(gameID)}).Slice()
	if err != nil {
		return Tail{}, err
	}
	if len(reply) != 4 {
		return Tail{}, fmt.Errorf("tail: reply of %d parts", len(reply))
	}
	length, _ := reply[0].(int64)
	last, _ := reply[1].(string)
	meta, _ := reply[2].([]any)
	audience, _ := reply[3].(int64)
	return Tail{
		Length: length, Last: idOrNone(last), Meta: idOrNone(stringAt(meta, 0)),
		Watchers: watchersIf(audience, stringAt(meta, 1)),
	}, nil
}

// EndsWith reports whether a log ended with an entry at a moment within the call, and
// how many watch the game on all servers. With it, joining a game takes 20 % less time
// than with Tail: it runs no script, and a connection of its own is quicker than the
// pipeline. It misses only a last entry that was replaced by another.
//
// The length is read after meta: if meta names the entry and the log has as many
// entries as the entry's version says, nothing was appended in between.
func (l *Log) EndsWith(ctx context.Context, gameID string, last ID) (ends bool, watchers int, err error) {
	pipe := l.direct.Pipeline()
	meta := pipe.HMGet(ctx, metaKey(gameID), "last", "watchers")
	length := pipe.XLen(ctx, logKey(gameID))
	audience := pipe.Exists(ctx, audienceKey(gameID))
	if _, err := pipe.Exec(ctx); err != nil {
		return false, 0, err
	}
	ends = stringAt(meta.Val(), 0) == last.String() && length.Val() == int64(last.Version)
	return ends, watchersIf(audience.Val(), stringAt(meta.Val(), 1)), nil
}

// stringAt returns the nth value of a reply, empty if it is none or no string.
func stringAt(values []any, n int) string {
	if n >= len(values) {
		return ""
	}
	s, _ := values[n].(string)
	return s
}

// watchersIf returns how many watch according to meta, 0 if the audience key does not
// exist: it expires when no server has reported watchers for AudienceTTL.
func watchersIf(audience int64, meta string) int {
	if audience == 0 {
		return 0
	}
	return watchersAt(meta, time.Time{})
}

// idOrNone parses an ID for Tail.
func idOrNone(s string) ID {
	if s == "" {
		return ID{}
	}
	id, err := ParseID(s)
	if err != nil {
		return ID{Version: -1}
	}
	return id
}

// Head is what lists show of a game, read without its log.
type Head struct {
	// Exists says that there is such a game.
	Exists bool
	// State is nil for a game that this server cannot read. No entry can be applied
	// to it: it has no seed before the game is over.
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
		field := func(n int) string { return stringAt(c.Val(), n) }
		heads[i].Exists = field(0) != ""
		last, err := ParseID(field(0))
		if err != nil {
			continue
		}
		at, err := parseTime(field(1))
		if err != nil {
			continue
		}
		if last == quarantined {
			continue
		}
		// Lists leave out a game that cannot be read; reading the game itself returns
		// the error.
		heads[i].State, _ = decodeHead(gameIDs[i], last, at, []byte(field(2)))
		heads[i].Watchers = watchersAt(field(3), clock.Val())
	}
	return heads, nil
}

// watchersAt returns how many watch according to meta, which holds "count time" as
// audience.lua writes it; 0 if that is too old.
func watchersAt(s string, now time.Time) int {
	count, at, ok := strings.Cut(s, " ")
	if !ok {
		return 0
	}
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)) > AudienceTTL {
		return 0
	}
	n, _ := strconv.Atoi(count)
	return n
}

// Mend writes the meta of a log that it fell behind.
func (l *Log) Mend(ctx context.Context, tip Tip) error {
	s := tip.State
	head, err := encodeHead(s, board(s))
	if err != nil {
		return err
	}
	return l.run(ctx, mendScript, []string{logKey(s.ID), metaKey(s.ID)},
		tip.ID.String(), s.UpdateTime.UnixMilli(), head).Err()
}

// Expire has the keys of games expire at the given time.
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
