package sqlite

import (
	"context"

	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/server/internal/store"
)

// copier implements store.Copier.
type copier struct{ *db }

const (
	// exportRows is the number of rows to read at a time, and exportEntries the number of
	// log entries after which a piece ends.
	exportRows    = 1000
	exportEntries = 4000
)

func (s copier) Empty(ctx context.Context) (empty bool, err error) {
	err = s.read(ctx, func(c *sqlite3.Conn) error {
		tables, err := all(c, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'clock' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`, firstText)
		if err != nil {
			return err
		}
		empty = true
		for _, table := range tables {
			rows, err := number(c, "SELECT EXISTS (SELECT 1 FROM "+table+")")
			if err != nil {
				return err
			}
			empty = empty && rows == 0
		}
		return nil
	})
	return empty, err
}

func (s copier) Begin(ctx context.Context) error { return s.identify(ctx, incompleteID) }

func (s copier) Finish(ctx context.Context) error { return s.identify(ctx, applicationID) }

func (s copier) identify(ctx context.Context, id int64) error {
	return s.write(ctx, func(c *sqlite3.Conn) error { return setPragma(c, "application_id", id) })
}

func (s copier) Export(ctx context.Context, visit func(store.Piece) error) error {
	for _, export := range []func(context.Context, func(store.Piece) error) error{
		s.exportSecrets, s.exportCredentials, s.exportHidden, s.exportHeartbeats,
		s.exportAccounts, s.exportKeys, s.exportNames, s.exportOpenGames, s.exportGames, s.exportChallenges, s.exportBoards,
	} {
		if err := export(ctx, visit); err != nil {
			return err
		}
	}
	return nil
}

// pages reads a table in batches, ordered by a key. For each row it calls row, which adds
// the row to a piece and returns its key. The first two parameters of the statement are
// the key of the last row read and the number of rows to read; args are the others.
func (s copier) pages(ctx context.Context, text string, args []any, visit func(store.Piece) error,
	row func(s *sqlite3.Stmt, p *store.Piece) (key string),
) error {
	for last := ""; ; {
		var piece store.Piece
		rows := 0
		err := s.read(ctx, func(c *sqlite3.Conn) error {
			piece, rows = store.Piece{}, 0
			return query(c, text, func(s *sqlite3.Stmt) {
				rows++
				last = row(s, &piece)
			}, append([]any{last, exportRows}, args...)...)
		})
		if err != nil {
			return err
		}
		if rows == 0 {
			return nil
		}
		if err := visit(piece); err != nil {
			return err
		}
	}
}

func (s copier) exportSecrets(ctx context.Context, visit func(store.Piece) error) error {
	return s.pages(ctx, "SELECT name, secret FROM secrets WHERE name > ? ORDER BY name LIMIT ?", nil, visit,
		func(s *sqlite3.Stmt, p *store.Piece) string {
			if p.Secrets == nil {
				p.Secrets = map[string][]byte{}
			}
			p.Secrets[s.ColumnText(0)] = blob(s, 1)
			return s.ColumnText(0)
		})
}

func (s copier) exportCredentials(ctx context.Context, visit func(store.Piece) error) error {
	found, err := credentials(s).All(ctx)
	if err != nil {
		return err
	}
	return visit(store.Piece{Credentials: found})
}

func (s copier) exportHidden(ctx context.Context, visit func(store.Piece) error) error {
	return s.pages(ctx, "SELECT player FROM hidden WHERE player > ? ORDER BY player LIMIT ?", nil, visit,
		func(s *sqlite3.Stmt, p *store.Piece) string {
			p.Hidden = append(p.Hidden, s.ColumnText(0))
			return s.ColumnText(0)
		})
}

func (s copier) exportHeartbeats(ctx context.Context, visit func(store.Piece) error) error {
	var piece store.Piece
	err := s.read(ctx, func(c *sqlite3.Conn) (err error) {
		piece.Servers, err = readServers(c)
		return err
	})
	if err != nil {
		return err
	}
	return visit(piece)
}

func (s copier) exportAccounts(ctx context.Context, visit func(store.Piece) error) error {
	return s.pages(ctx, `SELECT id, name, secret, bot, created, expires FROM accounts
		WHERE id > ? AND (expires IS NULL OR expires > ?3) ORDER BY id LIMIT ?2`, []any{s.now()}, visit,
		func(s *sqlite3.Stmt, p *store.Piece) string {
			account := store.Account{ID: s.ColumnText(0), Name: s.ColumnText(1), Secret: s.ColumnText(2), Bot: s.ColumnBool(3), Created: timeAt(s, 4)}
			p.Accounts = append(p.Accounts, store.ExportedAccount{Account: account, Expires: timeAt(s, 5)})
			return account.ID
		})
}

func (s copier) exportKeys(ctx context.Context, visit func(store.Piece) error) error {
	return s.pages(ctx, `SELECT k.fingerprint, k.player, k.comment, k.added, a.expires FROM ssh_keys k CROSS JOIN accounts a ON a.id = k.player
		WHERE k.fingerprint > ? AND (a.expires IS NULL OR a.expires > ?3) ORDER BY k.fingerprint LIMIT ?2`, []any{s.now()}, visit,
		func(s *sqlite3.Stmt, p *store.Piece) string {
			key := keyAt(s)
			p.Keys = append(p.Keys, store.ExportedKey{Key: key, Expires: timeAt(s, 4)})
			return key.Fingerprint
		})
}

func (s copier) exportNames(ctx context.Context, visit func(store.Piece) error) error {
	return s.pages(ctx, "SELECT name, account FROM names WHERE name > ? ORDER BY name LIMIT ?", nil, visit,
		func(s *sqlite3.Stmt, p *store.Piece) string {
			p.Names = append(p.Names, store.HeldName{Name: s.ColumnText(0), AccountID: s.ColumnText(1)})
			return s.ColumnText(0)
		})
}

// exportOpenGames exports all open games, one batch of players at a time.
func (s copier) exportOpenGames(ctx context.Context, visit func(store.Piece) error) error {
	return s.pages(ctx, `SELECT player, game, since, expires FROM open_games
		WHERE (expires IS NULL OR expires > ?3) AND player IN (
			SELECT DISTINCT player FROM open_games WHERE player > ?1 AND (expires IS NULL OR expires > ?3) ORDER BY player LIMIT ?2)
		ORDER BY player`, []any{s.now()}, visit,
		func(s *sqlite3.Stmt, p *store.Piece) string {
			p.OpenGames = append(p.OpenGames, store.ExportedOpenGame{
				PlayerID: s.ColumnText(0), GameID: s.ColumnText(1), Since: timeAt(s, 2), Expires: timeAt(s, 3),
			})
			return s.ColumnText(0)
		})
}

// exportGames exports all games. A game with rows on a corrupt page is exported as far as
// it can be read.
func (s copier) exportGames(ctx context.Context, visit func(store.Piece) error) error {
	type row struct {
		id   string
		game int64
	}
	var piece store.Piece
	entries := 0
	for last, more := "", true; more; {
		rows, err := readOne(ctx, s.db, func(c *sqlite3.Conn) ([]row, error) {
			// An index contains both columns, so this query does not read the table.
			return all(c, "SELECT id, game FROM games WHERE id > ? ORDER BY id LIMIT ?",
				func(s *sqlite3.Stmt) row { return row{s.ColumnText(0), s.ColumnInt64(1)} }, last, exportRows)
		})
		if err != nil {
			return err
		}
		for _, r := range rows {
			last = r.id
			for from := int32(0); from >= 0; {
				var part store.GamePiece
				if part, from, err = s.exportGame(ctx, r.id, r.game, from); err != nil {
					return err
				}
				if part.GameID == "" {
					continue // the game has expired
				}
				piece.Games, entries = append(piece.Games, part), entries+len(part.Entries)
				if entries >= exportEntries || len(piece.Games) >= exportRows {
					if err := visit(piece); err != nil {
						return err
					}
					piece, entries = store.Piece{}, 0
				}
			}
		}
		more = len(rows) == exportRows
	}
	return visit(piece)
}

// exportGame reads the part of a game that starts at the given version. It returns the
// version at which the next part starts, or −1 if this is the last part.
func (s copier) exportGame(ctx context.Context, gameID string, game int64, from int32) (part store.GamePiece, next int32, err error) {
	err = s.read(ctx, func(c *sqlite3.Conn) error {
		part, next = store.GamePiece{GameID: gameID}, -1
		head := &store.ExportedHead{}
		err := query(c, "SELECT version, digest, time, head, expires FROM games WHERE game = ?", func(s *sqlite3.Stmt) {
			*head = store.ExportedHead{Last: idAt(s, 0), Encoded: blob(s, 3), Expires: timeAt(s, 4)}
			if s.ColumnInt64(2) != 0 {
				head.Time = timeAt(s, 2)
			}
		}, game)
		if isCorrupt(err) {
			head.Last = store.Quarantined
		} else if err != nil {
			return err
		}
		if !head.Expires.IsZero() && head.Expires.UnixMilli() <= s.now() {
			part = store.GamePiece{}
			return nil
		}
		part.Entries, err = all(c, "SELECT version, digest, time, raw, seed FROM entries WHERE game = ? AND version >= ? ORDER BY version LIMIT ?",
			recordAt, game, from, exportEntries)
		switch {
		case isCorrupt(err):
			head.Last = store.Quarantined
			part.Head = head
		case err != nil:
			return err
		case len(part.Entries) == exportEntries:
			next = part.Entries[exportEntries-1].ID.Version + 1
		default:
			part.Head = head
		}
		return nil
	})
	return part, next, err
}

func (s copier) exportChallenges(ctx context.Context, visit func(store.Piece) error) error {
	return s.pages(ctx, "SELECT "+challengeColumns+" FROM challenges WHERE id > ? AND expires > ?3 ORDER BY id LIMIT ?2", []any{s.now()}, visit,
		func(s *sqlite3.Stmt, p *store.Piece) string {
			p.Challenges = append(p.Challenges, challengeAt(s))
			return s.ColumnText(0)
		})
}

func (s copier) exportBoards(ctx context.Context, visit func(store.Piece) error) error {
	type row struct {
		board int64
		store.Board
	}
	rows, err := readOne(ctx, s.db, func(c *sqlite3.Conn) ([]row, error) {
		return all(c, "SELECT board, variant, name, expires FROM boards WHERE expires IS NULL OR expires > ?", func(s *sqlite3.Stmt) row {
			return row{s.ColumnInt64(0), store.Board{Variant: s.ColumnText(1), Window: s.ColumnText(2), Expires: timeAt(s, 3)}}
		}, s.now())
	})
	if err != nil {
		return err
	}
	for _, r := range rows {
		err := s.pages(ctx, "SELECT player, score, member FROM scores WHERE board = ?3 AND player > ?1 ORDER BY player LIMIT ?2", []any{r.board}, visit,
			func(s *sqlite3.Stmt, p *store.Piece) string {
				if p.Boards == nil {
					p.Boards = []store.BoardPiece{{Board: r.Board}}
				}
				p.Boards[0].Entries = append(p.Boards[0].Entries, scoreAt(s))
				return s.ColumnText(0)
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// Import writes a piece in one transaction.
func (s copier) Import(ctx context.Context, p store.Piece) error {
	return s.write(ctx, func(c *sqlite3.Conn) error {
		for _, g := range p.Games {
			if err := importGame(c, g); err != nil {
				return err
			}
		}
		for _, challenge := range p.Challenges {
			if err := insertChallenge(c, "INSERT OR REPLACE", challenge); err != nil {
				return err
			}
		}
		boards := newBoards(s.db)
		for _, b := range p.Boards {
			for _, entry := range b.Entries {
				if err := boards.record(c, entry, b.Board); err != nil {
					return err
				}
			}
		}
		for id, server := range p.Servers {
			if err := putServer(c, id, server); err != nil {
				return err
			}
		}
		return importRows(c, p)
	})
}

func importGame(c *sqlite3.Conn, g store.GamePiece) error {
	err := exec(c, "INSERT INTO games (id, version, digest, time, head) VALUES (?, 0, 0, 0, x'') ON CONFLICT DO NOTHING", g.GameID)
	if err != nil {
		return err
	}
	game, err := findGame(c, g.GameID)
	if err != nil {
		return err
	}
	for _, r := range g.Entries {
		if err := insertEntry(c, game, store.Entry{Next: r.ID, Raw: r.Raw, Seed: r.Seed}, r.Time); err != nil {
			return err
		}
	}
	h := g.Head
	if h == nil {
		return nil
	}
	at := int64(0)
	if !h.Time.IsZero() {
		at = h.Time.UnixMilli()
	}
	return exec(c, "UPDATE games SET version = ?, digest = ?, time = ?, head = ?, expires = ? WHERE game = ?",
		h.Last.Version, h.Last.Digest, at, h.Encoded, h.Expires, game)
}

// importRows writes the parts of a piece that take one statement for each row.
func importRows(c *sqlite3.Conn, p store.Piece) (err error) {
	put := func(text string, args ...any) {
		if err == nil {
			err = exec(c, text, args...)
		}
	}
	for _, a := range p.Accounts {
		put("INSERT OR REPLACE INTO accounts (id, name, secret, bot, created, expires) VALUES (?, ?, ?, ?, ?, ?)",
			a.ID, a.Name, a.Secret, a.Bot, a.Created, a.Expires)
	}
	for _, n := range p.Names {
		put("INSERT OR REPLACE INTO names (name, account) VALUES (?, ?)", n.Name, n.AccountID)
	}
	for _, k := range p.Keys {
		put("INSERT OR REPLACE INTO ssh_keys (fingerprint, player, comment, added) VALUES (?, ?, ?, ?)",
			k.Fingerprint, k.PlayerID, k.Comment, k.Added)
	}
	for _, g := range p.OpenGames {
		put("INSERT OR REPLACE INTO open_games (player, game, since, expires) VALUES (?, ?, ?, ?)", g.PlayerID, g.GameID, g.Since, g.Expires)
	}
	for _, player := range p.Hidden {
		put("INSERT OR IGNORE INTO hidden (player) VALUES (?)", player)
	}
	for name, secret := range p.Secrets {
		put("INSERT OR REPLACE INTO secrets (name, secret) VALUES (?, ?)", name, secret)
	}
	for _, s := range p.Credentials {
		put("INSERT OR REPLACE INTO ssh_credentials (name, digest, created) VALUES (?, ?, ?)", s.Name, s.Digest, s.Created)
	}
	return err
}
