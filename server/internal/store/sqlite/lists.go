package sqlite

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/server/internal/store"
)

// lists implements store.Lists. Its writes are unsynced, because callers correct missing
// or outdated listings.
type lists struct{ db *db }

// maxListings is the maximum number of listings that one transaction writes. Writing that
// many takes about 2 ms, during which appends wait.
const maxListings = 50

// Write implements store.Lists. It ignores a listing that is older than the stored one. Listings are
// removed with their game.
func (s lists) Write(ctx context.Context, listings []store.Listing, _ time.Duration) error {
	for batch := range slices.Chunk(listings, maxListings) {
		err := s.db.writeUnsynced(ctx, func(c *sqlite3.Conn) error {
			for _, l := range batch {
				if err := writeListing(c, l); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func writeListing(c *sqlite3.Conn, l store.Listing) error {
	score := store.List{Order: store.ByScore}.Rank(l)
	watched := store.List{Order: store.ByWatchers}.Rank(l)
	players := strings.Join(l.Players, "")
	// Most listings are written after a move. SQLite updates the indexes of all columns
	// that a statement sets, so this statement sets only a few columns.
	err := exec(c, `UPDATE listings SET updated = ?5, score = ?6, watched = ?7
		WHERE id = ?1 AND status = ?2 AND status < 3 AND players = ?3 AND variant = ?4 AND private = ?8 AND updated <= ?5`,
		l.GameID, int(l.Status), players, l.Variant, l.Updated, score, watched, l.Private)
	if err != nil || c.Changes() > 0 {
		return err
	}
	err = exec(c, `INSERT INTO listings (id, status, players, variant, updated, score, watched, private)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
		ON CONFLICT (id) DO UPDATE SET status = ?2, players = ?3, variant = ?4, updated = ?5, score = ?6, watched = ?7, private = ?8
		WHERE updated <= ?5 AND status <= ?2`,
		l.GameID, int(l.Status), players, l.Variant, l.Updated, score, watched, l.Private)
	if err != nil || c.Changes() == 0 {
		return err
	}
	err = execEach(c, "INSERT OR IGNORE INTO player_listings (player, id) VALUES (?, ?)", l.Players, l.GameID)
	if err != nil || l.Status != store.Finished {
		return err
	}
	return exec(c, "UPDATE player_listings SET finished = ?2 WHERE id = ?1", l.GameID, l.Updated)
}

// Forget implements store.Lists. It removes the games from all lists, not only from the
// given one.
func (s lists) Forget(ctx context.Context, _ store.List, gameIDs ...string) error {
	if len(gameIDs) == 0 {
		return nil
	}
	return s.db.writeUnsynced(ctx, func(c *sqlite3.Conn) error { return forget(c, gameIDs) })
}

func forget(c *sqlite3.Conn, gameIDs []string) error {
	if err := execEach(c, "DELETE FROM listings WHERE id = ?", gameIDs); err != nil {
		return err
	}
	return execEach(c, "DELETE FROM player_listings WHERE id = ?", gameIDs)
}

func (s lists) Page(ctx context.Context, l store.List, after store.Place, n int) ([]store.Place, error) {
	if after == (store.Place{}) {
		after.Rank = math.MaxInt64
	}
	return readOne(ctx, s.db, func(c *sqlite3.Conn) ([]store.Place, error) {
		text, args := playerPage, []any{l.PlayerID}
		if l.PlayerID == "" {
			variants := []string{l.Variant}
			if l.Variant == "" {
				var err error
				if variants, err = all(c, publicVariants, firstText); err != nil || len(variants) == 0 {
					return nil, err
				}
			}
			text, args = publicPage(l, variants)
		}
		return all(c, text, placeAt, append([]any{after.Rank, after.GameID, n}, args...)...)
	})
}

// placeAt reads the columns rank, id.
func placeAt(s *sqlite3.Stmt) store.Place {
	return store.Place{Rank: s.ColumnInt64(0), GameID: s.ColumnText(1)}
}

// inOrder is the end of the statement for a page. SQLite merges the preceding SELECTs
// without sorting.
const inOrder = " ORDER BY 1 DESC, 2 DESC LIMIT ?3"

// playerPage is the statement for a page of a player's list. It sorts the unfinished
// games, and merges them with the finished ones.
const playerPage = `SELECT l.updated, l.id FROM player_listings p INDEXED BY player_listings_recent CROSS JOIN listings l
		WHERE p.player = ?4 AND p.finished IS NULL AND l.id = p.id AND (l.updated, l.id) < (?1, ?2)
	UNION ALL SELECT finished, id FROM player_listings INDEXED BY player_listings_recent
		WHERE player = ?4 AND (finished, id) < (?1, ?2)` + inOrder

// publicPage returns the statement for a page of a list of the given variants, and the
// statement's arguments from the fourth on. The statement depends only on the kind of
// list and the number of variants.
func publicPage(l store.List, variants []string) (text string, args []any) {
	var parts []string
	arg := func(value any) string {
		args = append(args, value)
		return "?" + strconv.Itoa(3+len(args))
	}
	statuses := []store.Status{l.Status}
	if l.Status == store.AnyStatus {
		statuses = []store.Status{store.Waiting, store.Active, store.Finished}
	}
	for _, variant := range variants {
		switch v := arg(variant); l.Order {
		case store.ByScore:
			parts = append(parts, `SELECT score, id FROM listings INDEXED BY listings_score
				WHERE variant = `+v+` AND status = 2 AND private = 0 AND (score, id) < (?1, ?2)`)
		case store.ByWatchers:
			parts = append(parts, `SELECT watched, id FROM listings INDEXED BY listings_watched
				WHERE variant = `+v+` AND status = 2 AND private = 0 AND (watched, id) < (?1, ?2)`)
		case store.Recent:
			for _, status := range statuses {
				parts = append(parts, `SELECT updated, id FROM listings INDEXED BY listings_recent
					WHERE private = 0 AND variant = `+v+` AND status = `+arg(int(status))+` AND (updated, id) < (?1, ?2)`)
			}
		}
	}
	return strings.Join(parts, " UNION ALL ") + inOrder, args
}

// knownVariants begins a statement with the variants of all public games, and two more rows, an empty
// one and NULL. It takes one index lookup for each row.
const knownVariants = `WITH RECURSIVE known (variant) AS (
		VALUES ('')
		UNION ALL SELECT (SELECT min(variant) FROM listings l WHERE l.private = 0 AND l.variant > known.variant)
			FROM known WHERE variant IS NOT NULL
	) `

const (
	publicVariants = knownVariants + "SELECT variant FROM known WHERE variant > ''"
	// movingGames counts the active public games that had an event since the given time.
	movingGames = knownVariants + `SELECT count(*) FROM known k CROSS JOIN listings l INDEXED BY listings_recent
		WHERE l.private = 0 AND l.variant = k.variant AND l.status = 2 AND l.updated >= ?`
)

func (s lists) Moving(ctx context.Context, within time.Duration) (int, error) {
	games, err := readOne(ctx, s.db, func(c *sqlite3.Conn) (int64, error) {
		return number(c, movingGames, s.db.now().Add(-within))
	})
	return int(games), err
}
