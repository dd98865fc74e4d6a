package leaderboard

import (
	"context"
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
func (b *Boards) List(ctx context.Context, of Board, token string, size int) (Page, error) {
	from, err := b.tokens.Open(ctx, of.query(), token)
	if err != nil {
		return Page{}, err
	}
	at := time.Unix(from.Rank>>placeBits*secondsPerDay, 0)
	if token == "" {
		if at, err = b.clock(ctx, of); err != nil {
			return Page{}, err
		}
	}
	board, start := of.stored(at)
	first := from.Rank & (1<<placeBits - 1)
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
		listed.Next, err = b.tokens.Seal(ctx, of.query(), after)
	}
	return listed, err
}

// placeBits is the number of bits of a page token's rank that contain the first place on the page,
// from 0. The others contain the first day of the board's window.
const placeBits = 31

// clock returns the store's time, on which the boards of a week or day depend.
func (b *Boards) clock(ctx context.Context, of Board) (now time.Time, err error) {
	if of.ChallengeID == "" && of.Window != All {
		now, err = b.time(ctx)
	}
	return now, err
}

// ranges is the maximum number of ranges that Distribution counts.
const ranges = 12

// Distribution counts the results in the standings of a challenge, whose best score is given, by range
// of scores. Of n ranges, a score is in the one with the number score·n/(best+1), rounded down.
func (b *Boards) Distribution(ctx context.Context, of Board, best int32) ([]int32, error) {
	board, _ := of.stored(time.Time{})
	n := min(ranges, int64(best)+1)
	from := make([]int32, n)
	for i := range n {
		from[i] = int32((i*(int64(best)+1) + n - 1) / n)
	}
	atLeast, err := b.Boards.AtLeast(ctx, board, from...)
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

// maxReads is how often Rank reads a place. Results would have to move the player each time.
const maxReads = 20

// Rank returns a player's entry on a current board between up to neighbors entries (at most MaxNeighbors)
// directly above it and as many directly below it, the index of the player's own, and the total number of
// entries. It returns ErrNoScore if the player is not on the board.
func (b *Boards) Rank(
	ctx context.Context, of Board, playerID string, neighbors int32,
) (entries []Entry, own int, total int32, err error) {
	if !id.Valid(playerID) {
		return nil, 0, 0, ErrNoScore
	}
	now, err := b.clock(ctx, of)
	if err != nil {
		return nil, 0, 0, err
	}
	board, _ := of.stored(now)
	neighbors = min(neighbors, MaxNeighbors)
	for range maxReads {
		place, found, err := b.Place(ctx, board, playerID)
		switch {
		case err != nil:
			return nil, 0, 0, err
		case !found:
			return nil, 0, 0, ErrNoScore
		}
		first := max(0, place-int64(neighbors))
		own = int(place - first)
		page, err := b.Page(ctx, board, first, own+1+int(neighbors))
		if err == nil {
			entries, err = entriesOf(page.Entries, first)
		}
		// If results have moved the player since, read the place again.
		if err != nil || own < len(entries) && entries[own].PlayerID == playerID {
			return entries, own, int32(page.Total), err
		}
	}
	return nil, 0, 0, store.Failed(store.Corrupt, "a player has another place in the board than by their result")
}
