// Package leaderboard keeps each variant's boards, of all time, of each week
// and of each day, in Redis sorted sets. A player is on a board once, with the
// best score; of equal scores the earlier ranks first. A board is two keys
// in one cluster slot (the braces are literal):
//
//	scores:{<variant>:<window>}       sorted set: score → member
//	scores:{<variant>:<window>}:best  hash: player id → that player's member
//
// The window is all, week-2026-W47 or day-2026-11-20, and a member is
//
//	<9999999999999 − Unix milliseconds>:<player id>:<game id>
//
// The set hidden holds the ids of players whom an operator keeps off all boards.
//
// Redis orders equal scores by member, so the set read in reverse is the board, and
// nothing else needs a lookup. All other errors are Redis's or the context's,
// wrapped.
package leaderboard

import (
	"context"
	_ "embed" // For the script.
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/scan"
)

//go:embed record.lua
var recordSource string

var recordScript = redis.NewScript(recordSource)

// ErrNoScore is returned for a player who is not on the board.
var ErrNoScore = errors.New("no score on this board")

// Result is the result of one seat of a ranked game.
type Result struct {
	// Variant of the game.
	Variant string
	// PlayerID of the seat's player, and GameID of the game.
	PlayerID, GameID string
	// Score in points.
	Score int32
	// Time of the game's last event, by Redis's clock. It decides the week and
	// the day, and which of two equal scores ranks first.
	Time time.Time
}

// Entry is one line of a board.
type Entry struct {
	// Rank on the board, from 1.
	Rank int32
	// PlayerID, Score, GameID and Time are those of the Result, the time to
	// the millisecond.
	PlayerID string
	Score    int32
	GameID   string
	Time     time.Time
}

// Boards are the boards in one Redis. Any number of them, in any number of
// processes, may work on the same Redis. All methods may be called
// concurrently.
//
// A variant becomes part of a key: callers must check that it exists.
type Boards struct {
	client redis.UniversalClient
	tokens *page.Tokens
	now    func() time.Time
}

// New returns the boards in client's Redis. The caller closes the client. now is the local clock: it guesses which boards are current, and Redis's
// clock decides.
func New(client redis.UniversalClient, now func() time.Time) *Boards {
	return &Boards{client: client, tokens: page.NewTokens(client), now: now}
}

// Record puts a result on its variant's three boards. It is idempotent, and the order
// of results does not matter: after an error it is retried. It ignores a score of 0,
// weeks and days that expired, and players who are hidden.
func (b *Boards) Record(ctx context.Context, r Result) error {
	if r.Score <= 0 {
		return nil
	}
	member, err := memberOf(r)
	if err != nil {
		return err
	}
	hidden, err := b.Hidden(ctx, r.PlayerID)
	if err != nil || hidden[r.PlayerID] {
		return err
	}
	boards := make([]board, 0, 3)
	for _, window := range []Window{All, Week, Day} {
		board := boardAt(r.Variant, window, r.Time)
		err := recordScript.Run(ctx, b.client, []string{board.key(), board.bestKey()},
			r.PlayerID, r.Score, member, board.expires()).Err()
		if err != nil {
			return fmt.Errorf("recording a score: %w", err)
		}
		boards = append(boards, board)
	}
	// A concurrent Hide may have cleared the boards before this result was on them.
	if hidden, err = b.Hidden(ctx, r.PlayerID); err != nil || !hidden[r.PlayerID] {
		return err
	}
	for _, board := range boards {
		if err := b.drop(ctx, board.key(), r.PlayerID, ""); err != nil {
			return err
		}
	}
	return nil
}

// Games calls visit with the ids of the games on a variant's all-time board, some at
// a time. An id that stays on the board throughout is visited at least once. It ends
// at the first error, also one of visit's.
func (b *Boards) Games(ctx context.Context, variant string, visit func(gameIDs []string) error) error {
	return scan.Members(ctx, b.client, boardAt(variant, All, time.Time{}).key(), func(members []redis.Z) error {
		gameIDs := make([]string, len(members))
		for i, z := range members {
			member, _ := z.Member.(string)
			entry, err := parseMember(member)
			if err != nil {
				return err
			}
			gameIDs[i] = entry.GameID
		}
		return visit(gameIDs)
	})
}

const (
	// maxMillis is the last time that a member can hold, in the year 2286.
	maxMillis    = 9_999_999_999_999
	digits       = 13
	memberLength = digits + 1 + id.Length + 1 + id.Length
)

func memberOf(r Result) (string, error) {
	millis := r.Time.UnixMilli()
	if millis < 0 || millis > maxMillis || !id.Valid(r.PlayerID) || !id.Valid(r.GameID) {
		return "", fmt.Errorf("no result of a game: %+v", r)
	}
	return fmt.Sprintf("%0*d:%s:%s", digits, maxMillis-millis, r.PlayerID, r.GameID), nil
}

// parseMember reads what memberOf wrote: an entry without rank and score.
func parseMember(member string) (Entry, error) {
	if len(member) == memberLength {
		parts := strings.Split(member, ":")
		if len(parts) == 3 && len(parts[0]) == digits && len(parts[1]) == id.Length {
			if rest, err := strconv.ParseInt(parts[0], 10, 64); err == nil {
				at := time.UnixMilli(maxMillis - rest).UTC()
				return Entry{PlayerID: parts[1], GameID: parts[2], Time: at}, nil
			}
		}
	}
	return Entry{}, fmt.Errorf("no entry of a leaderboard: %q", member)
}
