package gamelog

import (
	"context"
	_ "embed" // script
	"errors"
	"math"
	"strings"
	"time"

	"github.com/gridstand/gridstand/server/internal/scan"
)

//go:embed quarantine.lua
var quarantineSource string

var quarantineScript = newScript(quarantineSource)

// quarantined is the last entry that the meta of a game in quarantine names. No
// log can hold it, so such a game is damaged like any other.
var quarantined = ID{Version: math.MaxInt32}

// ErrMoved means that a log no longer ends with the entry that the caller saw last.
var ErrMoved = errors.New("the log has moved on")

// Quarantine marks a game, whose log ends with last, as damaged; last is zero for a log
// that is missing but should exist: nothing is appended to it after this, and
// readers are told that it is damaged. What can be read of it is kept for the given
// time. It can be repeated. The error is ErrMoved or one of Redis.
func (l *Log) Quarantine(ctx context.Context, gameID string, last ID, keep time.Duration) error {
	text := ""
	if last != (ID{}) {
		text = last.String()
	}
	reply, err := l.run(ctx, quarantineScript, []string{logKey(gameID), metaKey(gameID)},
		text, quarantined.String(), keep.Milliseconds()).Slice()
	if err != nil {
		return err
	}
	if len(reply) != 1 || reply[0] != int64(1) {
		return ErrMoved
	}
	return nil
}

// Games calls visit with the IDs of all games that have a log, some at a time. A game
// that exists all the time is visited at least once. It stops at the first error, also
// of visit.
func (l *Log) Games(ctx context.Context, visit func(gameIDs []string) error) error {
	return scan.Keys(ctx, l.reads, logKey("*"), visitGames(visit))
}

// GamesBeside is Games for the games that are on the same master of a cluster as key.
func (l *Log) GamesBeside(ctx context.Context, key string, visit func(gameIDs []string) error) error {
	return scan.Beside(ctx, l.reads, key, logKey("*"), visitGames(visit))
}

func visitGames(visit func(gameIDs []string) error) func(keys []string) error {
	before, after, _ := strings.Cut(logKey("*"), "*")
	return func(keys []string) error {
		gameIDs := make([]string, len(keys))
		for i, key := range keys {
			gameIDs[i] = strings.TrimSuffix(strings.TrimPrefix(key, before), after)
		}
		return visit(gameIDs)
	}
}
