package leaderboard

import (
	"context"
	_ "embed" // For the script.
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/page"
)

//go:embed rank.lua
var rankSource string

var rankScript = redis.NewScript(rankSource)

// MaxNeighbors is how many entries Rank adds above and below at most.
const MaxNeighbors = 50

// Page is a piece of a board.
type Page struct {
	// Entries in the order of their ranks.
	Entries []Entry
	// Total is how many entries the whole board has.
	Total int32
	// Next is the token of the page that follows, empty when there is none.
	Next string
}

// List returns up to size entries of a board: the first page for an empty token,
// else the one after the page whose Next it is. A token of another list is an
// *invalid.Error. Redis's clock decides the week and the day of the first page; the
// pages that follow stay on its board.
//
// It is one round trip, and another one at the turn of a day.
func (b *Boards) List(ctx context.Context, variant string, window Window, token string, size int) (Page, error) {
	if token != "" {
		board, first, err := b.place(ctx, variant, window, token)
		if err != nil {
			return Page{}, err
		}
		listed, _, err := b.list(ctx, board, first, size)
		return listed, err
	}
	// Redis's clock decides which board is current. The local clock guesses, so
	// that one round trip usually suffices.
	guess := boardAt(variant, window, b.now())
	listed, now, err := b.list(ctx, guess, 0, size)
	if current := boardAt(variant, window, now); err == nil && current != guess {
		listed, _, err = b.list(ctx, current, 0, size)
	}
	return listed, err
}

// list returns size entries from the given place on (counted from 0), and
// Redis's time.
func (b *Boards) list(ctx context.Context, board board, first int64, size int) (Page, time.Time, error) {
	pipe := b.client.Pipeline()
	elements := pipe.ZRevRangeWithScores(ctx, board.key(), first, first+int64(size)-1)
	total := pipe.ZCard(ctx, board.key())
	now := pipe.Time(ctx)
	if _, err := pipe.Exec(ctx); err != nil {
		return Page{}, time.Time{}, fmt.Errorf("reading a board: %w", err)
	}
	listed := Page{Entries: make([]Entry, 0, len(elements.Val())), Total: int32(total.Val())}
	for i, z := range elements.Val() {
		member, _ := z.Member.(string)
		entry, err := parseMember(member)
		if err != nil {
			return Page{}, time.Time{}, err
		}
		entry.Rank, entry.Score = int32(first)+int32(i)+1, int32(z.Score)
		listed.Entries = append(listed.Entries, entry)
	}
	if next := first + int64(len(elements.Val())); next > first && next < total.Val() {
		token, err := b.tokens.Seal(ctx, board.query(), board.cursor(next))
		if err != nil {
			return Page{}, time.Time{}, err
		}
		listed.Next = token
	}
	return listed, now.Val(), nil
}

// Rank returns a player's entry on a current board and up to neighbors entries
// (MaxNeighbors at most) directly above it and as many below, in the order of
// their ranks and without the player's own. It returns ErrNoScore for a player
// who is not on it, and an *invalid.Error for negative neighbors. It is one
// round trip, and another one at the turn of a day. The riders' commands go with the
// first; if Rank fails before it, Ask was not called.
func (b *Boards) Rank(ctx context.Context, variant string, window Window, playerID string, neighbors int32, riders ...Rider) (Entry, []Entry, error) {
	if neighbors < 0 {
		return Entry{}, nil, invalid.Field("neighbors", "must not be negative")
	}
	if !id.Valid(playerID) {
		return Entry{}, nil, ErrNoScore
	}
	neighbors = min(neighbors, MaxNeighbors)
	guess := boardAt(variant, window, b.now())
	ranked, err := b.rank(ctx, guess, playerID, neighbors, riders...)
	if current := boardAt(variant, window, ranked.now); err == nil && current != guess {
		ranked, err = b.rank(ctx, current, playerID, neighbors)
	}
	if err != nil {
		return Entry{}, nil, fmt.Errorf("reading a rank: %w", err)
	}
	if ranked.own == nil {
		return Entry{}, nil, ErrNoScore
	}
	return *ranked.own, ranked.neighbors, nil
}

// Rider adds commands of its own to a round trip.
type Rider interface {
	// Ask puts commands into pipe, which is then sent.
	Ask(ctx context.Context, pipe redis.Pipeliner)
}

// ranking is the reply of rank.lua.
type ranking struct {
	now       time.Time // by Redis's clock
	own       *Entry    // nil for a player who is not on the board
	neighbors []Entry
}

var errReply = errors.New("unexpected reply of rank.lua")

func (b *Boards) rank(ctx context.Context, board board, playerID string, neighbors int32, riders ...Rider) (ranking, error) {
	keys, args := []string{board.key(), board.bestKey()}, []any{playerID, neighbors}
	pipe := b.client.Pipeline()
	for _, r := range riders {
		r.Ask(ctx, pipe)
	}
	ranked := rankScript.EvalSha(ctx, pipe, keys, args...)
	_, _ = pipe.Exec(ctx) // Each command has its own error.
	if redis.HasErrorPrefix(ranked.Err(), "NOSCRIPT") {
		ranked = rankScript.Eval(ctx, b.client, keys, args...)
	}
	reply, err := ranked.Slice()
	if err != nil {
		return ranking{}, err
	}
	if len(reply) != 1 && len(reply) != 4 {
		return ranking{}, errReply
	}
	seconds, _ := reply[0].(string)
	now, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return ranking{}, errReply
	}
	r := ranking{now: time.Unix(now, 0)}
	if len(reply) == 1 {
		return r, nil
	}
	place, _ := reply[1].(int64)
	first, _ := reply[2].(int64)
	elements, _ := reply[3].([]any)
	for i := 0; i+1 < len(elements); i += 2 {
		member, _ := elements[i].(string)
		entry, err := parseMember(member)
		if err != nil {
			return ranking{}, err
		}
		text, _ := elements[i+1].(string)
		score, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return ranking{}, errReply
		}
		at := first + int64(i/2)
		entry.Rank, entry.Score = int32(at)+1, int32(score)
		if at == place {
			r.own = &entry
		} else {
			r.neighbors = append(r.neighbors, entry)
		}
	}
	return r, nil
}

// cursor is the given place (from 0) of b. It stays on b after the end of the day.
func (b board) cursor(place int64) []byte {
	return binary.AppendUvarint(binary.AppendVarint(nil, b.start), uint64(place))
}

// query identifies the list to which b's tokens belong.
func (b board) query() string { return fmt.Sprintf("scores %d %s", b.window, b.variant) }

// place reads a token of List.
func (b *Boards) place(ctx context.Context, variant string, window Window, token string) (board, int64, error) {
	cursor, err := b.tokens.Open(ctx, board{variant: variant, window: window}.query(), token)
	if err != nil {
		return board{}, 0, err
	}
	return parseCursor(variant, window, cursor)
}

// parseCursor reads what cursor wrote, which may have been another version of the
// program.
func parseCursor(variant string, window Window, cursor []byte) (board, int64, error) {
	start, n := binary.Varint(cursor)
	place, m := binary.Uvarint(cursor[max(n, 0):])
	b := boardAt(variant, window, time.Unix(start*secondsPerDay, 0))
	if n <= 0 || m <= 0 || n+m != len(cursor) || place == 0 || place > math.MaxInt32 ||
		start < 0 || start > maxMillis/1000/secondsPerDay || b.start != start {
		return board{}, 0, page.BadToken()
	}
	return b, int64(place), nil
}
