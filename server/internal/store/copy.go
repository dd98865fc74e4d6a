package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Copier reads all the data of a store, and writes it to another store of any engine. No
// server may use either store during the copy.
type Copier interface {
	// Empty reports whether the store holds no data.
	Empty(ctx context.Context) (bool, error)
	// Begin marks the store as an incomplete copy. Until Finish removes the mark, nothing
	// can open the store, so that no server uses what an interrupted copy has left.
	Begin(ctx context.Context) error
	// Finish removes the mark that Begin has made.
	Finish(ctx context.Context) error
	// Export calls visit with all data to copy, in bounded pieces. It skips expired data,
	// data that servers derive from the logs (lists and queue), and data that is needed
	// only while servers are running (quotas, claims). It stops at the
	// first error, including one from visit.
	Export(ctx context.Context, visit func(Piece) error) error
	// Import writes a piece exported from another store, keeping its IDs and times. It is
	// safe to repeat the call, unless the piece contains parts of games.
	Import(ctx context.Context, p Piece) error
}

// Piece is a part of a store's data. A zero time means never or unknown.
type Piece struct {
	Games []GamePiece

	Accounts  []ExportedAccount
	Names     []HeldName
	OpenGames []ExportedOpenGame
	Keys      []ExportedKey

	Challenges []Challenge

	Boards []BoardPiece
	// Hidden holds the IDs of hidden players.
	Hidden []string

	// Secrets maps names to secrets.
	Secrets     map[string][]byte
	Credentials []Credential

	// Servers records when servers were running.
	Servers map[string]ServerHeartbeat
}

// GamePiece is the next part of a game's log. Entries that the store cannot read are
// missing; in that case the head puts the game in quarantine, so the copy is also marked
// as damaged.
type GamePiece struct {
	GameID  string
	Entries []Record
	// Head is the game's head, set only in the last part.
	Head *ExportedHead
}

// ExportedHead is the head of a game as stored.
type ExportedHead struct {
	Last    ID
	Time    time.Time
	Encoded []byte
	// Expires is when the game is removed.
	Expires time.Time
}

// ExportedAccount is an account and the time at which it expires unless renewed.
type ExportedAccount struct {
	Account
	Expires time.Time
}

// HeldName is a name that is taken, in lower case. The account that holds it may have
// expired.
type HeldName struct{ Name, AccountID string }

// ExportedOpenGame is a game that counts as open for a player.
type ExportedOpenGame struct {
	PlayerID, GameID string
	Since, Expires   time.Time
}

// ExportedKey is an SSH key and the time at which its account expires unless renewed.
type ExportedKey struct {
	Key
	Expires time.Time
}

// BoardPiece is a batch of a board's entries.
type BoardPiece struct {
	Board   Board
	Entries []BoardEntry
}

// Copied counts what was copied.
type Copied struct {
	// Games counts complete games, Entries the entries of all logs, and Scores the
	// entries of all boards.
	Games, Entries, Accounts, Scores int
}

func (c *Copied) add(p Piece) {
	for _, g := range p.Games {
		c.Entries += len(g.Entries)
		if g.Head != nil {
			c.Games++
		}
	}
	c.Accounts += len(p.Accounts)
	for _, b := range p.Boards {
		c.Scores += len(b.Entries)
	}
}

// Copy returns ErrEmpty if the source store holds no data, and ErrNotEmpty if the target holds
// any.
var (
	ErrEmpty    = errors.New("the store to copy from is empty")
	ErrNotEmpty = errors.New("the store to copy to is not empty; copy to a new file or to an empty Redis database")
)

// Copy copies all data of a store to an empty one. It leaves the lists and the queue
// empty, and the target marked as incomplete: the caller fills the lists with
// recovery.ReindexAll and then calls Finish. Copy calls progress with the counts so far
// after each piece.
func Copy(ctx context.Context, from, to *Store, progress func(Copied)) (Copied, error) {
	var copied Copied
	switch empty, err := from.Copier.Empty(ctx); {
	case err != nil:
		return copied, fmt.Errorf("checking whether there is something to copy: %w", err)
	case empty:
		return copied, ErrEmpty
	}
	switch empty, err := to.Copier.Empty(ctx); {
	case err != nil:
		return copied, fmt.Errorf("checking whether the store is empty: %w", err)
	case !empty:
		return copied, ErrNotEmpty
	}
	if err := to.Copier.Begin(ctx); err != nil {
		return copied, fmt.Errorf("writing the copy: %w", err)
	}
	err := from.Copier.Export(ctx, func(p Piece) error {
		if err := to.Copier.Import(ctx, p); err != nil {
			return fmt.Errorf("writing the copy: %w", err)
		}
		copied.add(p)
		progress(copied)
		return nil
	})
	if err != nil {
		return copied, fmt.Errorf("copying: %w", err)
	}
	return copied, nil
}
