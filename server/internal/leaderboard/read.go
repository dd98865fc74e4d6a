package leaderboard

import (
	"context"
	"fmt"
	"time"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/store"
)

// MaxNeighbors is the maximum number of entries that Rank returns above, and below, the
// player's own.
const MaxNeighbors = 50

// Page is a page of a board.
type Page struct {
	// Entries are sorted by rank.
	Entries []Entry
	// Total is the number of entries on the whole board.
	Total int32
	// Next is the token of the next page, or empty on the last page.
	Next string
}

// List returns a page with up to size entries of a board: the first page if token is empty, or else
// the page after the one whose Next is token. If the token is from another list, the error is an
// *invalid.Error. The store's clock determines the week or day of the first page; later pages stay
// on the same board.
func (b *Boards) List(ctx context.Context, variant string, window Window, token string, size int) (Page, error) {
	query := fmt.Sprintf("scores %d %s", window, variant)
	from, err := b.tokens.OpenPlace(ctx, query, token)
	if err != nil {
		return Page{}, err
	}
	start := time.Unix(from.Rank>>placeBits*secondsPerDay, 0)
	if token == "" {
		if start, err = b.clock(ctx, window); err != nil {
			return Page{}, err
		}
	}
	board := boardAt(variant, window, start)
	return b.page(ctx, board.stored(), query, board.start, from.Rank&(1<<placeBits-1), size)
}

// placeBits is the number of bits of a page token's rank that contain the first place on the page,
// from 0. The others contain the first day of the board's window.
const placeBits = 31

// clock returns the store's time, on which the boards of a window depend.
func (b *Boards) clock(ctx context.Context, window Window) (now time.Time, err error) {
	if window != All {
		now, err = b.time(ctx)
	}
	return now, err
}

// page returns up to size entries of a board, starting at the given place (counted from 0). Its page
// tokens are bound to query and contain start, the first day of the board's window.
func (b *Boards) page(
	ctx context.Context, board store.Board, query string, start, first int64, size int,
) (Page, error) {
	stored, err := b.Boards.Page(ctx, board, first, size)
	if err != nil {
		return Page{}, err
	}
	listed := Page{Total: int32(stored.Total)}
	if listed.Entries, err = entriesOf(stored.Entries, first); err != nil {
		return Page{}, err
	}
	if next := first + int64(len(stored.Entries)); next > first && next < stored.Total {
		last := listed.Entries[len(listed.Entries)-1]
		after := store.Place{Rank: start<<placeBits | next, GameID: last.GameID}
		listed.Next, err = b.tokens.SealPlace(ctx, query, after)
	}
	return listed, err
}

// ListChallenge is like List but reads the standings of a challenge.
func (b *Boards) ListChallenge(ctx context.Context, variant, challengeID, token string, size int) (Page, error) {
	query := "standings " + challengeID
	from, err := b.tokens.OpenPlace(ctx, query, token)
	if err != nil {
		return Page{}, err
	}
	return b.page(ctx, challengeBoard(variant, challengeID), query, 0, from.Rank, size)
}

// RankChallenge is like Rank but reads the standings of a challenge. It also returns the
// total number of entries.
func (b *Boards) RankChallenge(
	ctx context.Context, variant, challengeID, playerID string, neighbors int32,
) (own Entry, around []Entry, total int32, err error) {
	rank, err := b.rank(ctx, challengeBoard(variant, challengeID), playerID, neighbors)
	if err != nil {
		return Entry{}, nil, 0, err
	}
	own, around, err = ranked(rank)
	return own, around, int32(rank.Total), err
}

// ranges is the maximum number of ranges that Distribution counts.
const ranges = 12

// Distribution counts the results in the standings of a challenge, whose best score is given, by range
// of scores. Of n ranges, a score is in the one with the number score·n/(best+1), rounded down.
func (b *Boards) Distribution(ctx context.Context, variant, challengeID string, best int32) ([]int32, error) {
	n := min(ranges, int64(best)+1)
	from := make([]int32, n)
	for i := range n {
		from[i] = int32((i*(int64(best)+1) + n - 1) / n)
	}
	atLeast, err := b.Boards.AtLeast(ctx, challengeBoard(variant, challengeID), from...)
	if err != nil {
		return nil, err
	}
	counts := make([]int32, n)
	for i := range counts {
		counts[i] = int32(atLeast[i])
		if i+1 < len(atLeast) {
			counts[i] -= int32(atLeast[i+1])
		}
	}
	return counts, nil
}

// rank reads a player's place on a board, and up to neighbors entries on each side of it.
func (b *Boards) rank(ctx context.Context, board store.Board, playerID string, neighbors int32) (store.BoardRank, error) {
	if !id.Valid(playerID) {
		return store.BoardRank{}, ErrNoScore
	}
	return b.Boards.Rank(ctx, board, playerID, int(min(neighbors, MaxNeighbors)))
}

// entriesOf converts consecutive stored entries of a board, starting with the one at the given
// place.
func entriesOf(stored []store.BoardEntry, first int64) ([]Entry, error) {
	entries := make([]Entry, len(stored))
	for i, e := range stored {
		entry, err := parseMember(e.Member)
		if err != nil {
			return nil, err
		}
		entry.Rank, entry.Score = int32(first)+int32(i)+1, e.Score
		entries[i] = entry
	}
	return entries, nil
}

// Rank returns a player's entry on a current board and, sorted by rank, up to neighbors
// entries (at most MaxNeighbors) directly above it and as many directly below it. It
// returns ErrNoScore if the player is not on the board.
func (b *Boards) Rank(ctx context.Context, variant string, window Window, playerID string, neighbors int32) (Entry, []Entry, error) {
	now, err := b.clock(ctx, window)
	if err != nil {
		return Entry{}, nil, err
	}
	rank, err := b.rank(ctx, boardAt(variant, window, now).stored(), playerID, neighbors)
	if err != nil {
		return Entry{}, nil, err
	}
	return ranked(rank)
}

// ranked returns the player's entry and its neighbors, or ErrNoScore if the player is not
// on the board.
func ranked(rank store.BoardRank) (own Entry, around []Entry, err error) {
	if !rank.Found {
		return Entry{}, nil, ErrNoScore
	}
	entries, err := entriesOf(rank.Entries, rank.First)
	if err != nil {
		return Entry{}, nil, err
	}
	place := int(rank.Place - rank.First)
	return entries[place], append(entries[:place:place], entries[place+1:]...), nil
}
