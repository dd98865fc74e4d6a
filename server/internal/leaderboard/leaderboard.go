// Package leaderboard maintains the leaderboards of each variant, for all time, for each week
// and for each day, and the standings of challenges other than races. A player is on a board at
// most once, with the player's best score. If scores are equal, the earlier one ranks first.
//
// In the store, a board's window is named all, week-2026-W47, day-2026-11-20 or
// challenge-<challenge id>, and a member is
//
//	<9999999999999 − Unix milliseconds>:<player id>:<game id>
//
// so that the store orders equal scores correctly, and reading a board needs no other
// lookup. Unless documented otherwise, errors come from the store or the context, and are
// wrapped.
package leaderboard

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/store"
)

// ErrNoScore is returned for a player who is not on the board.
var ErrNoScore = errors.New("no score on this board")

// Result is the result of one seat in a ranked game.
type Result struct {
	// Variant is the variant of the game.
	Variant string
	// PlayerID identifies the player of the seat, and GameID the game.
	PlayerID, GameID string
	// Score is the score in points.
	Score int32
	// Time is the time of the game's last event, by the store's clock. It determines the week
	// and the day, and which of two equal scores ranks first.
	Time time.Time
	// ChallengeID is the id of the challenge if the result counts toward a challenge's
	// standings, which expire at the time Expires. It is empty if the result counts toward the
	// variant's boards.
	ChallengeID string
	Expires     time.Time
}

// ResultsOf returns the results of the seats that count, or nil if the game is not over. It
// returns nil for a race, because the standings of races are computed from the games
// themselves. It leaves Expires unset.
func ResultsOf(final *replay.State) []Result {
	var list []Result
	if final.Attempt.Kind == replay.Race {
		return nil
	}
	scores := final.Position.Scores()
	for i, seat := range final.Seats {
		if final.Scored(i) {
			list = append(list, Result{
				Variant: final.Variant.ID, PlayerID: seat.Player.ID, GameID: final.ID,
				Score: scores[i], Time: final.UpdateTime, ChallengeID: final.Attempt.ChallengeID,
			})
		}
	}
	return list
}

// Entry is an entry of a board.
type Entry struct {
	// Rank is the rank on the board, from 1.
	Rank int32
	// PlayerID, Score, GameID and Time come from the Result. Time has a precision of one
	// millisecond.
	PlayerID string
	Score    int32
	GameID   string
	Time     time.Time
}

// Boards manages the boards in a store. It is safe for concurrent use.
//
// The variant becomes part of a board's name, so callers must check that it exists. Hide, Unhide, Hidden
// and Clear are those of the store. Results of games that ended while a player was hidden must
// be recorded again, as must all results after Clear.
type Boards struct {
	store.Boards
	tokens *page.Tokens
	time   func(context.Context) (time.Time, error)
}

// New returns a Boards that manages the boards in a store. now returns the store's time, which decides
// which boards are current.
func New(boards store.Boards, tokens *page.Tokens, now func(context.Context) (time.Time, error)) *Boards {
	return &Boards{Boards: boards, tokens: tokens, time: now}
}

// Record records a result on the three boards of its variant, or in the standings of its challenge. It is
// idempotent and the order of results does not matter, so it may be retried after an error. It ignores
// scores of 0 unless they are of a challenge, expired boards, and hidden players.
func (b *Boards) Record(ctx context.Context, r Result) error {
	if r.Score <= 0 && r.ChallengeID == "" {
		return nil
	}
	member, err := memberOf(r)
	if err != nil {
		return err
	}
	var boards []store.Board
	if r.ChallengeID != "" {
		standings, _ := Board{Variant: r.Variant, ChallengeID: r.ChallengeID}.stored(r.Time)
		standings.Expires = r.Expires
		boards = append(boards, standings)
	} else {
		for _, window := range []Window{All, Week, Day} {
			board, _ := Board{Variant: r.Variant, Window: window}.stored(r.Time)
			boards = append(boards, board)
		}
	}
	return b.Boards.Record(ctx, store.BoardEntry{PlayerID: r.PlayerID, Score: r.Score, Member: member}, boards...)
}

const (
	// gamesBatch is the number of entries that Games reads at once, and gamesAgain how many of them
	// it reads again with the next ones, because these move up if a player above them is hidden.
	gamesBatch = 500
	gamesAgain = 20
)

// Games calls visit with the ids of the games on an all-time board or in the standings of a challenge, in
// batches. Games visits each id that stays on the board throughout at least once, unless more than
// gamesAgain players are hidden between two batches. Games stops at the first error, including errors of
// visit.
func (b *Boards) Games(ctx context.Context, of Board, visit func(gameIDs []string) error) error {
	board, _ := of.stored(time.Time{})
	for first := int64(0); ; first += gamesBatch - gamesAgain {
		page, err := b.Page(ctx, board, first, gamesBatch)
		if err != nil || len(page.Entries) == 0 {
			return err
		}
		entries, err := entriesOf(page.Entries, first)
		if err == nil {
			err = visit(convert.All(entries, func(e Entry) string { return e.GameID }))
		}
		if err != nil || len(entries) < gamesBatch {
			return err
		}
	}
}

const (
	// maxMillis is the latest time that a member can represent, in the year 2286.
	maxMillis = 9_999_999_999_999
	digits    = 13
)

func memberOf(r Result) (string, error) {
	millis := r.Time.UnixMilli()
	if millis < 0 || millis > maxMillis || !id.Valid(r.PlayerID) || !id.Valid(r.GameID) {
		return "", fmt.Errorf("invalid result of a game: %+v", r)
	}
	return fmt.Sprintf("%0*d:%s:%s", digits, maxMillis-millis, r.PlayerID, r.GameID), nil
}

// parseMember parses a member that memberOf returned. The entry has no rank or score.
func parseMember(member string) (Entry, error) {
	parts := strings.Split(member, ":")
	if len(parts) == 3 && len(parts[0]) == digits && id.Valid(parts[1]) && id.Valid(parts[2]) {
		if rest, err := strconv.ParseInt(parts[0], 10, 64); err == nil {
			return Entry{PlayerID: parts[1], GameID: parts[2], Time: time.UnixMilli(maxMillis - rest).UTC()}, nil
		}
	}
	return Entry{}, fmt.Errorf("malformed leaderboard entry: %q", member)
}
