// Package leaderboard keeps each variant's boards, of all time, of each week
// and of each day, in a store. A player is on a board once, with the best score; of
// equal scores the earlier ranks first.
//
// The window is called all, week-2026-W47 or day-2026-11-20, and a member is
//
//	<9999999999999 − Unix milliseconds>:<player id>:<game id>
//
// so that the store's order of equal scores is that of the board, and nothing else
// needs a lookup. All other errors are the store's or the context's, wrapped.
package leaderboard

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/store"
)

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
	// Time of the game's last event, by the store's clock. It decides the week and
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

// Boards are the boards of a store. All methods may be called concurrently.
//
// A variant becomes part of a board's name: callers must check that it exists.
type Boards struct {
	boards store.Boards
	tokens *page.Tokens
	now    func() time.Time
}

// New returns the boards of a store. now is the local clock: it guesses which boards
// are current, and the store's clock decides.
func New(boards store.Boards, tokens *page.Tokens, now func() time.Time) *Boards {
	return &Boards{boards: boards, tokens: tokens, now: now}
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
	return b.boards.Record(ctx, store.BoardEntry{PlayerID: r.PlayerID, Score: r.Score, Member: member},
		boardAt(r.Variant, All, r.Time).stored(), boardAt(r.Variant, Week, r.Time).stored(), boardAt(r.Variant, Day, r.Time).stored())
}

// Hide removes a player from all boards and keeps the player's results off them until
// Unhide. It is idempotent; after an error it is retried.
func (b *Boards) Hide(ctx context.Context, playerID string) error {
	return b.boards.Hide(ctx, playerID)
}

// Unhide ends Hide. Results that were not recorded in between must be recorded again.
func (b *Boards) Unhide(ctx context.Context, playerID string) error {
	return b.boards.Unhide(ctx, playerID)
}

// AnyHidden reports whether any player is hidden.
func (b *Boards) AnyHidden(ctx context.Context) (bool, error) { return b.boards.AnyHidden(ctx) }

// Hidden returns those of the players who are hidden.
func (b *Boards) Hidden(ctx context.Context, playerIDs ...string) (map[string]bool, error) {
	return b.boards.Hidden(ctx, playerIDs...)
}

// Games calls visit with the ids of the games on a variant's all-time board, some at
// a time. An id that stays on the board throughout is visited at least once. It ends
// at the first error, also one of visit's.
func (b *Boards) Games(ctx context.Context, variant string, visit func(gameIDs []string) error) error {
	return b.boards.Entries(ctx, boardAt(variant, All, time.Time{}).stored(), func(entries []store.BoardEntry) error {
		gameIDs := make([]string, len(entries))
		for i, e := range entries {
			entry, err := parseMember(e.Member)
			if err != nil {
				return err
			}
			gameIDs[i] = entry.GameID
		}
		return visit(gameIDs)
	})
}

// Prune removes from the boards the entries for which matches returns false, and
// corrects what the store keeps beside the entries. The caller records again what is
// missing then. It ends at the first error, also one of matches.
func (b *Boards) Prune(ctx context.Context, matches func(Result) (bool, error)) (store.BoardRepair, error) {
	repair, err := b.boards.Repair(ctx)
	if err != nil {
		return repair, err
	}
	err = b.boards.Boards(ctx, func(board store.Board) error {
		return b.boards.Entries(ctx, board, func(entries []store.BoardEntry) error {
			for _, e := range entries {
				entry, err := parseMember(e.Member)
				if err != nil {
					return err
				}
				ok, err := matches(Result{
					Variant: board.Variant, PlayerID: entry.PlayerID, GameID: entry.GameID, Score: e.Score, Time: entry.Time,
				})
				if err != nil {
					return err
				}
				if ok {
					continue
				}
				dropped, err := b.boards.Drop(ctx, board, entry.PlayerID, e.Member)
				if err != nil {
					return err
				}
				if dropped {
					repair.Removed++
				}
			}
			return nil
		})
	})
	return repair, err
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
