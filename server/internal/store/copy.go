package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Copier reads all that a store keeps, and writes it into another one, of any engine.
// No server may run on either of them during the copy.
type Copier interface {
	// Empty reports whether the store has never kept anything, or it was all removed.
	Empty(ctx context.Context) (bool, error)
	// Export calls visit with all that has to be copied, in pieces of a bounded size.
	// What has expired is left out, and so is what servers derive from the logs (lists
	// and queue) or need only while they run (quotas, claims, games of bots that run).
	// It stops at the first error, also of visit.
	Export(ctx context.Context, visit func(Piece) error) error
	// Import writes a piece of another store. IDs and times stay what they are. Only
	// parts of games cannot be repeated.
	Import(ctx context.Context, p Piece) error
}

// Piece is a part of what a store keeps. A zero time in it means never, or unknown.
type Piece struct {
	Games []GamePiece

	Accounts  []ExportedAccount
	Names     []HeldName
	OpenGames []ExportedOpenGame
	Keys      []ExportedKey

	Boards []BoardPiece
	// Hidden are ids of players.
	Hidden []string

	// Secrets by name.
	Secrets     map[string][]byte
	Credentials []Credential

	// Servers, with what they may have detected, say which time was an outage.
	Servers  map[string]ServerBeat
	Outages  []Span
	Rollback Rollback
}

// GamePiece is the next part of a game's log. What a store cannot read is left out, and
// the head is then that of a game in quarantine: the game stays damaged.
type GamePiece struct {
	GameID  string
	Entries []Record
	// Head is that of the game, with the last part only.
	Head *ExportedHead
}

// ExportedHead is the head of a game as a store holds it.
type ExportedHead struct {
	Last    ID
	Time    time.Time
	Encoded []byte
	// Expires is when the game is removed.
	Expires time.Time
}

// ExportedAccount is an account, and when it expires unless it is renewed.
type ExportedAccount struct {
	Account
	Expires time.Time
}

// HeldName is a name in lower case that is taken, also if its account has expired.
type HeldName struct{ Name, AccountID string }

// ExportedOpenGame is a game that counts as open for a player.
type ExportedOpenGame struct {
	PlayerID, GameID string
	Since, Expires   time.Time
}

// ExportedKey is an SSH key, and when its account expires unless it is renewed.
type ExportedKey struct {
	Key
	Expires time.Time
}

// BoardPiece is some of the entries of a board.
type BoardPiece struct {
	Board   Board
	Entries []BoardEntry
}

// Copied is how much was copied.
type Copied struct {
	// Games that are complete, the Entries of all logs, and the Scores of all boards.
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

// ErrNotEmpty is the error of Copy into a store that keeps something.
var ErrNotEmpty = errors.New("the store to copy to is not empty")

// Copy copies all that a store keeps into an empty one, where nothing is in the lists
// and the queue then: recovery.ReindexAll fills them. Progress is called with what was
// copied so far, now and then. After an error, to holds a part, which is no use.
func Copy(ctx context.Context, from, to *Store, progress func(Copied)) (Copied, error) {
	var copied Copied
	empty, err := to.Copier.Empty(ctx)
	if err != nil {
		return copied, fmt.Errorf("looking whether the store is empty: %w", err)
	}
	if !empty {
		return copied, ErrNotEmpty
	}
	err = from.Copier.Export(ctx, func(p Piece) error {
		if err := to.Copier.Import(ctx, p); err != nil {
			return fmt.Errorf("writing what was copied: %w", err)
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
